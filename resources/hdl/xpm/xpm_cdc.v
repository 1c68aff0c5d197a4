// Stand-ins for AMD's Xilinx Parameterized Macros (UG974) in simulation: what they do, without sleep and checks; ECC finds no error.
// Each module is taken by itself, so none instantiates another.

module xpm_cdc_single #(
    parameter integer DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, SIM_ASSERT_CHK = 0, SRC_INPUT_REG = 1, VERSION = 0
) (input wire src_clk, input wire src_in, input wire dest_clk, output wire dest_out);
    reg from = 0;
    reg [DEST_SYNC_FF-1:0] stages = 0;
    always @(posedge src_clk) from <= src_in;
    always @(posedge dest_clk) stages <= {stages[DEST_SYNC_FF-2:0], SRC_INPUT_REG != 0 ? from : src_in};
    assign dest_out = stages[DEST_SYNC_FF-1];
endmodule

module xpm_cdc_array_single #(
    parameter integer DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, SIM_ASSERT_CHK = 0, SRC_INPUT_REG = 1, VERSION = 0, WIDTH = 2
) (input wire src_clk, input wire [WIDTH-1:0] src_in, input wire dest_clk, output wire [WIDTH-1:0] dest_out);
    reg [WIDTH-1:0] from = 0;
    reg [WIDTH*DEST_SYNC_FF-1:0] stages = 0;
    always @(posedge src_clk) from <= src_in;
    always @(posedge dest_clk) stages <= {stages[WIDTH*(DEST_SYNC_FF-1)-1:0], SRC_INPUT_REG != 0 ? from : src_in};
    assign dest_out = stages[WIDTH*DEST_SYNC_FF-1 -: WIDTH];
endmodule

module xpm_cdc_gray #(
    parameter integer DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, REG_OUTPUT = 0, SIM_ASSERT_CHK = 0,
    SIM_LOSSLESS_GRAY_CHK = 0, VERSION = 0, WIDTH = 2
) (input wire src_clk, input wire [WIDTH-1:0] src_in_bin, input wire dest_clk, output wire [WIDTH-1:0] dest_out_bin);
    reg [WIDTH-1:0] from = 0, held = 0;
    reg [WIDTH*DEST_SYNC_FF-1:0] stages = 0;
    reg [WIDTH-1:0] binary;
    wire [WIDTH-1:0] gray = stages[WIDTH*DEST_SYNC_FF-1 -: WIDTH];
    integer i;
    always @(posedge src_clk) from <= src_in_bin ^ (src_in_bin >> 1);
    always @(posedge dest_clk) begin
        stages <= {stages[WIDTH*(DEST_SYNC_FF-1)-1:0], from};
        held <= binary;
    end
    always @* for (i = 0; i < WIDTH; i = i + 1) binary[i] = ^(gray >> i);
    assign dest_out_bin = REG_OUTPUT != 0 ? held : binary;
endmodule

module xpm_cdc_pulse #(
    parameter integer DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, REG_OUTPUT = 0, RST_USED = 1, SIM_ASSERT_CHK = 0, VERSION = 0
) (input wire src_clk, input wire src_rst, input wire src_pulse, input wire dest_clk, input wire dest_rst,
   output wire dest_pulse);
    reg was = 0, toggled = 0, last = 0, held = 0;
    reg [DEST_SYNC_FF-1:0] stages = 0;
    wire came = stages[DEST_SYNC_FF-1] ^ last;
    always @(posedge src_clk) begin
        was <= src_pulse;
        if (src_pulse & ~was) toggled <= ~toggled;
        if (RST_USED != 0 && src_rst) begin
            was <= 0;
            toggled <= 0;
        end
    end
    always @(posedge dest_clk) begin
        stages <= {stages[DEST_SYNC_FF-2:0], toggled};
        last <= stages[DEST_SYNC_FF-1];
        held <= came;
        if (RST_USED != 0 && dest_rst) begin
            stages <= 0;
            last <= 0;
            held <= 0;
        end
    end
    assign dest_pulse = REG_OUTPUT != 0 ? held : came;
endmodule

module xpm_cdc_handshake #(
    parameter integer DEST_EXT_HSK = 1, DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, SIM_ASSERT_CHK = 0, SRC_SYNC_FF = 4,
    VERSION = 0, WIDTH = 1
) (input wire src_clk, input wire [WIDTH-1:0] src_in, input wire src_send, output wire src_rcv, input wire dest_clk,
   output reg [WIDTH-1:0] dest_out, output reg dest_req, input wire dest_ack);
    reg [WIDTH-1:0] held = 0;
    reg sends = 0;
    reg [DEST_SYNC_FF-1:0] there = 0;
    reg [SRC_SYNC_FF-1:0] back = 0;
    reg acks = 0;
    initial begin
        dest_out = 0;
        dest_req = 0;
    end
    always @(posedge src_clk) begin
        if (src_send & ~sends) held <= src_in;
        sends <= src_send;
        back <= {back[SRC_SYNC_FF-2:0], DEST_EXT_HSK != 0 ? acks : dest_req};
    end
    always @(posedge dest_clk) begin
        there <= {there[DEST_SYNC_FF-2:0], sends};
        dest_req <= there[DEST_SYNC_FF-1];
        if (there[DEST_SYNC_FF-1] & ~dest_req) dest_out <= held;
        acks <= dest_ack;
    end
    assign src_rcv = back[SRC_SYNC_FF-1];
endmodule

module xpm_cdc_sync_rst #(
    parameter integer DEST_SYNC_FF = 4, INIT = 1, INIT_SYNC_FF = 0, SIM_ASSERT_CHK = 0, VERSION = 0
) (input wire src_rst, input wire dest_clk, output wire dest_rst);
    reg [DEST_SYNC_FF-1:0] stages = {DEST_SYNC_FF{INIT != 0}};
    always @(posedge dest_clk) stages <= {stages[DEST_SYNC_FF-2:0], src_rst};
    assign dest_rst = stages[DEST_SYNC_FF-1];
endmodule

module xpm_cdc_async_rst #(
    parameter integer DEST_SYNC_FF = 4, INIT_SYNC_FF = 0, RST_ACTIVE_HIGH = 0, VERSION = 0
) (input wire src_arst, input wire dest_clk, output wire dest_arst);
    wire asks = RST_ACTIVE_HIGH != 0 ? src_arst : ~src_arst;
    reg [DEST_SYNC_FF-1:0] stages = 0;
    always @(posedge dest_clk or posedge asks)
        if (asks) stages <= {DEST_SYNC_FF{1'b1}};
        else stages <= {stages[DEST_SYNC_FF-2:0], 1'b0};
    assign dest_arst = RST_ACTIVE_HIGH != 0 ? stages[DEST_SYNC_FF-1] : ~stages[DEST_SYNC_FF-1];
endmodule
