// The value of the last event, as it stood before this cycle.
module agent_last #(
    parameter VALUE_BITS = 1
) (
    input  wire clock,
    input  wire reset,
    input  wire sample,
    input  wire [VALUE_BITS-1:0] value,
    output reg  known,
    output reg  [VALUE_BITS-1:0] latest
);
    always @(posedge clock) begin
        known <= ~reset & (known | sample);
        if (reset) latest <= 0;
        else if (sample) latest <= value;
    end
endmodule
