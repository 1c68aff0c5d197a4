// The original form: CORES cores, each with its own 2 KB buffer, bins and registers, side by side in the memory map.
// Core number i has the 1024 words from i * 0x400 on; 0x8000 and above are not used.
module pdf2d_top #(
    parameter CORES = 20,  // at most 32
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

    reg        write;
    reg [14:0] write_address;
    reg [31:0] write_data;
    reg [4:0]  asked;
    reg        asked_done;

    wire ours = addr[31:15] == 0;
    wire [CORES-1:0] to_core, from_core, done, chosen_done;
    wire [48*CORES-1:0] sums;
    wire [48*(CORES+1)-1:0] chosen;  // the sum of the core asked, passed on from core to core
    assign chosen[47:0] = 48'b0;
    assign rd_data = asked_done ? {31'b0, |chosen_done} : chosen[48*CORES +: 32];

    always @(posedge clk) begin : port
        write <= wr_en && ours && !rst;
        write_address <= addr[14:0];
        write_data <= wr_data;
        if (rst) begin
            asked <= 0;
            asked_done <= 0;
        end else if (wr_en && ours) begin
            //pragma recap takeControl recv(ctrl, $CPU, c1|g1|s1): addr[9]
            //pragma recap takePoints recv(data, $CPU, x1): !addr[9]
            asked <= 0;
        end else if (rd_en && ours) begin
            //pragma recap giveDone send(ctrl, $CPU, d1): addr[8]
            //pragma recap giveBins send(data, $CPU, p1): !addr[8]
            asked <= addr[14:10];
            asked_done <= addr[8];
        end else begin
            //pragma recap waitHost wait_recv(late_sender, $CPU, c1|x1|g1|s1)
            asked <= asked;
        end
    end

    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : selection
            assign to_core[i] = write && write_address[14:10] == i;
            assign from_core[i] = rd_en && ours && addr[14:10] == i && addr[9:8] == 2'b10;
            assign chosen[48*(i+1) +: 48] = chosen[48*i +: 48] | (asked == i ? sums[48*i +: 48] : 48'b0);
            assign chosen_done[i] = asked == i && done[i];
        end
    endgenerate

    pdf2d_core #(.BITS(BITS)) core [CORES-1:0] (
        .clk(clk), .rst(rst),
        .write(to_core), .write_address(write_address[9:0]), .write_data(write_data),
        .read(from_core), .read_address(addr[7:0]),
        .done(done), .sum(sums)
    );
endmodule
