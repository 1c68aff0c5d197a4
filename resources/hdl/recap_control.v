// Starts, freezes and clears all counters of a monitor, and picks the word that is read.
//
// CONTROL  write 0: count; 1: freeze; 2: freeze and set every count to zero (takes as many cycles as the largest
//          counter has entries). read: bit 0 frozen, bit 1 clearing.
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
    output reg  counting,
    output reg  first,
    output reg  pending,
    output reg  pending_first,
    output reg  frozen,
    output reg  clearing,
    output reg  clear_write,
    output reg  [SELECT_BITS-1:0] select,
    output reg  [47:0] cycles
);
    wire stop = write_control & (write_data[0] | write_data[1]);
    wire counts = ~reset & ~frozen & ~stop;
    wire last_entry = &select[ENTRY_BITS:1];

    initial begin
        counting = 0;
        first = 0;
        pending = 0;
        pending_first = 0;
        frozen = 0;
        clearing = 0;
        clear_write = 0;
        select = 0;
        cycles = 0;
    end

    always @(posedge clock) begin
        counting <= counts;
        first <= counts & ~counting;
        pending <= counting;
        pending_first <= first;

        if (write_control) frozen <= stop;

        // The counters' outputs are held at 0 for a cycle before anything is written.
        if (write_control) clearing <= write_data[1];
        else if (clear_write & last_entry) clearing <= 0;
        clear_write <= clearing & ~(clear_write & last_entry) & ~write_control;

        if (write_control) select <= 0;
        else if (clear_write) select[ENTRY_BITS:1] <= select[ENTRY_BITS:1] + 1'b1;
        else if (write_select) select <= write_data[SELECT_BITS-1:0];

        if (clearing) cycles <= 0;
        else if (counts) cycles <= cycles + 1'b1;
    end
endmodule
