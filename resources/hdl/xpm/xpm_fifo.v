// Stand-ins for AMD's Xilinx Parameterized Macros (UG974) in simulation: what they do, without sleep and checks; ECC finds no error.
// Each module is taken by itself, so none instantiates another.

module xpm_fifo_sync #(
    parameter integer CASCADE_HEIGHT = 0, FIFO_READ_LATENCY = 1, FIFO_WRITE_DEPTH = 2048, FULL_RESET_VALUE = 0,
    PROG_EMPTY_THRESH = 10, PROG_FULL_THRESH = 10, RD_DATA_COUNT_WIDTH = 1, READ_DATA_WIDTH = 32, SIM_ASSERT_CHK = 0,
    WAKEUP_TIME = 0, WRITE_DATA_WIDTH = 32, WR_DATA_COUNT_WIDTH = 1,
    parameter DOUT_RESET_VALUE = "0", ECC_MODE = "no_ecc", EN_SIM_ASSERT_ERR = "warning", FIFO_MEMORY_TYPE = "auto",
    READ_MODE = "std", USE_ADV_FEATURES = "0707"
) (
    input wire sleep, input wire rst, input wire wr_clk, input wire wr_en, input wire [WRITE_DATA_WIDTH-1:0] din,
    output wire full, output wire prog_full, output wire [WR_DATA_COUNT_WIDTH-1:0] wr_data_count,
    output reg overflow, output wire wr_rst_busy, output wire almost_full, output reg wr_ack,
    input wire rd_en, output wire [READ_DATA_WIDTH-1:0] dout, output wire empty, output wire prog_empty,
    output wire [RD_DATA_COUNT_WIDTH-1:0] rd_data_count, output reg underflow, output wire rd_rst_busy,
    output wire almost_empty, output wire data_valid, input wire injectsbiterr, input wire injectdbiterr,
    output wire sbiterr, output wire dbiterr
);
    // Places hold what the narrower side moves: `IN` of them are a word that is written, `OUT` one that is read. The
    // lowest bits of a wide word are its first place.
    localparam PLACE_BITS = READ_DATA_WIDTH < WRITE_DATA_WIDTH ? READ_DATA_WIDTH : WRITE_DATA_WIDTH;
    localparam IN = WRITE_DATA_WIDTH / PLACE_BITS, OUT = READ_DATA_WIDTH / PLACE_BITS, DEPTH = FIFO_WRITE_DEPTH * IN;
    localparam PLACES = $clog2(DEPTH), FWFT = READ_MODE == "fwft";
    localparam IN_BITS = $clog2(FIFO_WRITE_DEPTH) + 1, OUT_BITS = $clog2(DEPTH / OUT) + 1;
    if (IN * PLACE_BITS != WRITE_DATA_WIDTH || OUT * PLACE_BITS != READ_DATA_WIDTH)
        $error("READ_DATA_WIDTH and WRITE_DATA_WIDTH of this FIFO are no multiples of each other");
    reg [PLACE_BITS-1:0] store [0:DEPTH-1];
    reg [PLACES:0] put = 0, get = 0;  // a bit more than the place
    reg [READ_DATA_WIDTH-1:0] first;
    integer in_place, out_place;
    always @* for (out_place = 0; out_place < OUT; out_place = out_place + 1)
        first[out_place*PLACE_BITS +: PLACE_BITS] = store[get[PLACES-1:0] + out_place];
    reg [READ_DATA_WIDTH*FIFO_READ_LATENCY-1:0] read = 0;
    reg [FIFO_READ_LATENCY-1:0] valid = 0;
    reg [2:0] resets = 0, read_resets = 0;
    wire [PLACES:0] level = put - get, held = level;
    wire writes = wr_en & ~full, reads = rd_en & ~empty;
    initial begin
        overflow = 0;
        underflow = 0;
        wr_ack = 0;
    end
    always @(posedge wr_clk) begin
        resets <= {resets[1:0], rst};
        overflow <= wr_en & full;
        wr_ack <= writes;
        if (rst) put <= 0;
        else if (writes) begin
            for (in_place = 0; in_place < IN; in_place = in_place + 1)
                store[put[PLACES-1:0] + in_place] <= din[in_place*PLACE_BITS +: PLACE_BITS];
            put <= put + IN;
        end
    end
    always @(posedge wr_clk) begin
        read_resets <= {read_resets[1:0], rst};
        underflow <= rd_en & empty;
        valid <= {valid, reads};
        read <= {read, reads ? first : read[READ_DATA_WIDTH-1:0]};
        if (rst) get <= 0;
        else if (reads) get <= get + OUT;
    end
    assign full = level > DEPTH - IN | wr_rst_busy;
    assign empty = held < OUT | rd_rst_busy;
    assign almost_full = level > DEPTH - 2 * IN | wr_rst_busy, almost_empty = held < 2 * OUT | rd_rst_busy;
    assign prog_full = level / IN >= PROG_FULL_THRESH, prog_empty = held / OUT <= PROG_EMPTY_THRESH;
    assign wr_rst_busy = rst | (|resets), rd_rst_busy = rst | (|read_resets);
    assign wr_data_count = (level / IN) >> (IN_BITS > WR_DATA_COUNT_WIDTH ? IN_BITS - WR_DATA_COUNT_WIDTH : 0);
    assign rd_data_count = (held / OUT) >> (OUT_BITS > RD_DATA_COUNT_WIDTH ? OUT_BITS - RD_DATA_COUNT_WIDTH : 0);
    assign dout = FWFT ? first : read[READ_DATA_WIDTH*FIFO_READ_LATENCY-1 -: READ_DATA_WIDTH];
    assign data_valid = FWFT ? ~empty : valid[FIFO_READ_LATENCY-1];
    assign sbiterr = 1'b0, dbiterr = 1'b0;
