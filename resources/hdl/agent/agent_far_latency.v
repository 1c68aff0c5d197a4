// As `agent_latency`, where elements come in on another clock: several in a cycle, if that is faster, and all of them
// have its time. A place of the memory is of all that came in together.
module agent_far_latency #(
    parameter BITS = 8,
    parameter ROOM_BITS = 6
) (
    input  wire clock,
    input  wire reset,
    input  wire [BITS-1:0] enters,
    input  wire leaves,
    input  wire [31:0] cycle,
    output reg  sample,         // a cycle later: one came out, after so many cycles
    output reg  [31:0] cycles,
    output reg  lost            // one came out whose time was not kept
);
    reg [31:0] times [0:(1<<ROOM_BITS)-1];
    reg [BITS-1:0] numbers [0:(1<<ROOM_BITS)-1];
    reg [ROOM_BITS:0] stored;
    reg [ROOM_BITS-1:0] next_in, next_out;
    reg [BITS-1:0] used;        // of the first place, those that came out
    reg [31:0] unknown;

    wire through = leaves & enters != 0 & stored == 0 & unknown == 0;
    wire [BITS-1:0] stay = enters - {{(BITS - 1){1'b0}}, through};
    wire kept = stay != 0 & unknown == 0 & ~stored[ROOM_BITS];
    wire known = leaves & stored != 0;
    wire missed = leaves & stored == 0 & unknown != 0;
    wire [BITS-1:0] used_now = used + {{(BITS - 1){1'b0}}, known};
    wire last = known & used_now == numbers[next_out];

    always @(posedge clock)
        if (kept) begin
            times[next_in] <= cycle;
            numbers[next_in] <= stay;
        end
    always @(posedge clock) begin
        cycles <= through ? 32'd0 : cycle - times[next_out];
        sample <= ~reset & (known | through);
        lost <= ~reset & missed;
        if (reset) begin
            stored <= 0;
            next_in <= 0;
            next_out <= 0;
            used <= 0;
            unknown <= 0;
        end else begin
            stored <= stored + {{ROOM_BITS{1'b0}}, kept} - {{ROOM_BITS{1'b0}}, last};
            if (kept) next_in <= next_in + 1'b1;
            if (last) next_out <= next_out + 1'b1;
            used <= last ? {BITS{1'b0}} : used_now;
            unknown <= unknown + (kept ? 32'd0 : {{(32 - BITS){1'b0}}, stay}) - {31'd0, missed};
        end
    end
endmodule
