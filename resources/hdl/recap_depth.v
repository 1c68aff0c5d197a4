// Before a FIFO in a simulation that tries depths: together they hold `limit` words, however deep the FIFO is. The
// limit is that of `recap_depth_of` for this place; without one words pass as if this were not there.
module recap_depth #(parameter WIDTH = 1) (
    input wire clock, input wire reset,
    input wire in_valid, output wire in_ready, input wire [WIDTH-1:0] in_data,
    output wire out_valid, input wire out_ready, output wire [WIDTH-1:0] out_data,
    input wire gone
);
    import "DPI-C" function int recap_depth_of(input string place);
    localparam MOST = 65536;
    reg [WIDTH-1:0] store [0:MOST-1];
    reg [15:0] head = 0;
    reg [31:0] waiting = 0, held = 0;
    integer limit = 0;
    initial limit = recap_depth_of($sformatf("%m"));

    wire limited = limit != 0;
    wire room = held < limit;
    wire taken = in_valid & in_ready;
    wire given = out_valid & out_ready;
    assign in_ready = limited ? room : out_ready;
    assign out_valid = limited ? (waiting != 0 | (in_valid & room)) : in_valid;
    assign out_data = limited & waiting != 0 ? store[head] : in_data;
    always @(posedge clock)
        if (reset) begin
            head <= 0;
            waiting <= 0;
            held <= 0;
        end else if (limited) begin
            held <= held + (taken ? 1 : 0) - (gone ? 1 : 0);
            waiting <= waiting + (taken ? 1 : 0) - (given ? 1 : 0);
            if (taken) store[head + waiting[15:0]] <= in_data;
            if (given) head <= head + 1;
        end
endmodule
