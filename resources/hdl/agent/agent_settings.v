// What switches an agent while it runs: 0 to 15 are four bits more of a length, the highest first; 16 + g is that length
// for the frames of group g; 80 + 2 s + on says whether statement s is counted. Where the simulated card runs an agent
// that is beside MONITOR, the settings are also those that the card has for it, as the design begins.
module agent_settings #(
    parameter MONITOR = -1,     // -1: beside none
    parameter GROUPS = 1,
    parameter STATEMENTS = 1,
    parameter [32*GROUPS-1:0] LENGTHS = 1
) (
    input  wire clock,
    input  wire reset,          // all are as they were built
    input  wire set,
    input  wire [7:0] code,
    output reg  [32*GROUPS-1:0] lengths,
    output reg  [STATEMENTS-1:0] enabled
);
    reg [31:0] length;
    integer i;
    wire [31:0] number = {24'd0, code};
`ifdef RECAP_TAPS
    import "DPI-C" function int recap_switch_of(input int monitor, input int place);
    integer place, given;
`endif
    initial begin
        length = 0;
        lengths = LENGTHS;
        enabled = {STATEMENTS{1'b1}};
`ifdef RECAP_TAPS
        place = 0;
        given = recap_switch_of(MONITOR, place);
        while (given >= 0) begin
            if (given < 16) length = {length[27:0], given[3:0]};
            for (i = 0; i < GROUPS; i = i + 1) if (given == 16 + i) lengths[32*i +: 32] = length;
            for (i = 0; i < STATEMENTS; i = i + 1) if (given >> 1 == 40 + i) enabled[i] = given[0];
            place = place + 1;
            given = recap_switch_of(MONITOR, place);
        end
`endif
    end
    always @(posedge clock)
        if (reset) begin
            length <= 0;
            lengths <= LENGTHS;
            enabled <= {STATEMENTS{1'b1}};
        end else if (set) begin
            if (number < 16) length <= {length[27:0], code[3:0]};
            for (i = 0; i < GROUPS; i = i + 1)
                if (number == 16 + i) lengths[32*i +: 32] <= length;
            for (i = 0; i < STATEMENTS; i = i + 1)
                if (number >> 1 == 40 + i) enabled[i] <= code[0];
        end
endmodule
