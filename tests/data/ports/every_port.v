// A design with a port of each kind; `clk` is 100 MHz, `fast` another clock. Each part is the simplest that does it.

// AXI4-Lite: a request is answered in the cycle after the one in which it is taken.
module lite_ram (
    input clk, input rst_n,
    input [15:0] awaddr, input awvalid, output awready, input [31:0] wdata, input wvalid, output wready,
    output reg [1:0] bresp, output reg bvalid, input bready,
    input [15:0] araddr, input arvalid, output arready,
    output reg [31:0] rdata, output reg [1:0] rresp, output reg rvalid, input rready,
    output reg [6:0] start, output reg [15:0] from, input [7*32-1:0] cycles, input [31:0] fast_count
);
    reg [31:0] memory [0:1023];
    wire take = awvalid & wvalid & ~bvalid;
    assign awready = take;
    assign wready = take;
    assign arready = ~rvalid;
    always @(posedge clk) begin
        start <= 0;
        if (bvalid & bready) bvalid <= 0;
        if (rvalid & rready) rvalid <= 0;
        if (take) begin
            bvalid <= 1;
            bresp <= awaddr == 16'h8000 ? 2'd2 : 2'd0;  // an error, as the standard has it
            memory[awaddr[11:2]] <= wdata;
            if (awaddr[15:8] == 8'h40) begin start[awaddr[6:4]] <= 1; from <= wdata[15:0]; end
        end
        if (arvalid & arready) begin
            rvalid <= 1;
            rresp <= 0;
            rdata <= araddr == 16'h4008 ? fast_count : araddr[15:8] == 8'h40 ? cycles[araddr[6:4] * 32 +: 32]
                : memory[araddr[11:2]];
        end
        if (!rst_n) begin bvalid <= 0; rvalid <= 0; start <= 0; end
    end
endmodule

// AXI4: one burst at a time. Words of a read come from the cycle after its address on, one a cycle; a write's words are
// taken from the cycle after its address on, and answered in the one after the last.
module burst_ram (
    input clk, input rst_n,
    input [15:0] awaddr, input [7:0] awlen, input [2:0] awsize, input [1:0] awburst, input awvalid, output awready,
    input [63:0] wdata, input [7:0] wstrb, input wlast, input wvalid, output wready,
    output [1:0] bresp, output reg bvalid, input bready,
    input [15:0] araddr, input [7:0] arlen, input [2:0] arsize, input [1:0] arburst, input arvalid, output arready,
    output [63:0] rdata, output [1:0] rresp, output rlast, output rvalid, input rready
);
    reg [63:0] memory [0:1023];
    reg [12:0] at;
    reg [7:0] left;
    reg reading, writing;
    assign bresp = 0;
    assign rresp = 0;
    wire idle = ~reading & ~writing & ~bvalid;
    assign awready = idle;
    assign arready = idle & ~awvalid;
    assign wready = writing;
    assign rvalid = reading;
    assign rlast = left == 0;
    assign rdata = memory[at[12:3]];
    always @(posedge clk) begin
        if (bvalid & bready) bvalid <= 0;
        if (arvalid & arready) begin reading <= 1; at <= araddr[12:0]; left <= arlen; end
        if (awvalid & awready) begin writing <= 1; at <= awaddr[12:0]; left <= awlen; end
        if (reading & rready) begin at <= at + 8; left <= left - 1; if (rlast) reading <= 0; end
        if (writing & wvalid) begin
            memory[at[12:3]] <= wdata;
            at <= at + 8;
            if (wlast) begin writing <= 0; bvalid <= 1; end
        end
        if (!rst_n) begin reading <= 0; writing <= 0; bvalid <= 0; end
    end
endmodule

// Takes a word each cycle, but has the 41st wait for 57 cycles.
module sink (input clk, input rst_n, input [31:0] tdata, input tvalid, output tready, input tlast);
    reg [31:0] taken, waited;
    assign tready = ~(taken == 40 & waited != 57);
    always @(posedge clk)
        if (!rst_n) begin taken <= 0; waited <= 0; end
        else if (tvalid & tready) taken <= taken + 1;
        else if (tvalid) waited <= waited + 1;
endmodule

// A word that goes in comes out doubled, `DEPTH` words of it are kept.
module doubler (
    input clk, input rst_n, input [31:0] in_tdata, input in_tvalid, output in_tready, input in_tlast,
    output [31:0] out_tdata, output out_tvalid, input out_tready, output out_tlast
);
    reg [31:0] word;
    reg full, last;
    assign in_tready = ~full | out_tready;
    assign out_tvalid = full;
    assign out_tdata = word;
    assign out_tlast = last;
    always @(posedge clk) begin
        if (in_tready) full <= in_tvalid;
        if (in_tready & in_tvalid) begin word <= in_tdata << 1; last <= in_tlast; end
        if (!rst_n) full <= 0;
    end
endmodule

// Words that go in come out as they are; packets whose ends are told wrongly are taken for zeros.
module packets (
    input clk, input rst_n, input [31:0] in_data, input in_valid, output in_ready, input in_sop, input in_eop, input [1:0] in_empty,
    output [31:0] out_data, output out_valid, input out_ready, output out_sop, output out_eop
);
    reg amid;
    wire wrong = in_sop == amid | in_empty != 0;
    assign in_ready = out_ready;
    assign out_valid = in_valid;
    assign out_data = wrong ? 0 : in_data;
    assign out_sop = in_sop, out_eop = in_eop;
    always @(posedge clk)
        if (!rst_n) amid <= 0;
        else if (in_valid & in_ready) amid <= ~in_eop;
endmodule

// Avalon-MM: a command is taken in its third cycle, a read's word comes in the third one after that.
module slow_ram (
    input clk, input rst_n, input [9:0] address, input read, input write, input [31:0] writedata,
    output waitrequest, output [31:0] readdata, output readdatavalid
);
    reg [31:0] memory [0:1023];
    reg [1:0] wait_cycles;
    reg [2:0] valid;
    reg [31:0] word [0:2];
    assign waitrequest = wait_cycles != 2;
    assign readdatavalid = valid[2];
    assign readdata = word[2];
    always @(posedge clk) begin
        if (read | write) wait_cycles <= waitrequest ? wait_cycles + 1 : 0;
        valid <= {valid[1:0], read & ~waitrequest};
        word[0] <= memory[address]; word[1] <= word[0]; word[2] <= word[1];
        if (write & ~waitrequest) memory[address] <= writedata;
        if (!rst_n) begin wait_cycles <= 0; valid <= 0; end
    end
endmodule

// Wishbone: classic, a word is answered in its third cycle; pipelined, taken in its second one and answered three later.
module bone_ram #(parameter PIPELINED = 0) (
    input clk, input rst_n, input cyc, input stb, input we, input [11:0] adr, input [31:0] dat_w, input [3:0] sel,
    output stall, output ack, output err, output [31:0] dat_r
);
    reg [31:0] memory [0:1023];
    reg [1:0] waited;
    reg [2:0] valid;
    reg [31:0] word [0:2];
    wire now = cyc & stb & (PIPELINED ? waited == 1 : waited == 2);
    assign stall = ~now;
    assign ack = (PIPELINED ? valid[2] : now) & ~err;
    assign err = now & adr == 12'hffc;
    assign dat_r = PIPELINED ? word[2] : memory[adr[11:2]];
    always @(posedge clk) begin
        waited <= rst_n & cyc & stb & ~now ? waited + 1 : 0;
        valid <= rst_n ? {valid[1:0], now} : 0;
        word[0] <= memory[adr[11:2]]; word[1] <= word[0]; word[2] <= word[1];
        if (now & we & (&sel)) memory[adr[11:2]] <= dat_w;
    end
