// Assertions and branches of every kind that is counted. Adds every word written to 0x000..0x0FF; each takes DELAY cycles. A tame buffer takes the words in.
module tiny_top #(parameter DELAY = 4) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data, output reg [7:0] seen, inout [7:0] pins
);
    reg [31:0] buffer [0:63];
    reg [5:0]  head, tail;
    reg [31:0] sum;
    reg [7:0]  left;
    wire       empty = head == tail;
    reg  [1:0] next;

    property room;
        @(posedge clk) disable iff (rst) wr_en && addr < 32'h100 |-> ##2 left < 100;
    endproperty
    free: assert property (room) else $warning("an adder that is busy gets a word");
    steps: assert property (@(posedge clk) disable iff (rst) left > 1 |=> left > 0);
    quiet: assert property (@(posedge clk) not (wr_en && rd_en));

    sequence after(x, y);
        x ##[1:3] y;
    endsequence
    bursts: assert property (@(posedge clk) disable iff (rst) wr_en && addr < 32'h100 ##1 !wr_en[*2] |-> after(1, left > 2));
    begun: assert property (@(posedge clk) disable iff (rst) $rose(left != 0) |-> !empty || $past(!empty) ##1 left > 99);
    counts: assert property (@(posedge clk) disable iff (rst)
        left > 1 && !$changed(head) |=> left == $past(left) - 1 until left == 0 || left == 124);
    for (genvar i = 0; i < 2; i = i + 1) begin : bits
        even: assert property (@(posedge clk) disable iff (rst) wr_en && addr[i] |=> !wr_en);
    end

    wire       third = left == 3;
    reg  [7:0] since;
    always @(posedge clk or posedge third) begin : counter
        if (third) begin
            since <= 0;
            resets: assert (head[0]);
        end else begin
            since <= since + 1;
            for (int i = 0; i < 2; i++)
                tame: assert (!since[i] || left < 100) else $info("in a loop");
        end
    end

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

    always @* begin
        next = 0;
        if (left != 0)
            next = 1;
        else if (!empty)
            next = 2;
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
            one_left: assert (tail - head < 2) else $error("two words wait");
            left <= DELAY;
        end else begin
            //pragma recap idle wait_recv(buffer_empty, tiny_top.port, w1)
            left <= 0;
        end
    end

    assign pins = left[0] ? left : 8'bz;
    always @(posedge clk) seen <= pins;
endmodule
