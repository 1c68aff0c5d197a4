// Filters of the time-domain FIR benchmark behind a simple memory port. Addresses count words; their upper four bits say
// what is there: 0 inputs, 1 kernels, 2 outputs, 3 the register (written: a batch is there; read: batches finished).
// Each memory holds BUFFERS batches of BATCH items, one after the other. With STARTS, a batch also begins as its input's
// last word arrives.
module tdfir_top #(
    parameter MACS = 128,
    parameter INPUT_WORDS = 4096,
    parameter KERNEL_WORDS = 128,
    parameter BATCH = 1,
    parameter BUFFERS = 1,
    parameter STARTS = 0
) (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output     [31:0] rd_data,
    output            irq
);
    localparam OUTPUT_WORDS = INPUT_WORDS + KERNEL_WORDS - 1;

    reg [31:0] inputs  [0:INPUT_WORDS*BATCH*BUFFERS-1];
    reg [31:0] kernels [0:KERNEL_WORDS*BATCH*BUFFERS-1];
    reg [31:0] outputs [0:OUTPUT_WORDS*BATCH*BUFFERS-1];

    wire [3:0]  what = addr[31:28];
    wire [31:0] at = {4'b0, addr[27:0]};
    wire [31:0] input_address, kernel_address, output_address, written_address, written_data;
    wire        done, output_write;
    wire [7:0]  unread;
    reg  [31:0] input_data, kernel_data, output_data, asked;
    reg  [31:0] finished, in_output;
    reg  [31:0] in_input;

    wire to_register = wr_en && what == 4'd3;
    wire last_input  = STARTS != 0 && wr_en && what == 4'd0 && in_input == INPUT_WORDS * BATCH - 1;
    wire last_output = rd_en && what == 4'd2 && in_output == OUTPUT_WORDS * BATCH - 1;

    assign rd_data = asked;
    assign irq = unread != 0;

    always @(posedge clk) begin : memories
        if (wr_en && what == 4'd0) inputs[at] <= wr_data;
        if (wr_en && what == 4'd1) kernels[at] <= wr_data;
        if (output_write) outputs[written_address] <= written_data;
        input_data <= inputs[input_address < INPUT_WORDS*BATCH*BUFFERS ? input_address : 0];
        kernel_data <= kernels[kernel_address < KERNEL_WORDS*BATCH*BUFFERS ? kernel_address : 0];
        output_data <= outputs[output_address < OUTPUT_WORDS*BATCH*BUFFERS ? output_address : 0];
        asked <= (what == 4'd3) ? finished : outputs[at < OUTPUT_WORDS*BATCH*BUFFERS ? at : 0];
    end

    always @(posedge clk) begin : port
        finished <= finished + done;
        if (rst) begin
            finished <= 0;
            in_input <= 0;
            in_output <= 0;
        end else if (wr_en) begin
            //pragma recap takeInput recv(data, $CPU, input): what == 0
            //pragma recap takeKernel recv(data, $CPU, kernel): what == 1
            //pragma recap takeStart recv(ctrl, $CPU, start): what == 3
            if (what == 4'd0) in_input <= (in_input == INPUT_WORDS * BATCH - 1) ? 0 : in_input + 1;
        end else if (rd_en) begin
            //pragma recap giveOutput send(data, $CPU, output): what == 2
            //pragma recap giveFinished send(ctrl, $CPU, finished): what == 3
            if (what == 4'd2) in_output <= (in_output == OUTPUT_WORDS * BATCH - 1) ? 0 : in_output + 1;
        end else begin
            //pragma recap waitHost wait_recv(late_sender, $CPU, input|kernel|start)
            in_input <= in_input;
        end
    end

    tdfir_core #(.MACS(MACS), .INPUT_WORDS(INPUT_WORDS), .KERNEL_WORDS(KERNEL_WORDS), .BATCH(BATCH), .BUFFERS(BUFFERS)) core (
        .clk(clk), .rst(rst), .filled(to_register || last_input), .emptied(last_output), .done(done), .unread(unread),
        .input_address(input_address), .input_data(input_data),
        .kernel_address(kernel_address), .kernel_data(kernel_data),
        .output_address(output_address), .output_data(output_data),
        .output_write(output_write), .written_address(written_address), .written_data(written_data)
    );
endmodule
