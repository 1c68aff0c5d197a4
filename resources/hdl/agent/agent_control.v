// Does what the host asks for on one clock: a word is a command, its operation in the top four bits. 1: tell the time,
// by the packet {8'hA6, 8'd2, CLOCK_NUMBER}, the number of cycles since reset, low word and high word; 2: end all
// frames now; 3: frames of time get the length in the other bits; 4: a setting (`agent_settings.v`) in the low eight bits. Others are
// passed over.
// With PAUSES only those cycles are there for the agent in which `counts` comes with the taps' signals.
module agent_control #(
    parameter [15:0] CLOCK_NUMBER = 0,
    parameter PAUSES = 0
) (
    input  wire clock,
    input  wire reset,
    input  wire command_valid,
    output wire command_ready,
    input  wire [31:0] command_data,
    input  wire counts,
    output wire counts_1,       // whether the cycle in the taps' first stage counts
    output wire counts_2,       // and the one in their second
    output reg  [47:0] cycle,   // the number of the one in the second stage, two cycles ago
    output wire [47:0] next,    // how many there are with it
    output wire finish,
    output wire set_length,
    output wire [31:0] new_length,
    output wire set,            // the setting `code`
    output wire [7:0] code,
    output wire reset_1,        // the reset, until the taps and their second stage are out of it
    output wire reset_2,
    output wire report_valid,
    input  wire report_ready,
    output wire report_last,
    output wire [31:0] report_data
);
    reg [47:0] now, told;
    reg later_1, later_2;
    assign reset_1 = reset | later_1;
    assign reset_2 = reset | later_2;
    generate
        if (PAUSES != 0) begin : of_some
            reg earlier_1, earlier_2;
            always @(posedge clock) begin
                earlier_1 <= counts;
                earlier_2 <= earlier_1;
            end
            assign counts_1 = earlier_1;
            assign counts_2 = earlier_2;
        end else begin : of_all
            assign counts_1 = 1'b1;
            assign counts_2 = 1'b1;
        end
    endgenerate
    assign next = cycle + {47'd0, counts_2};
    reg [1:0] left;
    wire taken = command_valid & command_ready;
    assign command_ready = left == 0 & ~reset_2;
    assign finish = taken & command_data[31:28] == 4'd2;
    assign set_length = taken & command_data[31:28] == 4'd3;
    assign new_length = {4'd0, command_data[27:0]};
    assign set = taken & command_data[31:28] == 4'd4;
    assign code = command_data[7:0];

    always @(posedge clock) begin
        later_1 <= reset;
        later_2 <= later_1;
        now <= reset ? 48'd0 : now + 1'b1;
        cycle <= ~reset ? next : PAUSES != 0 ? 48'd0 : -48'd2;
        if (reset) left <= 0;
        else if (taken & command_data[31:28] == 4'd1) left <= 3;
        else if (report_valid & report_ready) left <= left - 1'b1;
        if (taken) told <= now;
    end
    assign report_valid = left != 0;
    assign report_last = left == 1;
    assign report_data = left == 3 ? {8'hA6, 8'd2, CLOCK_NUMBER} : left == 2 ? told[31:0] : {16'd0, told[47:32]};
endmodule
