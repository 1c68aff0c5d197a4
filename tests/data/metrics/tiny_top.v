// Adds every word written to 0x000..0x0FF; each takes DELAY cycles. A small buffer takes the words in. (As ../tiny, with
// metrics of every kind.)
module tiny_top #(parameter DELAY = 4) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg [31:0] buffer [0:63];
    reg [5:0]  head, tail;
    reg [31:0] sum;
    reg [7:0]  left;
    wire       empty = head == tail;
    wire [5:0] held = tail - head;
    wire signed [7:0] below = left - 3;
    wire [63:0] far = {wr_data ^ {32{wr_data[0]}}, addr};
    wire signed [39:0] deep = {below, 32'd1};
    //pragma recap count starved when empty && left == 0
    //pragma recap histogram depth of held bins 1, 2, 3
    //pragma recap sum taken of wr_data when wr_en && addr < 32'h100
    //pragma recap mean written of wr_data when wr_en && addr < 32'h100
    //pragma recap deviation spread of wr_data when wr_en && addr < 32'h100
    //pragma recap min least of below
    //pragma recap max most of below when !empty
    //pragma recap sum reach of far when wr_en && addr < 32'h100
    //pragma recap deviation around of far when wr_en && addr < 32'h100
    //pragma recap max farthest of far when wr_en && addr < 32'h100
    //pragma recap histogram halves of far bins 9223372036854775808 when wr_en && addr < 32'h100
    //pragma recap min deepest of deep
    //pragma recap sequence started when left == 8'd4 then wr_en within 60
    //pragma recap correlate together when empty with left == 0

    always @(posedge clk) begin : port
        if (rst)
            tail <= 0;
        else if (wr_en && addr < 32'h100) begin
            //pragma recap take recv(data, $CPU, w1)
            buffer[tail] <= wr_data;
            tail <= tail + 1;
        end else if (rd_en) begin
            //pragma recap tell send(ctrl, $CPU, d1|s1)
            rd_data <= (addr == 32'h100) ? {31'b0, empty && left == 0} : sum;
        end
    end

    always @(posedge clk) begin : adder
        if (rst) begin
            head <= 0;
            sum  <= 0;
            left <= 0;
        end else if (left != 0) begin
            //pragma recap add work()
            left <= left - 1;
        end else if (!empty) begin
            //pragma recap fetch overhead(update)
            sum  <= sum + buffer[head];
            head <= head + 1;
            left <= DELAY;
        end else begin
            //pragma recap idle wait_recv(buffer_empty, tiny_top.port, w1)
            left <= 0;
        end
    end
endmodule
