// Starts, freezes and clears all counters of a monitor, and picks the word that is read.
//
// CONTROL  write 0: count; 1: freeze; 2: freeze and set every count to zero (takes as many cycles as the largest
//          counter has entries, and three more). read: bit 0 frozen, bit 1 clearing.
// SELECT   write: number of the word that DATA shows; read: that number.
//
// The freeze acts in the cycle of its write: that cycle is not counted, nor is any in reset.
module recap_control #(
    parameter ENTRY_BITS = 5,
    parameter SELECT_BITS = 8   // the low ones are {entry, half} of the counter that the others pick
) (
    input  wire clock,
    input  wire reset,
    input  wire write_control,
    input  wire write_select,
    input  wire [31:0] write_data,
    output reg  [3:0] counted,   // whether the cycle before this one counts, in bit 0; the one before that, in bit 1, ...
    output reg  frozen,
    output reg  held,            // frozen, and every cycle before that is counted: from a cycle after the freeze on
    output reg  clearing,
    output reg  clear_write,
    output reg  [SELECT_BITS-1:0] select,
    output reg  [47:0] cycles
);
    wire stop = write_control & (write_data[0] | write_data[1]);
    wire counts = ~reset & ~frozen & ~stop;
    wire last_entry = &select[ENTRY_BITS:1];

    initial begin
        counted = 0;
        frozen = 0;
        held = 0;
        clearing = 0;
        clear_write = 0;
        select = 0;
        cycles = 0;
    end

    always @(posedge clock) begin
        counted <= {counted[2:0], counts};
        if (write_control) frozen <= stop;
        held <= frozen & (stop | ~write_control);

        // The counters' outputs are held at 0 for a cycle before anything is written.
        if (write_control) clearing <= write_data[1];
        else if (clear_write & last_entry) clearing <= 0;
        clear_write <= clearing & held & ~(clear_write & last_entry) & ~write_control;

        if (write_control) select <= 0;
        else if (clear_write) select[ENTRY_BITS:1] <= select[ENTRY_BITS:1] + 1'b1;
        else if (write_select) select <= write_data[SELECT_BITS-1:0];

        if (clearing) cycles <= 0;
        else if (counts) cycles <= cycles + 1'b1;
    end
endmodule