endmodule

// Block transfer: a request is taken in its third cycle; the address is where a burst begins.
module block_ram (
    input clk, input rst_n, input [9:0] address, input [15:0] left, input request, output acknowledge, input sends,
    input write, input [31:0] written, input read, output reg [31:0] word
);
    reg [31:0] memory [0:1023];
    reg [15:0] whole;
    reg [1:0] waited;
    reg sending;
    assign acknowledge = request && waited == 2;
    wire [9:0] at = address + (whole - left);
    always @(posedge clk) begin
        waited <= rst_n && request && !acknowledge ? waited + 1 : 0;
        if (acknowledge) begin whole <= left; sending <= sends; end
        if (write && sending) memory[at] <= written;
        if (read && !sending) word <= memory[at];
    end
endmodule

// Copies 16 words from an address to 0x1000 above it; `cycles` is how long that took.
module engine (
    input clk, input rst_n, input start, input [15:0] from, output reg [31:0] cycles, output reg done,
    output [31:0] araddr, output [7:0] arlen, output [2:0] arsize, output [1:0] arburst, output reg arvalid, input arready,
    input [31:0] rdata, input rlast, input rvalid, output rready,
    output [31:0] awaddr, output [7:0] awlen, output [2:0] awsize, output [1:0] awburst, output reg awvalid, input awready,
    output [31:0] wdata, output [3:0] wstrb, output wlast, output reg wvalid, input wready, input bvalid, output bready
);
    reg [31:0] buffer [0:15];
    reg [3:0] in, out;
    reg busy;
    assign araddr = {16'd0, from};
    assign awaddr = {16'd0, from} + 32'h1000;
    assign arlen = 15; assign awlen = 15;
    assign arsize = 2; assign awsize = 2;
    assign arburst = 1; assign awburst = 1;
    assign rready = 1; assign bready = 1; assign wstrb = 4'hf;
    assign wdata = buffer[out];
    assign wlast = out == 15;
    always @(posedge clk) begin
        if (busy) cycles <= cycles + 1;
        if (start) begin arvalid <= 1; busy <= 1; cycles <= 0; done <= 0; in <= 0; out <= 0; end
        if (arvalid & arready) arvalid <= 0;
        if (rvalid) begin buffer[in] <= rdata; in <= in + 1; if (rlast) awvalid <= 1; end
        if (awvalid & awready) begin awvalid <= 0; wvalid <= 1; end
        if (wvalid & wready) begin out <= out + 1; if (wlast) wvalid <= 0; end
        if (bvalid) begin busy <= 0; done <= 1; end
        if (!rst_n) begin busy <= 0; done <= 0; arvalid <= 0; awvalid <= 0; wvalid <= 0; cycles <= 0; end
    end
endmodule

// Copies COUNT words to where they are 0x1000 later, after them the next, ROUNDS times. Where BURST, a read is asked for once.
module mover #(parameter COUNT = 4, ROUNDS = 1, BURST = 0) (
    input clk, input rst_n, input start, input [15:0] from, output reg [31:0] cycles, output reg done,
    output ask, output reg write, output [31:0] address, output [31:0] wdata, input taken,
    input got, input [31:0] rdata, input stored
);
    reg [31:0] buffer [0:15];
    reg [7:0] asked, moved, round;
    reg busy;
    assign ask = busy & asked < COUNT;
    assign address = {16'd0, from} + (round * COUNT + asked) * 4 + (write ? 32'h1000 : 0);
    assign wdata = buffer[asked[3:0]];
    always @(posedge clk) begin
        if (busy) cycles <= cycles + 1;
        if (start) begin busy <= 1; write <= 0; asked <= 0; moved <= 0; round <= 0; cycles <= 0; done <= 0; end
        if (ask & taken) asked <= BURST && !write ? COUNT : asked + 1;
        if (got & ~write) buffer[moved[3:0]] <= rdata;
        if (write ? stored : got) begin
            moved <= moved + 1;
            if (moved == COUNT - 1) begin
                moved <= 0;
                asked <= 0;
                write <= ~write;
                if (write) round <= round + 1;
                if (write & round == ROUNDS - 1) begin busy <= 0; done <= 1; end
            end
        end
        if (!rst_n) begin busy <= 0; done <= 0; end
    end
endmodule

module every_port (
    input clk, input rst_n, input fast, output irq,
    input [15:0] lite_awaddr, input lite_awvalid, output lite_awready, input [31:0] lite_wdata, input lite_wvalid,
    output lite_wready, output [1:0] lite_bresp, output lite_bvalid, input lite_bready,
    input [15:0] lite_araddr, input lite_arvalid, output lite_arready,
    output [31:0] lite_rdata, output [1:0] lite_rresp, output lite_rvalid, input lite_rready,
    input [15:0] b_awaddr, input [7:0] b_awlen, input [2:0] b_awsize, input [1:0] b_awburst, input b_awvalid,
    output b_awready, input [63:0] b_wdata, input [7:0] b_wstrb, input b_wlast, input b_wvalid, output b_wready,
    output [1:0] b_bresp, output b_bvalid, input b_bready,
    input [15:0] b_araddr, input [7:0] b_arlen, input [2:0] b_arsize, input [1:0] b_arburst, input b_arvalid,
    output b_arready, output [63:0] b_rdata, output [1:0] b_rresp, output b_rlast, output b_rvalid, input b_rready,
    input [31:0] s0_tdata, input s0_tvalid, output s0_tready, input s0_tlast,
    input [31:0] s1_tdata, input s1_tvalid, output s1_tready, input s1_tlast,
    input [31:0] s8_tdata, input s8_tvalid, output s8_tready, input s8_tlast,
    input [31:0] in_tdata, input in_tvalid, output in_tready, input in_tlast,
    output [31:0] out_tdata, output out_tvalid, input out_tready, output out_tlast,
    input [31:0] asi_data, input asi_valid, output asi_ready, input asi_startofpacket, input asi_endofpacket,
    input [1:0] asi_empty, output [31:0] aso_data, output aso_valid, input aso_ready, output aso_startofpacket,
    output aso_endofpacket,
    input [9:0] a1_address, input a1_read, input a1_write, input [31:0] a1_writedata,
    output a1_waitrequest, output [31:0] a1_readdata, output a1_readdatavalid,
    input w1_cyc, input w1_stb, input w1_we, input [11:0] w1_adr, input [31:0] w1_dat_w, input [3:0] w1_sel,
    output w1_ack, output w1_err, output [31:0] w1_dat_r,
    input w8_cyc, input w8_stb, input w8_we, input [11:0] w8_adr, input [31:0] w8_dat_w, input [3:0] w8_sel,
    output w8_stall, output w8_ack, output [31:0] w8_dat_r,
    input [9:0] a8_address, input a8_read, input a8_write, input [31:0] a8_writedata,
    output a8_waitrequest, output [31:0] a8_readdata, output a8_readdatavalid,
    input [9:0] dma_address, input [15:0] dma_left, input dma_req, output dma_ack, input dma_sends,
    input dma_write, input [31:0] dma_written, input dma_read, output [31:0] dma_word,
    output [31:0] m_araddr, output [7:0] m_arlen, output [2:0] m_arsize, output [1:0] m_arburst, output m_arvalid,
    input m_arready, input [31:0] m_rdata, input m_rlast, input m_rvalid, output m_rready,
    output [31:0] m_awaddr, output [7:0] m_awlen, output [2:0] m_awsize, output [1:0] m_awburst, output m_awvalid,
    input m_awready, output [31:0] m_wdata, output [3:0] m_wstrb, output m_wlast, output m_wvalid, input m_wready,
    input m_bvalid, output m_bready,
    output [31:0] av_address, output av_read, output av_write, output [31:0] av_writedata, output [3:0] av_byteenable,
    output [4:0] av_burstcount, input av_waitrequest, input [31:0] av_readdata, input av_readdatavalid,
    output [31:0] aw_address, output aw_read, output aw_write, output [31:0] aw_writedata, input aw_waitrequest,
    input [31:0] aw_readdata,
    output [31:0] ap_address, output ap_read, output ap_write, output [31:0] ap_writedata, input ap_waitrequest,
    input [31:0] ap_readdata, input ap_readdatavalid,
    output o_req, input o_gnt, output [31:0] o_addr, output o_we, output [3:0] o_be, output [31:0] o_wdata,
    input o_rvalid, input [31:0] o_rdata,
    output mem_valid, input mem_ready, output [31:0] mem_addr, output [31:0] mem_wdata, output [3:0] mem_wstrb,
    input [31:0] mem_rdata,
    output ce_n, output we_n, output [13:0] ram_a, output [31:0] ram_d, input [31:0] ram_q
);
    wire [6:0] start, done;
    wire [15:0] from;
    wire [7*32-1:0] cycles;
    assign irq = |done;
    reg [31:0] fast_count;
    reg fast_reset;
    always @(posedge fast) fast_count <= rst_n ? fast_count + 1 : 0;
    lite_ram lite (clk, rst_n, lite_awaddr, lite_awvalid, lite_awready, lite_wdata, lite_wvalid, lite_wready, lite_bresp,
        lite_bvalid, lite_bready, lite_araddr, lite_arvalid, lite_arready, lite_rdata, lite_rresp, lite_rvalid, lite_rready,
        start, from, cycles, fast_count);
    burst_ram burst (clk, rst_n, b_awaddr, b_awlen, b_awsize, b_awburst, b_awvalid, b_awready, b_wdata, b_wstrb, b_wlast,
        b_wvalid, b_wready, b_bresp, b_bvalid, b_bready, b_araddr, b_arlen, b_arsize, b_arburst, b_arvalid, b_arready,
        b_rdata, b_rresp, b_rlast, b_rvalid, b_rready);
    sink sink0 (clk, rst_n, s0_tdata, s0_tvalid, s0_tready, s0_tlast);
    sink sink1 (clk, rst_n, s1_tdata, s1_tvalid, s1_tready, s1_tlast);
    sink sink8 (clk, rst_n, s8_tdata, s8_tvalid, s8_tready, s8_tlast);
    packets same (clk, rst_n, asi_data, asi_valid, asi_ready, asi_startofpacket, asi_endofpacket, asi_empty,
        aso_data, aso_valid, aso_ready, aso_startofpacket, aso_endofpacket);
    doubler twice (clk, rst_n, in_tdata, in_tvalid, in_tready, in_tlast, out_tdata, out_tvalid, out_tready, out_tlast);
    slow_ram avalon1 (clk, rst_n, a1_address, a1_read, a1_write, a1_writedata, a1_waitrequest, a1_readdata, a1_readdatavalid);
    bone_ram bone1 (clk, rst_n, w1_cyc, w1_stb, w1_we, w1_adr, w1_dat_w, w1_sel, , w1_ack, w1_err, w1_dat_r);
    bone_ram #(1) bone8 (clk, rst_n, w8_cyc, w8_stb, w8_we, w8_adr, w8_dat_w, w8_sel, w8_stall, w8_ack, , w8_dat_r);
    slow_ram avalon8 (clk, rst_n, a8_address, a8_read, a8_write, a8_writedata, a8_waitrequest, a8_readdata, a8_readdatavalid);
    block_ram block (clk, rst_n, dma_address, dma_left, dma_req, dma_ack, dma_sends, dma_write, dma_written, dma_read,
        dma_word);
    engine copier (clk, rst_n, start[0], from, cycles[31:0], done[0], m_araddr, m_arlen, m_arsize, m_arburst, m_arvalid, m_arready,
        m_rdata, m_rlast, m_rvalid, m_rready, m_awaddr, m_awlen, m_awsize, m_awburst, m_awvalid, m_awready, m_wdata,
        m_wstrb, m_wlast, m_wvalid, m_wready, m_bvalid, m_bready);

    wire av_ask, av_write_phase, aw_ask, aw_write_phase, mem_write, ce, we;
    wire [31:0] at;
    reg [1:0] asked;  // the synchronous memory's word comes two cycles later
    mover #(.COUNT(16), .BURST(1)) avalon_mover (clk, rst_n, start[1], from, cycles[63:32], done[1], av_ask, av_write_phase,
        av_address, av_writedata, ~av_waitrequest, av_readdatavalid, av_readdata, av_write & ~av_waitrequest);
    assign {av_read, av_write, av_byteenable, av_burstcount} = {av_ask & ~av_write_phase, av_ask & av_write_phase, 4'hf, 5'd16};
    mover #(.COUNT(1), .ROUNDS(2)) waiting_mover (clk, rst_n, start[2], from, cycles[95:64], done[2], aw_ask, aw_write_phase,
        aw_address, aw_writedata, ~aw_waitrequest, aw_read & ~aw_waitrequest, aw_readdata, aw_write & ~aw_waitrequest);
    assign {aw_read, aw_write} = {aw_ask & ~aw_write_phase, aw_ask & aw_write_phase};
    wire ap_ask, ap_write_phase;
    mover #(.COUNT(10)) pipelined_mover (clk, rst_n, start[6], from, cycles[223:192], done[6], ap_ask, ap_write_phase,
        ap_address, ap_writedata, ~ap_waitrequest, ap_readdatavalid, ap_readdata, ap_write & ~ap_waitrequest);
    assign {ap_read, ap_write} = {ap_ask & ~ap_write_phase, ap_ask & ap_write_phase};
    mover granted_mover (clk, rst_n, start[3], from, cycles[127:96], done[3], o_req, o_we, o_addr, o_wdata, o_gnt, o_rvalid,
        o_rdata, o_rvalid);
    assign o_be = 4'hf;
    mover #(.COUNT(1), .ROUNDS(2)) held_mover (clk, rst_n, start[4], from, cycles[159:128], done[4], mem_valid, mem_write,
        mem_addr, mem_wdata, mem_ready, mem_ready, mem_rdata, mem_ready);
    assign mem_wstrb = {4{mem_write}};
    mover ram_mover (clk, rst_n, start[5], from, cycles[191:160], done[5], ce, we, at, ram_d, 1'b1, asked[1], ram_q, ce & we);
    always @(posedge clk) asked <= {asked[0], ce & ~we};
    assign {ce_n, we_n, ram_a} = {~ce, ~we, at[15:2]};
endmodule
