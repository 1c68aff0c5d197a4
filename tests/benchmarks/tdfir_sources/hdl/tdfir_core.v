// Convolves items of a batch, one after the other: y[n] = sum of h[k] x[n - k], on MACS multipliers, modulo 2^32.
//
// A pass takes MACS of the kernel's words: it loads them, then shifts the whole input past them, a word a cycle, and
// adds the sums to the output, which later passes move up by MACS words. An item takes ceil(KERNEL_WORDS / MACS) passes.
module tdfir_core #(
    parameter MACS         = 128,
    parameter INPUT_WORDS  = 4096,
    parameter KERNEL_WORDS = 128,
    parameter BATCH        = 1,  // items
    parameter BUFFERS      = 1   // batches that the memories hold
) (
    input             clk,
    input             rst,
    input             filled,         // a batch is there
    input             emptied,        // a batch's output was read
    output reg        done,           // a batch is finished, for one cycle
    output reg [7:0]  unread,         // batches finished and not read
    output     [31:0] input_address,
    input      [31:0] input_data,     // of the address a cycle before
    output     [31:0] kernel_address,
    input      [31:0] kernel_data,    // as well
    output     [31:0] output_address,
    input      [31:0] output_data,    // as well
    output reg        output_write,
    output reg [31:0] written_address,
    output reg [31:0] written_data
);
    localparam TAPS = (KERNEL_WORDS < MACS) ? KERNEL_WORDS : MACS;
    localparam OUTPUT_WORDS  = INPUT_WORDS + KERNEL_WORDS - 1;
    localparam LATENCY = 3;  // from the address of an input to its sum
    localparam [1:0] IDLE = 0, LOAD = 1, SHIFT = 2, FULL = 3;

    reg [1:0]  state;
    reg [31:0] item, pass, at;  // item of all buffers; first kernel word of this pass; cycle of this state
    reg [7:0]  waiting;         // batches that are there
    reg [31:0] in_batch;

    reg  [31:0] tap [0:MACS-1];
    reg  [31:0] window [0:MACS-1];
    reg  [31:0] product [0:MACS-1];
    reg  [31:0] sum;
    integer j;

    assign input_address  = item * INPUT_WORDS + at;
    assign kernel_address = item * KERNEL_WORDS + pass + at;
    assign output_address = item * OUTPUT_WORDS + pass + at - 2;

    wire [31:0] sample = (at - 1 < INPUT_WORDS) ? input_data : 32'b0;
    wire        last_cycle = at == INPUT_WORDS + TAPS - 2 + LATENCY;
    wire        last_pass  = pass + MACS >= KERNEL_WORDS;
    wire        last_item  = in_batch == BATCH - 1;
    wire        batch_ends = state == SHIFT && last_cycle && last_pass && last_item;
    wire        is_first   = pass == 0 || at - LATENCY >= INPUT_WORDS - 1;  // no pass before wrote that word

    always @* begin
        sum = 0;
        for (j = 0; j < MACS; j = j + 1) sum = sum + product[j];
    end

    always @(posedge clk) begin : datapath
        if (state == SHIFT) begin
            window[0] <= sample;
            for (j = 1; j < MACS; j = j + 1) window[j] <= window[j-1];
            for (j = 0; j < MACS; j = j + 1) product[j] <= window[j] * tap[j];
        end else if (state == LOAD && at == 0) begin
            for (j = 0; j < MACS; j = j + 1) window[j] <= 0;
            for (j = 0; j < MACS; j = j + 1) product[j] <= 0;
        end
        if (state == LOAD) begin
            if (at > 0) tap[at-1] <= (pass + at - 1 < KERNEL_WORDS) ? kernel_data : 32'b0;
            if (at == 0) for (j = 0; j < MACS; j = j + 1) tap[j] <= 0;
        end
        output_write    <= state == SHIFT && at >= LATENCY && pass + at - LATENCY < OUTPUT_WORDS;
        written_address <= item * OUTPUT_WORDS + pass + at - LATENCY;
        written_data    <= sum + (is_first ? 32'b0 : output_data);
    end

    always @(posedge clk) begin : control
        done <= 0;
        waiting <= waiting + filled - batch_ends;
        unread  <= unread + batch_ends - emptied;
        if (rst) begin
            state <= IDLE;
            item <= 0;
            in_batch <= 0;
            pass <= 0;
            at <= 0;
            waiting <= 0;
            unread <= 0;
        end else case (state)
            IDLE: begin
                //pragma recap waitBatch wait_recv(late_sender, $CPU, start)
                at <= 0;
                pass <= 0;
                if (waiting != 0) state <= LOAD;
            end
            LOAD: begin
                //pragma recap loadKernel overhead(update)
                at <= (at == TAPS) ? 0 : at + 1;
                if (at == TAPS) state <= SHIFT;
            end
            SHIFT: begin
                //pragma recap convolve work()
                at <= last_cycle ? 0 : at + 1;
                if (last_cycle) begin
                    pass <= last_pass ? 0 : pass + MACS;
                    state <= LOAD;
                    if (last_pass) begin
                        item <= (item == BATCH * BUFFERS - 1) ? 0 : item + 1;
                        in_batch <= last_item ? 0 : in_batch + 1;
                        if (last_item) begin
                            done <= 1;
                            state <= (unread == BUFFERS - 1 && !emptied) ? FULL : IDLE;
                        end
                    end
                end
            end
            FULL: begin
                //pragma recap waitRead wait_send(late_receiver, $CPU, output)
                if (unread != BUFFERS) state <= IDLE;
            end
        endcase
    end
endmodule