endmodule

module xpm_fifo_async #(
    parameter integer CASCADE_HEIGHT = 0, FIFO_READ_LATENCY = 1, FIFO_WRITE_DEPTH = 2048, FULL_RESET_VALUE = 0,
    PROG_EMPTY_THRESH = 10, PROG_FULL_THRESH = 10, RD_DATA_COUNT_WIDTH = 1, READ_DATA_WIDTH = 32, SIM_ASSERT_CHK = 0,
    WAKEUP_TIME = 0, WRITE_DATA_WIDTH = 32, WR_DATA_COUNT_WIDTH = 1, CDC_SYNC_STAGES = 2, RELATED_CLOCKS = 0,
    parameter DOUT_RESET_VALUE = "0", ECC_MODE = "no_ecc", EN_SIM_ASSERT_ERR = "warning", FIFO_MEMORY_TYPE = "auto",
    READ_MODE = "std", USE_ADV_FEATURES = "0707"
) (
    input wire sleep, input wire rst, input wire wr_clk, input wire wr_en, input wire [WRITE_DATA_WIDTH-1:0] din,
    input wire rd_clk, output wire full, output wire prog_full, output wire [WR_DATA_COUNT_WIDTH-1:0] wr_data_count,
    output reg overflow, output wire wr_rst_busy, output wire almost_full, output reg wr_ack,
    input wire rd_en, output wire [READ_DATA_WIDTH-1:0] dout, output wire empty, output wire prog_empty,
    output wire [RD_DATA_COUNT_WIDTH-1:0] rd_data_count, output reg underflow, output wire rd_rst_busy,
    output wire almost_empty, output wire data_valid, input wire injectsbiterr, input wire injectdbiterr,
    output wire sbiterr, output wire dbiterr
);
    // Places hold what the narrower side moves: `IN` of them are a word that is written, `OUT` one that is read. The
    // lowest bits of a wide word are its first place.
    localparam PLACE_BITS = READ_DATA_WIDTH < WRITE_DATA_WIDTH ? READ_DATA_WIDTH : WRITE_DATA_WIDTH;
    localparam IN = WRITE_DATA_WIDTH / PLACE_BITS, OUT = READ_DATA_WIDTH / PLACE_BITS, DEPTH = FIFO_WRITE_DEPTH * IN;
    localparam PLACES = $clog2(DEPTH), FWFT = READ_MODE == "fwft";
    localparam IN_BITS = $clog2(FIFO_WRITE_DEPTH) + 1, OUT_BITS = $clog2(DEPTH / OUT) + 1;
    if (IN * PLACE_BITS != WRITE_DATA_WIDTH || OUT * PLACE_BITS != READ_DATA_WIDTH)
        $error("READ_DATA_WIDTH and WRITE_DATA_WIDTH of this FIFO are no multiples of each other");
    reg [PLACE_BITS-1:0] store [0:DEPTH-1];
    reg [PLACES:0] put = 0, get = 0;  // a bit more than the place
    reg [READ_DATA_WIDTH-1:0] first;
    integer in_place, out_place;
    always @* for (out_place = 0; out_place < OUT; out_place = out_place + 1)
        first[out_place*PLACE_BITS +: PLACE_BITS] = store[get[PLACES-1:0] + out_place];
    reg [READ_DATA_WIDTH*FIFO_READ_LATENCY-1:0] read = 0;
    reg [FIFO_READ_LATENCY-1:0] valid = 0;
    reg [2:0] resets = 0, read_resets = 0;
    reg [1:0] rd_rst = 0;  // the reset belongs to the writing clock
    always @(posedge rd_clk) rd_rst <= {rd_rst[0], rst};
    // How far each side has come reaches the other as a Gray code, some cycles later.
    reg [PLACES:0] put_code = 0, get_code = 0;
    reg [(PLACES+1)*CDC_SYNC_STAGES-1:0] put_there = 0, get_there = 0;
    wire [PLACES:0] put_seen_code = put_there[(PLACES+1)*CDC_SYNC_STAGES-1 -: PLACES+1];
    wire [PLACES:0] get_seen_code = get_there[(PLACES+1)*CDC_SYNC_STAGES-1 -: PLACES+1];
    reg [PLACES:0] put_seen, get_seen;
    integer i;
    always @* for (i = 0; i <= PLACES; i = i + 1) begin
        put_seen[i] = ^(put_seen_code >> i);
        get_seen[i] = ^(get_seen_code >> i);
    end
    always @(posedge wr_clk) begin
        put_code <= rst ? 0 : put ^ (put >> 1);
        get_there <= {get_there, get_code};
    end
    always @(posedge rd_clk) begin
        get_code <= rd_rst[1] ? 0 : get ^ (get >> 1);
        put_there <= {put_there, put_code};
    end
    wire [PLACES:0] level = put - get_seen, held = put_seen - get;
    wire writes = wr_en & ~full, reads = rd_en & ~empty;
    initial begin
        overflow = 0;
        underflow = 0;
        wr_ack = 0;
    end
    always @(posedge wr_clk) begin
        resets <= {resets[1:0], rst};
        overflow <= wr_en & full;
        wr_ack <= writes;
        if (rst) put <= 0;
        else if (writes) begin
            for (in_place = 0; in_place < IN; in_place = in_place + 1)
                store[put[PLACES-1:0] + in_place] <= din[in_place*PLACE_BITS +: PLACE_BITS];
            put <= put + IN;
        end
    end
    always @(posedge rd_clk) begin
        read_resets <= {read_resets[1:0], rd_rst[1]};
        underflow <= rd_en & empty;
        valid <= {valid, reads};
        read <= {read, reads ? first : read[READ_DATA_WIDTH-1:0]};
        if (rd_rst[1]) get <= 0;
        else if (reads) get <= get + OUT;
    end
    assign full = level > DEPTH - IN | wr_rst_busy;
    assign empty = held < OUT | rd_rst_busy;
    assign almost_full = level > DEPTH - 2 * IN | wr_rst_busy, almost_empty = held < 2 * OUT | rd_rst_busy;
    assign prog_full = level / IN >= PROG_FULL_THRESH, prog_empty = held / OUT <= PROG_EMPTY_THRESH;
    assign wr_rst_busy = rst | (|resets), rd_rst_busy = rd_rst[1] | (|read_resets);
    assign wr_data_count = (level / IN) >> (IN_BITS > WR_DATA_COUNT_WIDTH ? IN_BITS - WR_DATA_COUNT_WIDTH : 0);
    assign rd_data_count = (held / OUT) >> (OUT_BITS > RD_DATA_COUNT_WIDTH ? OUT_BITS - RD_DATA_COUNT_WIDTH : 0);
    assign dout = FWFT ? first : read[READ_DATA_WIDTH*FIFO_READ_LATENCY-1 -: READ_DATA_WIDTH];
    assign data_valid = FWFT ? ~empty : valid[FIFO_READ_LATENCY-1];
    assign sbiterr = 1'b0, dbiterr = 1'b0;
