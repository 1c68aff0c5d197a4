// A PicoRV32 with 1,024 words of memory, which the host fills before it lets the core run.
//   0x000..0x3FF  memory; 0x800 (write)  1: run, 0: reset; 0x801 (read)  whether the core has stopped
module riscv_top (
    input             clk,
    input             rst,
    input      [31:0] addr,
    input             wr_en,
    input      [31:0] wr_data,
    input             rd_en,
    output reg [31:0] rd_data
);
    reg  [31:0] memory [0:1023];
    reg         running;
    wire        trap, mem_valid, mem_instr;
    reg         mem_ready;
    reg  [31:0] mem_rdata;
    wire [31:0] mem_addr, mem_wdata;
    wire [3:0]  mem_wstrb;

    picorv32 #(.ENABLE_COUNTERS(0), .CATCH_MISALIGN(0), .BARREL_SHIFTER(0)) core (
        .clk(clk), .resetn(running), .trap(trap),
        .mem_valid(mem_valid), .mem_instr(mem_instr), .mem_ready(mem_ready),
        .mem_addr(mem_addr), .mem_wdata(mem_wdata), .mem_wstrb(mem_wstrb), .mem_rdata(mem_rdata),
        .mem_la_read(), .mem_la_write(), .mem_la_addr(), .mem_la_wdata(), .mem_la_wstrb(),
        .pcpi_valid(), .pcpi_insn(), .pcpi_rs1(), .pcpi_rs2(),
        .pcpi_wr(1'b0), .pcpi_rd(32'b0), .pcpi_wait(1'b0), .pcpi_ready(1'b0),
        .irq(32'b0), .eoi(), .trace_valid(), .trace_data()
    );

    always @(posedge clk) begin : port
        mem_ready <= 0;
        if (rst)
            running <= 0;
        else if (wr_en && addr[11])
            running <= wr_data[0];
        else if (wr_en)
            memory[addr[9:0]] <= wr_data;
        else if (mem_valid && !mem_ready) begin
            mem_ready <= 1;
            mem_rdata <= memory[mem_addr[11:2]];
            if (mem_wstrb != 0)
                memory[mem_addr[11:2]] <= mem_wdata;
        end
        if (rd_en)
            rd_data <= addr[11] ? {31'b0, trap} : memory[addr[9:0]];
    end
endmodule
