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
    wire [CORES-1:0] done;                // of the core asked, and 0 of the others
    wire [48*(CORES+1)-1:0] sums;  // of the core asked, through all cores to the last
    wire [17:0] value;
    assign sums[47:0] = 48'b0;
    pdf2d_external external (.sum(sums[48*CORES +: 48]), .value(value));
    assign rd_data = asked_done ? {31'b0, |done} : {14'b0, value};

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
        for (i = 0; i < CORES; i = i + 1) begin : core
            wire [47:0] sum;
            wire        is_done;
            assign done[i] = asked == i && is_done;
            assign sums[48*(i+1) +: 48] = sums[48*i +: 48] | (asked == i ? sum : 48'b0);
            pdf2d_core #(.BITS(BITS)) pe (
                .clk(clk), .rst(rst),
                .write(write && write_address[14:10] == i), .write_address(write_address[9:0]), .write_data(write_data),
                .read(rd_en && ours && addr[14:10] == i && addr[9:8] == 2'b10), .read_address(addr[7:0]),
                .done(is_done), .sum(sum)
            );
        end
    endgenerate
endmodule
