// The optimised form: two 32 KB buffers that all cores share, sums merged on the card, one status register.
//
// Word addresses: 0x0000 and 0x2000 the two buffers (y in a word's upper half, x in the lower), written in turn and in
// order; 0x4000 the merged bins of the oldest batch not yet read, one after the other; 0x4100 the status: in its lower
// half the batches done so far, in bit 31 whether bins wait to be read. Reading the last bin frees them. 0x8000 and
// above are not used. A buffer may be written again once its batch is done.
module pdf2d_top #(
    parameter CORES = 20,
    parameter BINS  = 8    // along an axis: a power of two, at most 16
) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output     [31:0] rd_data
);
    localparam BITS = $clog2(BINS);
    localparam [2*BITS-1:0] LAST_BIN = {2*BITS{1'b1}};
    localparam [12:0] LAST_POINT = 13'h1fff;

    // The port: points in, bins and status out.
    (* ram_style = "block" *)
    reg [31:0] buffer [0:16383];
    reg [31:0] results [0:LAST_BIN];
    reg [14:0] written;       // points so far, modulo twice the buffers
    reg [31:0] result;
    reg        asked_status;
    reg        waiting;       // bins to be read
    reg [15:0] batches;
    wire to_buffer = wr_en && addr[31:14] == 0;
    wire from_results = rd_en && addr[31:8] == 24'h40;
    wire from_status = rd_en && addr[31:8] == 24'h41;
    assign rd_data = asked_status ? {waiting, 15'b0, batches} : result;

    always @(posedge clk) begin : port
        result <= results[addr[2*BITS-1:0]];
        asked_status <= from_status;
        if (rst) begin
            written <= 0;
        end else if (to_buffer) begin
            //pragma recap takePoints recv(data, $CPU, x1)
            buffer[addr[13:0]] <= wr_data;
            written <= written + 1'b1;
        end else if (from_status) begin
            //pragma recap giveStatus send(ctrl, $CPU, d1)
            written <= written;
        end else if (from_results) begin
            //pragma recap giveBins send(data, $CPU, p1)
            written <= written;
        end else begin
            //pragma recap waitHost wait_recv(late_sender, $CPU, x1)
            written <= written;
        end
    end

    // Points go to the cores in turn; a batch's end goes to all of them at once.
    localparam [1:0] LOOK = 0, OFFER = 1, CLOSE = 2;
    reg [1:0]  step;
    reg [14:0] given;
    reg [4:0]  turn;
    reg [31:0] point;
    wire [CORES-1:0] ready;
    wire [CORES-1:0] takes;   // the core whose turn it is, if it is ready
    wire closing = step == CLOSE && &ready;

    always @(posedge clk) begin : distribute
        point <= buffer[given[13:0]];
        if (rst) begin
            step <= LOOK;
            given <= 0;
            turn <= 0;
        end else case (step)
            LOOK:
                if (given == written) begin
                    //pragma recap waitPoints wait_recv(late_sender, $CPU, x1)
                    step <= LOOK;
                end else begin
                    //pragma recap takePoint recv(data, $CPU, x1)
                    step <= OFFER;
                end
            OFFER:
                if (|takes) begin
                    //pragma recap sendPoint send(data, pdf2d_top.core[*], x2)
                    given <= given + 1'b1;
                    turn <= (turn == CORES - 1) ? 5'd0 : turn + 1'b1;
                    step <= (given[12:0] == LAST_POINT) ? CLOSE : LOOK;
                end else begin
                    //pragma recap waitCore wait_send(buffer_full, pdf2d_top.core[*], x2)
                    step <= OFFER;
                end
            default: begin
                //pragma recap endBatch send(ctrl, pdf2d_top.core[*], e2)
                step <= closing ? LOOK : CLOSE;
            end
        endcase
    end

    // The sums run through the chain of cores, one bin a cycle.
    reg        collecting, ask;
    reg [2*BITS:0]   asked;
    reg [2*BITS-1:0] collected;
    wire [CORES-1:0] finished;
    wire [CORES:0]   answer;
    wire [48*(CORES+1)-1:0] sums;
    wire complete = collecting && answer[CORES] && collected == LAST_BIN;
    assign answer[0] = ask;
    assign sums[47:0] = 48'b0;

    always @(posedge clk) begin : merge
        ask <= collecting && !asked[2*BITS] && !rst;
        waiting <= (complete || (waiting && !(from_results && addr[2*BITS-1:0] == LAST_BIN))) && !rst;
        if (rst) begin
            collecting <= 0;
            asked <= 0;
            collected <= 0;
            batches <= 0;
        end else if (collecting) begin
            //pragma recap collect recv(data, pdf2d_top.core[*], b1)
            asked <= asked + !asked[2*BITS];
            results[collected] <= sums[48*CORES +: 32];  // again and again, until the answer is there
            collected <= collected + answer[CORES];
            batches <= batches + complete;
            collecting <= !complete;
        end else if (&finished && waiting) begin
            //pragma recap waitHost wait_send(late_receiver, $CPU, p1)
            asked <= 0;
        end else begin
            //pragma recap waitCores wait_recv(barrier, pdf2d_top.core[*], b1)
            asked <= 0;
            collecting <= &finished;
        end
    end

    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : turns
            assign takes[i] = step == OFFER && turn == i && ready[i];
        end
    endgenerate

    pdf2d_core #(.BITS(BITS)) core [CORES-1:0] (
        .clk(clk), .rst(rst),
        .put(takes | {CORES{closing}}), .put_end(closing), .put_point(point), .ready(ready), .finished(finished),
        .ask(answer[CORES-1:0]), .sum_in(sums[48*CORES-1:0]),
        .answer(answer[CORES:1]), .sum_out(sums[48*(CORES+1)-1:48])
    );
endmodule
