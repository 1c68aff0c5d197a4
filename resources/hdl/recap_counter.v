// Counts, for one block, how many cycles each pair (state in the previous cycle, state in this one) was seen.
//
// The counts stand in one block RAM. Each word is a maximal-length shift register (see workbench/api/instrument/lfsr.py),
// so that counting is one XNOR and no carry chain; a word holds up to 2**COUNT_BITS - 2 exactly.
//
// A cycle's pair is read through port A when its state is there, and is written back, one step further, in the next
// cycle. Two pairs that follow one another are the same only where a state stays (a, a, a): then port A itself writes
// the next value, write-first, and so keeps it in its output register; otherwise port B writes the old pair while port A
// reads the new one, at another address. So every cycle is counted, whatever the states do.
//
// The first cycle after the counting starts has no predecessor: it is counted at {1, 0, state}.
//
// `state` may come in its own cycle, one later or two: `last_counted` and `older_counted` come with it.
module recap_counter #(
    parameter STATE_BITS = 2,
    parameter COUNT_BITS = 36,
    parameter TAP = 25
) (
    input  wire clock,
    input  wire [STATE_BITS-1:0] state,
    input  wire last_counted,              // the cycle before that of `state` counts
    input  wire older_counted,             // and so does the one before it
    input  wire frozen,                    // read `entry` instead
    input  wire selected,                  // show it; the output is 0 otherwise
    input  wire [2*STATE_BITS:0] entry,    // {first, previous, current}
    input  wire clearing,                  // write 0 at `entry`, where `selected` is low for two cycles at least
    output reg  [COUNT_BITS-1:0] count
);
    (* ram_style = "block", no_rw_check *) reg [COUNT_BITS-1:0] counts [0:(2 << 2*STATE_BITS)-1];
    reg [STATE_BITS-1:0] previous, before_that;
    reg stayed;

    genvar row;
    generate
        for (row = 0; row < (1 << STATE_BITS); row = row + 1) begin : rows  // short loops: yosys unrolls long ones slowly
            integer i;
            initial
                for (i = 0; i < (2 << STATE_BITS); i = i + 1) counts[row * (2 << STATE_BITS) + i] = 0;
        end
    endgenerate
    initial begin
        count = 0;
        previous = 0;
        before_that = 0;
        stayed = 0;
    end

    wire [STATE_BITS-1:0] from = last_counted ? previous : {STATE_BITS{1'b0}};
    wire stays = last_counted & (state == previous);
    wire same = stays & stayed & ~frozen;
    wire write_a = same | clearing;
    wire write_b = last_counted & ~same;
    wire [2*STATE_BITS:0] address_a = frozen ? entry : {~last_counted, from, state};
    wire [2*STATE_BITS:0] address_b = {~older_counted, before_that, previous};
    // While clearing, `count` is held at 0 and 0 is written.
    wire [COUNT_BITS-1:0] next = {count[COUNT_BITS-2:0], ~(clearing | (count[COUNT_BITS-1] ^ count[TAP-1]))};

    always @(posedge clock) begin
        previous <= state;
        before_that <= from;
        stayed <= stays;
    end

    always @(posedge clock) begin
        if (write_a) counts[address_a] <= next;
        if (frozen & ~selected) count <= 0;
        else if (write_a) count <= next;
        else count <= counts[address_a];
    end

    always @(posedge clock) if (write_b) counts[address_b] <= next;
endmodule
