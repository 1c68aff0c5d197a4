// Three stages, of which each takes so many cycles for a word as the host says. The host writes words to 0x0000..0x1FFF,
// the registers below to 0x6000 + their number, and a command, {count, base}, to 0x6100. 0x6101 tells that the words of
// the command are done, 0x6102 the sum of all so far.
module unit_top (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data,
    output            irq
);
    // FIRST, SECOND, THIRD: cycles for a word. SWING: what four words take less and the next four more in the first
    // stage, and the other way round in the second. DEPTH: how many words are buffered between the two (0: handed over).
    // ACK: the first waits until the second has done with each word.
    localparam FIRST = 0, SECOND = 1, THIRD = 2, SWING = 3, DEPTH = 4, ACK = 5;
    reg [31:0] words [0:8191];
    reg [15:0] set [0:7];
    reg [31:0] queue [0:15];
    reg [15:0] base, count, at, made, taken, finished, added, first_left, second_left, third_left;
    reg [31:0] value, passed, sum;
    reg        start, going, ready, asking, summed, working, done;
    assign irq = done && !start;

    wire idle = second_left == 0 && !summed && made == taken;
    wire room = set[DEPTH] == 0 ? idle : made - taken < set[DEPTH];
    wire [15:0] next = going ? at + 1 : 0;
    wire [15:0] long = next[2] ? set[FIRST] + set[SWING] : set[FIRST] - set[SWING];

    always @(posedge clk) begin : port
        start <= 0;
        if (rst)
            base <= 0;
        else if (wr_en && addr < 32'h2000) begin
            //pragma recap take recv(data, $CPU, x)
            words[addr[12:0]] <= wr_data;
        end else if (wr_en && addr == 32'h6100) begin
            //pragma recap go recv(ctrl, $CPU, go)
            {count, base} <= wr_data;
            start <= 1;
        end else if (wr_en && addr < 32'h6008) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            set[addr[2:0]] <= wr_data[15:0];
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h6101 ? {31'b0, done} : sum;
        end
    end

    always @(posedge clk) begin : first
        if (rst) begin
            going <= 0;
            ready <= 0;
            asking <= 0;
            made <= 0;
        end else if (!going) begin
            //pragma recap rest wait_recv(late_sender, $CPU, go)
            at <= 0;
            if (start) begin
                going <= 1;
                first_left <= long;
            end
        end else if (asking) begin
            //pragma recap unsure wait_send(ack, second, ok)
            if (finished == made) begin
                asking <= 0;
                going <= at != count;
                first_left <= set[FIRST];
            end
        end else if (!ready) begin
            //pragma recap make work()
            first_left <= first_left - 1;
            ready <= first_left == 1;
        end else begin
            if (set[DEPTH] == 0) begin
                //pragma recap hand wait_send(late_receiver, second, item)
                queue[made[3:0]] <= words[base + at];
            end else begin
                //pragma recap full wait_send(buffer_full, second, item)
                queue[made[3:0]] <= words[base + at];
            end
            if (room) begin
                made <= made + 1;
                at <= at + 1;
                ready <= 0;
                first_left <= long;
                asking <= set[ACK] != 0;
                going <= set[ACK] != 0 || at + 1 != count;
            end
        end
    end

    always @(posedge clk) begin : second
        if (rst) begin
            second_left <= 0;
            summed <= 0;
            taken <= 0;
            finished <= 0;
        end else if (second_left != 0) begin
            //pragma recap add work()
            second_left <= second_left - 1;
            if (second_left == 1) begin
                finished <= finished + 1;
                summed <= 1;
            end
        end else if (summed) begin
            //pragma recap pass wait_send(late_receiver, third, sum)
            if (!working) begin
                summed <= 0;
                passed <= value;
            end
        end else begin
            if (set[DEPTH] == 0) begin
                //pragma recap await wait_recv(late_sender, first, item)
                value <= queue[taken[3:0]];
            end else begin
                //pragma recap empty wait_recv(buffer_empty, first, item)
                value <= queue[taken[3:0]];
            end
            if (made != taken) begin
                taken <= taken + 1;
                second_left <= taken[2] ? set[SECOND] - set[SWING] : set[SECOND] + set[SWING];
            end
        end
    end

    always @(posedge clk) begin : third
        if (rst) begin
            working <= 0;
            sum <= 0;
            added <= 0;
            done <= 0;
        end else if (working) begin
            //pragma recap keep work()
            third_left <= third_left - 1;
            if (third_left == 1) begin
                working <= 0;
                sum <= 31 * sum + passed;
                added <= added + 1;
                done <= added + 1 == count;
            end
        end else begin
            //pragma recap look wait_recv(late_sender, second, sum)
            if (start) begin
                added <= 0;
                done <= 0;
            end
            if (summed) begin
                working <= 1;
                third_left <= set[THIRD];
            end
        end
    end
endmodule
