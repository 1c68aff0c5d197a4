// One worker, whose phases last as the host says. The host writes words to 0x0000..0x1FFF, the lengths of the phases (in
// cycles; 0: the phase is left out) to 0x6000 + phase, and a command, {count, base}, to 0x6100. 0x6101 tells that the
// words of the command are done, 0x6102 the sum of all so far.
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
    localparam OBEY = 0, CLEAR = 1, LOAD = 2, FILL = 3, WORK = 4, FLUSH = 5, SETTLE = 6, COUNT = 7, HANDLE = 8,
               SORT = 9, GIVE = 10, HELD = 11, BUSY = 12, CLOSE = 13, PHASES = 14;
    reg [31:0] words [0:8191];
    reg [15:0] lasts [0:PHASES-1];
    reg [31:0] sum;
    reg [15:0] base, count, at, left;
    reg [3:0]  phase;
    reg        start, going, done;
    assign irq = done && !start;

    // The phase after this one: of the same word, else the first of the next one, else that of the end.
    reg [3:0] next, again;
    integer   k;
    wire      last_word = at + 1 == base + count;
    always @* begin
        next = PHASES;
        again = PHASES;
        for (k = PHASES - 1; k >= 0; k = k - 1) begin
            if (lasts[k] != 0 && k > phase && (k != CLOSE || last_word)) next = k;
            if (lasts[k] != 0 && k >= LOAD && k < CLOSE) again = k;
        end
    end
    wire [3:0] first = lasts[OBEY] != 0 ? OBEY : lasts[CLEAR] != 0 ? CLEAR : again;
    wire [3:0] after = next != PHASES ? next : again;
    wire       ends = next == PHASES && last_word;

    always @(posedge clk) begin : port
        start <= 0;
        if (rst) begin
            for (k = 0; k < PHASES; k = k + 1) lasts[k] <= 0;
        end else if (wr_en && addr < 32'h2000) begin
            //pragma recap take recv(data, $CPU, x)
            words[addr[12:0]] <= wr_data;
        end else if (wr_en && addr == 32'h6100) begin
            //pragma recap go recv(ctrl, $CPU, go)
            {count, base} <= wr_data;
            start <= 1;
        end else if (wr_en && addr < 32'h6000 + PHASES) begin
            //pragma recap set recv(ctrl, $CPU, pace)
            lasts[addr[3:0]] <= wr_data[15:0];
        end else if (rd_en) begin
            //pragma recap tell send(data, $CPU, y|d)
            rd_data <= addr == 32'h6101 ? {31'b0, done} : sum;
        end
    end

    always @(posedge clk) begin : worker
        if (rst) begin
            going <= 0;
            done <= 0;
            sum <= 0;
        end else if (!going) begin
            //pragma recap idle wait_recv(late_sender, $CPU, go)
            if (start) begin
                done <= 0;
                going <= 1;
                at <= base;
                phase <= first;
                left <= lasts[first];
            end
        end else begin
            left <= left - 1;
            if (left == 1) begin
                phase <= after;
                left <= lasts[after];
                if (next == PHASES || next == CLOSE) at <= at + 1;
                if (ends || phase == CLOSE) begin
                    going <= 0;
                    done <= 1;
                end
            end
            case (phase)
                OBEY: begin
                    //pragma recap obey recv(ctrl, $CPU, go)
                    sum <= sum;
                end
                CLEAR: begin
                    //pragma recap clear overhead(initialize)
                    sum <= sum;
                end
                LOAD: begin
                    //pragma recap load recv(data, port, x)
                    sum <= sum;
                end
                FILL: begin
                    //pragma recap fill overhead(pipeline_fill_drain)
                    sum <= sum;
                end
                WORK: begin
                    //pragma recap work work()
                    if (left == 1) sum <= 31 * sum + words[at[12:0]];
                end
                FLUSH: begin
                    //pragma recap flush overhead(pipeline_flush_stall)
                    sum <= sum;
                end
                SETTLE: begin
                    //pragma recap settle overhead(delay)
                    sum <= sum;
                end
                COUNT: begin
                    //pragma recap count overhead(update)
                    sum <= sum;
                end
                HANDLE: begin
                    //pragma recap handle overhead(interrupt)
                    sum <= sum;
                end
                SORT: begin
                    //pragma recap sort overhead()
                    sum <= sum;
                end
                GIVE: begin
                    //pragma recap give send(data, port, y)
                    sum <= sum;
                end
                HELD: begin
                    //pragma recap held send(stall_application, port, y)
                    sum <= sum;
                end
                BUSY: begin
                    //pragma recap busy send(stall_interface, port, y)
                    sum <= sum;
                end
                default: begin
                    //pragma recap close overhead(finalize)
                    sum <= sum;
                end
            endcase
        end
    end
endmodule