endmodule

module xpm_fifo_axis #(
    parameter integer CASCADE_HEIGHT = 0, CDC_SYNC_STAGES = 2, FIFO_DEPTH = 2048, PROG_EMPTY_THRESH = 10,
    PROG_FULL_THRESH = 10, RD_DATA_COUNT_WIDTH = 1, RELATED_CLOCKS = 0, SIM_ASSERT_CHK = 0, TDATA_WIDTH = 32,
    TDEST_WIDTH = 1, TID_WIDTH = 1, TUSER_WIDTH = 1, WR_DATA_COUNT_WIDTH = 1,
    parameter CLOCKING_MODE = "common_clock", ECC_MODE = "no_ecc", EN_SIM_ASSERT_ERR = "warning",
    FIFO_MEMORY_TYPE = "auto", PACKET_FIFO = "false", USE_ADV_FEATURES = "1000"
) (
    input wire s_aresetn, input wire s_aclk, input wire m_aclk,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [TDATA_WIDTH-1:0] s_axis_tdata,
    input wire [TDATA_WIDTH/8-1:0] s_axis_tstrb, input wire [TDATA_WIDTH/8-1:0] s_axis_tkeep, input wire s_axis_tlast,
    input wire [TID_WIDTH-1:0] s_axis_tid, input wire [TDEST_WIDTH-1:0] s_axis_tdest,
    input wire [TUSER_WIDTH-1:0] s_axis_tuser,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [TDATA_WIDTH-1:0] m_axis_tdata,
    output wire [TDATA_WIDTH/8-1:0] m_axis_tstrb, output wire [TDATA_WIDTH/8-1:0] m_axis_tkeep,
    output wire m_axis_tlast, output wire [TID_WIDTH-1:0] m_axis_tid, output wire [TDEST_WIDTH-1:0] m_axis_tdest,
    output wire [TUSER_WIDTH-1:0] m_axis_tuser,
    output wire prog_full_axis, output wire [WR_DATA_COUNT_WIDTH-1:0] wr_data_count_axis, output wire almost_full_axis,
    output wire prog_empty_axis, output wire [RD_DATA_COUNT_WIDTH-1:0] rd_data_count_axis,
    output wire almost_empty_axis, input wire injectsbiterr_axis, input wire injectdbiterr_axis,
    output wire sbiterr_axis, output wire dbiterr_axis
);
    localparam DEPTH = FIFO_DEPTH, PLACES = $clog2(DEPTH), APART = CLOCKING_MODE == "independent_clock";
    localparam WIDTH = TDATA_WIDTH + 2 * (TDATA_WIDTH / 8) + 1 + TID_WIDTH + TDEST_WIDTH + TUSER_WIDTH;
    wire out_clk = APART ? m_aclk : s_aclk;
    reg [WIDTH-1:0] store [0:DEPTH-1];
    reg [PLACES:0] put = 0, get = 0, packets_put = 0, packets_got = 0;
    reg [1:0] held_reset = 0;
    reg [2:0] resets = 0, read_resets = 0;
    wire out_reset = APART ? held_reset[1] : ~s_aresetn;
    wire in_busy = ~s_aresetn | (|resets), out_busy = out_reset | (|read_resets);
    always @(posedge s_aclk) resets <= {resets[1:0], ~s_aresetn};
    always @(posedge out_clk) begin
        held_reset <= {held_reset[0], ~s_aresetn};
        read_resets <= {read_resets[1:0], out_reset};
    end
    // How far each side has come reaches the other as a Gray code, some cycles later.
    reg [PLACES:0] put_code = 0, get_code = 0;
    reg [(PLACES+1)*CDC_SYNC_STAGES-1:0] put_there = 0, get_there = 0;
    wire [PLACES:0] put_seen_code = put_there[(PLACES+1)*CDC_SYNC_STAGES-1 -: PLACES+1];
    wire [PLACES:0] get_seen_code = get_there[(PLACES+1)*CDC_SYNC_STAGES-1 -: PLACES+1];
    reg [PLACES:0] put_seen, get_seen;
    integer i;
    always @* for (i = 0; i <= PLACES; i = i + 1) begin
        put_seen[i] = ^(put_seen_code >> i);
        get_seen[i] = ^(get_seen_code >> i);
    end
    always @(posedge s_aclk) begin
        put_code <= ~s_aresetn ? 0 : put ^ (put >> 1);
        get_there <= {get_there, get_code};
    end
    always @(posedge out_clk) begin
        get_code <= out_reset ? 0 : get ^ (get >> 1);
        put_there <= {put_there, put_code};
    end
    wire [PLACES:0] level = put - (APART ? get_seen : get), held = (APART ? put_seen : put) - get;
    wire whole = PACKET_FIFO != "true" || packets_put != packets_got || level >= DEPTH;  // of packets of one clock
    wire writes = s_axis_tvalid & s_axis_tready, reads = m_axis_tvalid & m_axis_tready;
    wire [WIDTH-1:0] word = store[get[PLACES-1:0]];
    always @(posedge s_aclk)
        if (!s_aresetn) begin
            put <= 0;
            packets_put <= 0;
        end else if (writes) begin
            store[put[PLACES-1:0]] <= {s_axis_tdata, s_axis_tstrb, s_axis_tkeep, s_axis_tlast, s_axis_tid, s_axis_tdest,
                                       s_axis_tuser};
            put <= put + 1'b1;
            if (s_axis_tlast) packets_put <= packets_put + 1'b1;
        end
    always @(posedge out_clk)
        if (out_reset) begin
            get <= 0;
            packets_got <= 0;
        end else if (reads) begin
            get <= get + 1'b1;
            if (m_axis_tlast) packets_got <= packets_got + 1'b1;
        end
    assign s_axis_tready = ~in_busy & level < DEPTH;
    assign m_axis_tvalid = ~out_busy & held != 0 & whole;
    assign {m_axis_tdata, m_axis_tstrb, m_axis_tkeep, m_axis_tlast, m_axis_tid, m_axis_tdest, m_axis_tuser} = word;
    assign prog_full_axis = level >= PROG_FULL_THRESH, prog_empty_axis = held <= PROG_EMPTY_THRESH;
    assign almost_full_axis = level >= DEPTH - 1 | in_busy, almost_empty_axis = held <= 1 | out_busy;
    assign wr_data_count_axis = level >> (PLACES + 1 > WR_DATA_COUNT_WIDTH ? PLACES + 1 - WR_DATA_COUNT_WIDTH : 0);
    assign rd_data_count_axis = held >> (PLACES + 1 > RD_DATA_COUNT_WIDTH ? PLACES + 1 - RD_DATA_COUNT_WIDTH : 0);
    assign sbiterr_axis = 1'b0, dbiterr_axis = 1'b0;
endmodule
