// CORES cores of the 2-D PDF, step by step (see steps.c), in the memory map:
//   0x00000 + i * 0x400  core i as in the original form: points, at 0x200 bins, at 0x300 control and done, from step 1 on
//                        how many batches are
//   0x10000, 0x14000     from step 3 on: points of all cores, one after the other, and their second buffers
//   0x20000, 0x28000     from step 2 on: bins of all cores, of the first, third, ... batch of each and of the others
//   0x30000              from step 4 on: how many batches all cores did
module pdf2d_top #(
    parameter STEP  = 0,
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

    reg        write, write_half;
    reg [4:0]  write_core;
    reg [9:0]  write_address;
    reg [31:0] write_data;
    reg [4:0]  asked;
    reg        asked_done, asked_all;
    reg [15:0] rounds;

    wire own    = addr[31:15] == 0;
    wire points = STEP >= 3 && addr[31:16] == 1;
    wire merged = STEP >= 2 && addr[31:16] == 2;
    wire all    = STEP >= 4 && addr[31:16] == 3;
    wire [4:0] bins_of = merged ? addr[2*BITS +: 5] : addr[14:10];
    wire [CORES-1:0] to_core, from_core, done, ahead;
    wire [16*CORES-1:0] counts;
    wire [48*CORES-1:0] sums;
    wire [48*(CORES+1)-1:0] chosen;  // the sum of the core asked, passed on from core to core
    wire [16*(CORES+1)-1:0] chosen_done;
    assign chosen[47:0] = 48'b0;
    assign chosen_done[15:0] = 16'b0;
    assign rd_data = asked_all ? {16'b0, rounds} : asked_done ? {16'b0, chosen_done[16*CORES +: 16]}
                   : chosen[48*CORES +: 32];

    always @(posedge clk) begin : port
        write <= wr_en && (own || points) && !rst;
        write_core <= points ? addr[13:9] : addr[14:10];
        write_address <= points ? {1'b0, addr[8:0]} : addr[9:0];
        write_half <= points && addr[14];
        write_data <= wr_data;
        rounds <= rst ? 16'b0 : rounds + &ahead;
        asked <= bins_of;
        asked_done <= rd_en && own && addr[8];
        asked_all <= rd_en && all;
        if (wr_en && own && addr[9]) begin
            //pragma recap takeControl recv(ctrl, $CPU, c1|g1|s1)
        end else if (wr_en && (own || points)) begin
            //pragma recap takePoints recv(data, $CPU, x1)
        end else if (rd_en && (all || (own && addr[8]))) begin
            //pragma recap giveDone send(ctrl, $CPU, d1)
        end else if (rd_en && (own || merged)) begin
            //pragma recap giveBins send(data, $CPU, p1)
        end else begin
            //pragma recap waitHost wait_recv(late_sender, $CPU, c1|x1|g1|s1)
        end
    end

    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : selection
            assign to_core[i] = write && write_core == i;
            assign from_core[i] = rd_en && own && addr[14:10] == i && addr[9:8] == 2'b10;
            assign chosen[48*(i+1) +: 48] = chosen[48*i +: 48] | (asked == i ? sums[48*i +: 48] : 48'b0);
            assign chosen_done[16*(i+1) +: 16] = chosen_done[16*i +: 16]
                | (asked == i ? (STEP >= 1 ? counts[16*i +: 16] : {15'b0, done[i]}) : 16'b0);
            assign ahead[i] = counts[16*i +: 16] != rounds;
        end
    endgenerate

    pdf2d_core #(.STEP(STEP), .BITS(BITS)) core [CORES-1:0] (
        .clk(clk), .rst(rst),
        .write(to_core), .write_address(write_address), .write_half(write_half), .write_data(write_data),
        .read(from_core), .read_address(addr[7:0]), .read_half(merged && addr[15]),
        .done(done), .batches(counts), .answer(sums)
    );
endmodule
