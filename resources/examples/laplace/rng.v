// MT19937 (Matsumoto and Nishimura 1998): after 624 cycles of seeding a number each cycle in which it is taken.
module mersenne_twister #(
    parameter [31:0] seed = 5489
) (
    input             clk,
    input             rst,
    output reg [31:0] y_tdata,
    output reg        y_tvalid,
    input             y_tready
);
    localparam SIZE = 624, MIDDLE = 397;

    reg [31:0] state [0:SIZE-1];
    reg [31:0] last;
    reg [9:0]  index;
    reg        seeded;

    wire [9:0]  next   = index == SIZE - 1 ? 0 : index + 1;
    wire [9:0]  far    = index < SIZE - MIDDLE ? index + MIDDLE : index - (SIZE - MIDDLE);
    wire [31:0] joined = {state[index][31], state[next][30:0]};
    wire [31:0] fresh  = state[far] ^ (joined >> 1) ^ (joined[0] ? 32'h9908b0df : 0);
    wire [31:0] a      = fresh ^ (fresh >> 11);
    wire [31:0] b      = a ^ ((a << 7) & 32'h9d2c5680);
    wire [31:0] c      = b ^ ((b << 15) & 32'hefc60000);
    wire [31:0] sown   = index == 0 ? seed : 32'd1812433253 * (last ^ (last >> 30)) + {22'd0, index};

    always @(posedge clk) begin
        if (!seeded) begin
            state[index] <= sown;
            last   <= sown;
            index  <= next;
            seeded <= index == SIZE - 1;
        end else if (!y_tvalid || y_tready) begin
            state[index] <= fresh;
            y_tdata  <= c ^ (c >> 18);
            y_tvalid <= 1;
            index    <= next;
        end
        if (rst) begin
            index    <= 0;
            seeded   <= 0;
            y_tvalid <= 0;
        end
    end
endmodule
