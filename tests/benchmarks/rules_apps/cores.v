// Three cores that share the words of a batch. The host writes words to 0x0000..0x1FFF, the registers below to 0x6000 +
// their number, and a command, {count, base}, to 0x6100. 0x6101 tells that the words of the command are done, 0x6102 the
// sum of all so far.
module core #(parameter K = 0) (
    input             clk,
    input             rst,
    input             start,
    input      [15:0] from,
    input      [15:0] share,
    input      [15:0] pace,
    input      [15:0] uneven,
    input             together,
    input             shared,
    input             served,
    input             all,
    input      [31:0] word,
    output reg [15:0] at,
    output reg        asking,
    output reg        arrived,
    output reg        busy,
    output reg [31:0] sum
);
    reg [15:0] left, done;
    reg [1:0]  turn;
    wire [15:0] long = turn == K ? pace + 2 * uneven : pace - uneven;

    always @(posedge clk) begin : worker
        if (rst) begin
            busy <= 0;
            asking <= 0;
            arrived <= 0;
            sum <= 0;
        end else if (!busy) begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            at <= from;
            done <= 0;
            turn <= 1;
            left <= K == 0 ? pace + 2 * uneven : pace - uneven;
            if (start) begin
                busy <= 1;
                asking <= shared;
            end
        end else if (asking) begin
            //pragma recap ask wait_recv(contention, arbiter, w)
            asking <= !served;
        end else if (arrived) begin
            //pragma recap sync wait_recv(barrier, units[*].unit, s)
            if (all) begin
                arrived <= 0;
                busy <= done != share;
                asking <= shared;
            end
        end else begin
            //pragma recap multiply work()
            left <= left - 1;
            if (left == 1) begin
                sum <= sum + 3 * word + 1;
                at <= at + 1;
                done <= done + 1;
                turn <= turn == 2 ? 0 : turn + 1;
                left <= long;
                arrived <= together;
                busy <= together || done + 1 != share;
                asking <= shared && !together && done + 1 != share;
            end
        end
    end
endmodule

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
    // PACE: cycles for a word. UNEVEN: what two of three words take less, and the third twice as much more. SHARE0 to
    // SHARE2: how many words each core gets. TOGETHER: none goes on before all have done their word. GRANT: cycles in
    // which an arbiter gives a word of the shared memory to one core (0: each has a memory of its own).
    localparam PACE = 0, UNEVEN = 1, SHARE0 = 2, SHARE1 = 3, SHARE2 = 4, TOGETHER = 5, GRANT = 6;
    reg [31:0] words [0:8191];
    reg [15:0] set [0:7];
    reg [15:0] base, left;
    reg        start, begun;
    reg  [2:0] served, chosen, late;
    wire [2:0] asking, arrived, busy, open = asking & ~served;
    wire [2:0] first = (open & late) != 0 ? open & late : open;
    wire [31:0] sums [0:2];
    wire       done = !start && !begun && busy == 0;
    assign irq = done;

    always @(posedge clk) begin : port
        start <= 0;
        begun <= start;
        if (rst)
            base <= 0;
        else if (wr_en && addr < 32'h2000) begin
            //pragma recap take recv(data, $CPU, x)
            words[addr[12:0]] <= wr_data;
        end else if (wr_en && addr == 32'h6100) begin
            //pragma recap go recv(ctrl, $CPU, go)
            base <= wr_data[15:0];
            start <= 1;
        end else if (wr_en && addr < 32'h6008) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            set[addr[2:0]] <= wr_data[15:0];
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h6101 ? {31'b0, done} : sums[0] + sums[1] + sums[2];
        end
    end

    always @(posedge clk) begin : arbiter
        served <= 0;
        if (rst) begin
            left <= 0;
            late <= 0;
        end else if (left != 0) begin
            //pragma recap serve work()
            left <= left - 1;
            if (left == 1) begin
                served <= chosen;
                late <= ~chosen;
            end
        end else begin
            //pragma recap free wait_recv(late_sender, units[*].unit, w)
            if (open != 0) begin
                chosen <= first & (~first + 1);
                left <= set[GRANT];
            end
        end
    end

    genvar k;
    generate
        for (k = 0; k < 3; k = k + 1) begin : units
            wire [15:0] at;
            core #(.K(k)) unit (
                .clk(clk), .rst(rst), .start(start), .share(set[SHARE0 + k]), .pace(set[PACE]), .uneven(set[UNEVEN]),
                .from(base + (k > 0 ? set[SHARE0] : 16'd0) + (k > 1 ? set[SHARE1] : 16'd0)), .together(set[TOGETHER] != 0),
                .shared(set[GRANT] != 0), .served(served[k]), .all(&arrived), .word(words[at[12:0]]), .at(at),
                .asking(asking[k]), .arrived(arrived[k]), .busy(busy[k]), .sum(sums[k]));
        end
    endgenerate
endmodule
