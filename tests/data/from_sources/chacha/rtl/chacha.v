// A bare core as its author publishes it: a chip select, a write enable, 8 address bits, nothing registered at the port.
module chacha(
    input  wire        clk,
    input  wire        reset_n,
    input  wire        cs,
    input  wire        we,
    input  wire [7:0]  addr,
    input  wire [31:0] write_data,
    output wire [31:0] read_data
);
    localparam ADDR_CTRL = 8'h08, ADDR_STATUS = 8'h09, ADDR_KEY0 = 8'h10, ADDR_KEY7 = 8'h17, ADDR_DATA_OUT0 = 8'h80;
    reg [255:0] key;
    reg [511:0] state;
    reg [7:0] rounds;
    reg [31:0] result;
    wire [127:0] row = state[511:384] ^ state[383:256] ^ state[255:128] ^ state[127:0];
    assign read_data = result;
    always @* begin
        result = 0;
        if (cs && !we) begin
            if (addr == ADDR_STATUS) result = {31'h0, rounds == 0};
            if (addr == ADDR_DATA_OUT0) result = row[127:96] ^ row[95:64] ^ row[63:32] ^ row[31:0];
        end
    end
    always @(posedge clk or negedge reset_n) begin : api
        if (!reset_n) key <= 0;
        else if (cs && we && addr >= ADDR_KEY0 && addr <= ADDR_KEY7)
            //pragma recap key recv(data, $CPU, k1)
            key <= {key[223:0], write_data};
    end
    always @(posedge clk or negedge reset_n) begin : core
        if (!reset_n) begin
            state <= 0;
            rounds <= 0;
        end else if (cs && we && addr == ADDR_CTRL) begin
            //pragma recap start recv(ctrl, $CPU, s1)
            state <= {key, 256'h0};
            rounds <= 20;
        end else if (rounds != 0) begin
            //pragma recap busy work()
            state <= {state[510:0], state[511]} + 1;
            rounds <= rounds - 1;
        end
    end
endmodule
