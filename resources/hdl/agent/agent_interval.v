// How many cycles lie between two transfers at one end of an edge, without those in which that end waited.
module agent_interval (
    input  wire clock,
    input  wire reset,
    input  wire transfer,
    input  wire waits,
    input  wire counts,            // this cycle is there
    output wire sample,            // in the transfer's cycle: there was one before, so many cycles ago
    output wire [31:0] cycles
);
    reg known;
    reg [31:0] worked;
    always @(posedge clock) begin
        known <= ~reset & (known | transfer);
        worked <= transfer ? 0 : worked + {31'd0, counts & ~waits};
    end
    assign sample = transfer & known;
    assign cycles = worked + 1'b1;
endmodule
