// SHA-256 (FIPS 180-4), one round a cycle: 66 cycles from start to ready.
module sha256_core (
    input wire clk, input wire rst_n,
    input wire first, input wire next,  // begin with a message's first block, or with another one
    input wire [511:0] block,
    output wire ready, output wire [255:0] digest
);
    localparam IDLE = 2'd0, ROUNDS = 2'd1, ADD = 2'd2;
    localparam [255:0] INITIAL = {32'h6a09e667, 32'hbb67ae85, 32'h3c6ef372, 32'ha54ff53a,
                                  32'h510e527f, 32'h9b05688c, 32'h1f83d9ab, 32'h5be0cd19};

    reg [1:0] state;
    reg [5:0] round;
    reg [511:0] w;  // the next sixteen words of the schedule, the first on top
    reg [31:0] a, b, c, d, e, f, g, h;
    reg [255:0] sum;
    reg [31:0] k;

    assign ready = state == IDLE;
    assign digest = sum;

    function [31:0] right(input [31:0] x, input [4:0] n);
        right = (x >> n) | (x << (6'd32 - n));
    endfunction

    wire [31:0] w0 = w[511:480], w1 = w[479:448], w9 = w[223:192], w14 = w[63:32];
    wire [31:0] s0 = right(w1, 5'd7) ^ right(w1, 5'd18) ^ (w1 >> 3);
    wire [31:0] s1 = right(w14, 5'd17) ^ right(w14, 5'd19) ^ (w14 >> 10);
    wire [31:0] sum1 = right(e, 5'd6) ^ right(e, 5'd11) ^ right(e, 5'd25);
    wire [31:0] sum0 = right(a, 5'd2) ^ right(a, 5'd13) ^ right(a, 5'd22);
    wire [31:0] t1 = h + sum1 + ((e & f) ^ (~e & g)) + k + w0;
    wire [31:0] t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    wire [255:0] start = first ? INITIAL : sum;

    always @* begin
        case (round)
            6'd0: k = 32'h428a2f98; 6'd1: k = 32'h71374491; 6'd2: k = 32'hb5c0fbcf; 6'd3: k = 32'he9b5dba5;
            6'd4: k = 32'h3956c25b; 6'd5: k = 32'h59f111f1; 6'd6: k = 32'h923f82a4; 6'd7: k = 32'hab1c5ed5;
            6'd8: k = 32'hd807aa98; 6'd9: k = 32'h12835b01; 6'd10: k = 32'h243185be; 6'd11: k = 32'h550c7dc3;
            6'd12: k = 32'h72be5d74; 6'd13: k = 32'h80deb1fe; 6'd14: k = 32'h9bdc06a7; 6'd15: k = 32'hc19bf174;
            6'd16: k = 32'he49b69c1; 6'd17: k = 32'hefbe4786; 6'd18: k = 32'h0fc19dc6; 6'd19: k = 32'h240ca1cc;
            6'd20: k = 32'h2de92c6f; 6'd21: k = 32'h4a7484aa; 6'd22: k = 32'h5cb0a9dc; 6'd23: k = 32'h76f988da;
            6'd24: k = 32'h983e5152; 6'd25: k = 32'ha831c66d; 6'd26: k = 32'hb00327c8; 6'd27: k = 32'hbf597fc7;
            6'd28: k = 32'hc6e00bf3; 6'd29: k = 32'hd5a79147; 6'd30: k = 32'h06ca6351; 6'd31: k = 32'h14292967;
            6'd32: k = 32'h27b70a85; 6'd33: k = 32'h2e1b2138; 6'd34: k = 32'h4d2c6dfc; 6'd35: k = 32'h53380d13;
            6'd36: k = 32'h650a7354; 6'd37: k = 32'h766a0abb; 6'd38: k = 32'h81c2c92e; 6'd39: k = 32'h92722c85;
            6'd40: k = 32'ha2bfe8a1; 6'd41: k = 32'ha81a664b; 6'd42: k = 32'hc24b8b70; 6'd43: k = 32'hc76c51a3;
            6'd44: k = 32'hd192e819; 6'd45: k = 32'hd6990624; 6'd46: k = 32'hf40e3585; 6'd47: k = 32'h106aa070;
            6'd48: k = 32'h19a4c116; 6'd49: k = 32'h1e376c08; 6'd50: k = 32'h2748774c; 6'd51: k = 32'h34b0bcb5;
            6'd52: k = 32'h391c0cb3; 6'd53: k = 32'h4ed8aa4a; 6'd54: k = 32'h5b9cca4f; 6'd55: k = 32'h682e6ff3;
            6'd56: k = 32'h748f82ee; 6'd57: k = 32'h78a5636f; 6'd58: k = 32'h84c87814; 6'd59: k = 32'h8cc70208;
            6'd60: k = 32'h90befffa; 6'd61: k = 32'ha4506ceb; 6'd62: k = 32'hbef9a3f7; 6'd63: k = 32'hc67178f2;
        endcase
    end

    always @(posedge clk) begin : rounds
        if (!rst_n) begin
            state <= IDLE;
            round <= 6'd0;
            sum <= 256'd0;
        end else if (state == IDLE) begin
            if (first || next) begin
                //pragma recap takeBlock recv(data, $CPU, b1)
                w <= block;
                sum <= start;
                {a, b, c, d, e, f, g, h} <= start;
                round <= 6'd0;
                state <= ROUNDS;
            end else begin
                //pragma recap waitBlock wait_recv(late_sender, $CPU, b1)
                round <= 6'd0;
            end
        end else if (state == ROUNDS) begin
            //pragma recap rounds work()
            w <= {w[479:0], s1 + w9 + s0 + w0};
            {h, g, f, e, d, c, b, a} <= {g, f, e, d + t1, c, b, a, t1 + t2};
            round <= round + 6'd1;
            if (round == 6'd63) state <= ADD;
        end else begin
            //pragma recap add work()
            sum <= {sum[255:224] + a, sum[223:192] + b, sum[191:160] + c, sum[159:128] + d,
                    sum[127:96] + e, sum[95:64] + f, sum[63:32] + g, sum[31:0] + h};
            state <= IDLE;
        end
    end
endmodule
