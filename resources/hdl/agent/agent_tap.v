// Watches an edge's queue: what goes in and comes out in a cycle, as it is one and two cycles later, and how many
// elements the queue held before. Where there is no queue, both ends are the same signals.
module agent_tap #(
    parameter OCCUPANCY_BITS = 8,
    parameter DATA_BITS = 1
) (
    input  wire clock,
    input  wire reset,
    input  wire push_valid,
    input  wire push_ready,
    input  wire pop_valid,
    input  wire pop_ready,
    input  wire [DATA_BITS-1:0] data,
    output reg  push_1,
    output reg  pop_1,
    output reg  push,
    output reg  pop,
    output reg  blocked,        // there was an element that the queue did not take
    output reg  waiting,        // the consumer wanted an element and there was none
    output reg  [DATA_BITS-1:0] value,
    output reg  [OCCUPANCY_BITS-1:0] occupancy
);
    reg blocked_1, waiting_1;
    reg [DATA_BITS-1:0] value_1;
    always @(posedge clock) begin
        push_1 <= ~reset & push_valid & push_ready;
        pop_1 <= ~reset & pop_valid & pop_ready;
        blocked_1 <= ~reset & push_valid & ~push_ready;
        waiting_1 <= ~reset & pop_ready & ~pop_valid;
        value_1 <= data;
        push <= ~reset & push_1;
        pop <= ~reset & pop_1;
        blocked <= ~reset & blocked_1;
        waiting <= ~reset & waiting_1;
        value <= value_1;
        occupancy <= reset ? 0 : occupancy + push - pop;
    end
endmodule
