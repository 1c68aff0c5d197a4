// Stand-ins for AMD's Xilinx Parameterized Macros (UG974) in simulation: what they do, without sleep and checks; ECC finds no error.
// Each module is taken by itself, so none instantiates another.

module xpm_memory_spram #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, BYTE_WRITE_WIDTH_A = 32, WRITE_DATA_WIDTH_A = 32, READ_DATA_WIDTH_A = 32, READ_LATENCY_A = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    READ_RESET_VALUE_A = "0", RST_MODE_A = "SYNC", WRITE_MODE_A = "no_change"
) (
    input wire sleep, input wire clka, input wire rsta, input wire regcea, input wire ena,
    input wire [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea, input wire [WRITE_DATA_WIDTH_A-1:0] dina,
    input wire injectsbiterra, input wire injectdbiterra, input wire [ADDR_WIDTH_A-1:0] addra,
    output wire [READ_DATA_WIDTH_A-1:0] douta, output wire sbiterra, output wire dbiterra
);
    localparam WIDTH = WRITE_DATA_WIDTH_A, WORDS = MEMORY_SIZE / WIDTH;
    if (READ_DATA_WIDTH_A != WIDTH)
        $error("the stand-in for this memory has words of one width at all its ports");
    reg [WIDTH-1:0] store [0:WORDS-1];
    integer i;
    initial begin
        for (i = 0; i < WORDS; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    integer byte_a;
    always @(posedge clka)
        if (ena)
            for (byte_a = 0; byte_a < WIDTH / BYTE_WRITE_WIDTH_A; byte_a = byte_a + 1)
                if (wea[byte_a])
                    store[addra][byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] <= dina[byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
    localparam LATENCY_A = READ_LATENCY_A > 1 ? READ_LATENCY_A : 1;
    reg [WIDTH*LATENCY_A-1:0] read_a = 0;
    reg [LATENCY_A-1:0] asked_a = 0;
    integer stage_a;
    wire writes_a = |wea;
    reg [WIDTH-1:0] now_a;
    integer own_a;
    always @* begin
        now_a = store[addra];
        for (own_a = 0; own_a < WIDTH / BYTE_WRITE_WIDTH_A; own_a = own_a + 1)
            if (WRITE_MODE_A == "write_first" && wea[own_a])
                now_a[own_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] = dina[own_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
    end
    always @(posedge clka) begin
        if (ena & ~(WRITE_MODE_A == "no_change" && writes_a)) read_a[WIDTH-1:0] <= now_a;
        asked_a <= {asked_a, ena};
        for (stage_a = 1; stage_a < LATENCY_A; stage_a = stage_a + 1)
            if (stage_a < LATENCY_A - 1 ? asked_a[stage_a-1] : regcea)
                read_a[stage_a*WIDTH +: WIDTH] <= read_a[(stage_a-1)*WIDTH +: WIDTH];
        if (rsta) read_a[WIDTH*LATENCY_A-1 -: WIDTH] <= 0;
    end
    assign douta = READ_LATENCY_A == 0 ? store[addra] : read_a[WIDTH*LATENCY_A-1 -: WIDTH];
    assign sbiterra = 1'b0, dbiterra = 1'b0;
endmodule

module xpm_memory_sdpram #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, BYTE_WRITE_WIDTH_A = 32, WRITE_DATA_WIDTH_A = 32, ADDR_WIDTH_B = 6, READ_DATA_WIDTH_B = 32,
    READ_LATENCY_B = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    WRITE_MODE_A = "read_first", READ_RESET_VALUE_B = "0", RST_MODE_B = "SYNC", WRITE_MODE_B = "read_first"
) (
    input wire sleep, input wire clka, input wire ena, input wire [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea,
    input wire [WRITE_DATA_WIDTH_A-1:0] dina, input wire injectsbiterra, input wire injectdbiterra,
    input wire [ADDR_WIDTH_A-1:0] addra, input wire clkb, input wire rstb, input wire regceb, input wire enb,
    input wire [ADDR_WIDTH_B-1:0] addrb, output wire [READ_DATA_WIDTH_B-1:0] doutb, output wire sbiterrb,
    output wire dbiterrb
);
    localparam LEAST_0 = WRITE_DATA_WIDTH_A, LEAST_1 = READ_DATA_WIDTH_B < LEAST_0 ? READ_DATA_WIDTH_B : LEAST_0;
    localparam PLACE = LEAST_1, PLACES = MEMORY_SIZE / PLACE;  // the lowest bits of a wide word are its first place
    if (WRITE_DATA_WIDTH_A % PLACE != 0 || READ_DATA_WIDTH_B % PLACE != 0)
        $error("the widths of this memory's ports are no multiples of each other");
    reg [PLACE-1:0] store [0:PLACES-1];
    integer i;
    initial begin
        for (i = 0; i < PLACES; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    reg [WRITE_DATA_WIDTH_A-1:0] mask_a;
    integer byte_a, put_a;
    always @* for (byte_a = 0; byte_a < WRITE_DATA_WIDTH_A / BYTE_WRITE_WIDTH_A; byte_a = byte_a + 1)
        mask_a[byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] = {BYTE_WRITE_WIDTH_A{wea[byte_a]}};
    always @(posedge clka)
        if (ena)
            for (put_a = 0; put_a < WRITE_DATA_WIDTH_A / PLACE; put_a = put_a + 1)
                if (|mask_a[put_a*PLACE +: PLACE])
                    store[addra * (WRITE_DATA_WIDTH_A / PLACE) + put_a] <= (dina[put_a*PLACE +: PLACE] & mask_a[put_a*PLACE +: PLACE])
                        | (store[addra * (WRITE_DATA_WIDTH_A / PLACE) + put_a] & ~mask_a[put_a*PLACE +: PLACE]);
    wire clock_b = CLOCKING_MODE == "independent_clock" ? clkb : clka;
    reg [READ_DATA_WIDTH_B-1:0] there_b;
    integer get_b;
    always @* for (get_b = 0; get_b < READ_DATA_WIDTH_B / PLACE; get_b = get_b + 1)
        there_b[get_b*PLACE +: PLACE] = store[addrb * (READ_DATA_WIDTH_B / PLACE) + get_b];
    localparam LATENCY_B = READ_LATENCY_B > 1 ? READ_LATENCY_B : 1;
    reg [READ_DATA_WIDTH_B*LATENCY_B-1:0] read_b = 0;
    reg [LATENCY_B-1:0] asked_b = 0;
    integer stage_b;
    always @(posedge clock_b) begin
        if (enb) read_b[READ_DATA_WIDTH_B-1:0] <= there_b;
        asked_b <= {asked_b, enb};
        for (stage_b = 1; stage_b < LATENCY_B; stage_b = stage_b + 1)
            if (stage_b < LATENCY_B - 1 ? asked_b[stage_b-1] : regceb)
                read_b[stage_b*READ_DATA_WIDTH_B +: READ_DATA_WIDTH_B] <= read_b[(stage_b-1)*READ_DATA_WIDTH_B +: READ_DATA_WIDTH_B];
        if (rstb) read_b[READ_DATA_WIDTH_B*LATENCY_B-1 -: READ_DATA_WIDTH_B] <= 0;
    end
    assign doutb = READ_LATENCY_B == 0 ? there_b : read_b[READ_DATA_WIDTH_B*LATENCY_B-1 -: READ_DATA_WIDTH_B];
    assign sbiterrb = 1'b0, dbiterrb = 1'b0;
endmodule

module xpm_memory_tdpram #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, BYTE_WRITE_WIDTH_A = 32, WRITE_DATA_WIDTH_A = 32, READ_DATA_WIDTH_A = 32, READ_LATENCY_A = 2,
    ADDR_WIDTH_B = 6, BYTE_WRITE_WIDTH_B = 32, WRITE_DATA_WIDTH_B = 32, READ_DATA_WIDTH_B = 32, READ_LATENCY_B = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    READ_RESET_VALUE_A = "0", RST_MODE_A = "SYNC", WRITE_MODE_A = "no_change", READ_RESET_VALUE_B = "0",
    RST_MODE_B = "SYNC", WRITE_MODE_B = "no_change"
) (
    input wire sleep, input wire clka, input wire rsta, input wire regcea, input wire ena,
    input wire [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea, input wire [WRITE_DATA_WIDTH_A-1:0] dina,
    input wire injectsbiterra, input wire injectdbiterra, input wire [ADDR_WIDTH_A-1:0] addra,
    output wire [READ_DATA_WIDTH_A-1:0] douta, output wire sbiterra, output wire dbiterra, input wire clkb,
    input wire rstb, input wire regceb, input wire enb, input wire [WRITE_DATA_WIDTH_B/BYTE_WRITE_WIDTH_B-1:0] web,
    input wire [WRITE_DATA_WIDTH_B-1:0] dinb, input wire injectsbiterrb, input wire injectdbiterrb,
    input wire [ADDR_WIDTH_B-1:0] addrb, output wire [READ_DATA_WIDTH_B-1:0] doutb, output wire sbiterrb,
    output wire dbiterrb
);
    localparam LEAST_0 = WRITE_DATA_WIDTH_A, LEAST_1 = READ_DATA_WIDTH_A < LEAST_0 ? READ_DATA_WIDTH_A : LEAST_0, LEAST_2 = WRITE_DATA_WIDTH_B < LEAST_1 ? WRITE_DATA_WIDTH_B : LEAST_1, LEAST_3 = READ_DATA_WIDTH_B < LEAST_2 ? READ_DATA_WIDTH_B : LEAST_2;
    localparam PLACE = LEAST_3, PLACES = MEMORY_SIZE / PLACE;  // the lowest bits of a wide word are its first place
    if (WRITE_DATA_WIDTH_A % PLACE != 0 || READ_DATA_WIDTH_A % PLACE != 0 || WRITE_DATA_WIDTH_B % PLACE != 0 || READ_DATA_WIDTH_B % PLACE != 0)
        $error("the widths of this memory's ports are no multiples of each other");
    reg [PLACE-1:0] store [0:PLACES-1];
    integer i;
    initial begin
        for (i = 0; i < PLACES; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    reg [WRITE_DATA_WIDTH_A-1:0] mask_a;
    integer byte_a, put_a;
    always @* for (byte_a = 0; byte_a < WRITE_DATA_WIDTH_A / BYTE_WRITE_WIDTH_A; byte_a = byte_a + 1)
        mask_a[byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] = {BYTE_WRITE_WIDTH_A{wea[byte_a]}};
    always @(posedge clka)
        if (ena)
            for (put_a = 0; put_a < WRITE_DATA_WIDTH_A / PLACE; put_a = put_a + 1)
                if (|mask_a[put_a*PLACE +: PLACE])
                    store[addra * (WRITE_DATA_WIDTH_A / PLACE) + put_a] <= (dina[put_a*PLACE +: PLACE] & mask_a[put_a*PLACE +: PLACE])
                        | (store[addra * (WRITE_DATA_WIDTH_A / PLACE) + put_a] & ~mask_a[put_a*PLACE +: PLACE]);
    reg [READ_DATA_WIDTH_A-1:0] there_a;
    integer get_a;
    always @* for (get_a = 0; get_a < READ_DATA_WIDTH_A / PLACE; get_a = get_a + 1)
        there_a[get_a*PLACE +: PLACE] = store[addra * (READ_DATA_WIDTH_A / PLACE) + get_a];
    localparam LATENCY_A = READ_LATENCY_A > 1 ? READ_LATENCY_A : 1;
    reg [READ_DATA_WIDTH_A*LATENCY_A-1:0] read_a = 0;
    reg [LATENCY_A-1:0] asked_a = 0;
    integer stage_a;
    wire writes_a = |wea;
    reg [READ_DATA_WIDTH_A-1:0] now_a;
    integer own_a;
    always @* begin  // what the same port writes is seen where its words are as wide
        now_a = there_a;
        for (own_a = 0; own_a < READ_DATA_WIDTH_A; own_a = own_a + 1)
            if (WRITE_MODE_A == "write_first" && READ_DATA_WIDTH_A == WRITE_DATA_WIDTH_A && mask_a[own_a])
                now_a[own_a] = dina[own_a];
    end
    always @(posedge clka) begin
        if (ena & ~(WRITE_MODE_A == "no_change" && writes_a)) read_a[READ_DATA_WIDTH_A-1:0] <= now_a;
        asked_a <= {asked_a, ena};
        for (stage_a = 1; stage_a < LATENCY_A; stage_a = stage_a + 1)
            if (stage_a < LATENCY_A - 1 ? asked_a[stage_a-1] : regcea)
                read_a[stage_a*READ_DATA_WIDTH_A +: READ_DATA_WIDTH_A] <= read_a[(stage_a-1)*READ_DATA_WIDTH_A +: READ_DATA_WIDTH_A];
        if (rsta) read_a[READ_DATA_WIDTH_A*LATENCY_A-1 -: READ_DATA_WIDTH_A] <= 0;
    end
    assign douta = READ_LATENCY_A == 0 ? there_a : read_a[READ_DATA_WIDTH_A*LATENCY_A-1 -: READ_DATA_WIDTH_A];
    assign sbiterra = 1'b0, dbiterra = 1'b0;
    wire clock_b = CLOCKING_MODE == "independent_clock" ? clkb : clka;
    reg [WRITE_DATA_WIDTH_B-1:0] mask_b;
    integer byte_b, put_b;
    always @* for (byte_b = 0; byte_b < WRITE_DATA_WIDTH_B / BYTE_WRITE_WIDTH_B; byte_b = byte_b + 1)
        mask_b[byte_b*BYTE_WRITE_WIDTH_B +: BYTE_WRITE_WIDTH_B] = {BYTE_WRITE_WIDTH_B{web[byte_b]}};
    always @(posedge clock_b)
        if (enb)
            for (put_b = 0; put_b < WRITE_DATA_WIDTH_B / PLACE; put_b = put_b + 1)
                if (|mask_b[put_b*PLACE +: PLACE])
                    store[addrb * (WRITE_DATA_WIDTH_B / PLACE) + put_b] <= (dinb[put_b*PLACE +: PLACE] & mask_b[put_b*PLACE +: PLACE])
                        | (store[addrb * (WRITE_DATA_WIDTH_B / PLACE) + put_b] & ~mask_b[put_b*PLACE +: PLACE]);
    reg [READ_DATA_WIDTH_B-1:0] there_b;
    integer get_b;
    always @* for (get_b = 0; get_b < READ_DATA_WIDTH_B / PLACE; get_b = get_b + 1)
        there_b[get_b*PLACE +: PLACE] = store[addrb * (READ_DATA_WIDTH_B / PLACE) + get_b];
    localparam LATENCY_B = READ_LATENCY_B > 1 ? READ_LATENCY_B : 1;
    reg [READ_DATA_WIDTH_B*LATENCY_B-1:0] read_b = 0;
    reg [LATENCY_B-1:0] asked_b = 0;
    integer stage_b;
    wire writes_b = |web;
    reg [READ_DATA_WIDTH_B-1:0] now_b;
    integer own_b;
    always @* begin  // what the same port writes is seen where its words are as wide
        now_b = there_b;
        for (own_b = 0; own_b < READ_DATA_WIDTH_B; own_b = own_b + 1)
            if (WRITE_MODE_B == "write_first" && READ_DATA_WIDTH_B == WRITE_DATA_WIDTH_B && mask_b[own_b])
                now_b[own_b] = dinb[own_b];
    end
    always @(posedge clock_b) begin
        if (enb & ~(WRITE_MODE_B == "no_change" && writes_b)) read_b[READ_DATA_WIDTH_B-1:0] <= now_b;
        asked_b <= {asked_b, enb};
        for (stage_b = 1; stage_b < LATENCY_B; stage_b = stage_b + 1)
            if (stage_b < LATENCY_B - 1 ? asked_b[stage_b-1] : regceb)
                read_b[stage_b*READ_DATA_WIDTH_B +: READ_DATA_WIDTH_B] <= read_b[(stage_b-1)*READ_DATA_WIDTH_B +: READ_DATA_WIDTH_B];
        if (rstb) read_b[READ_DATA_WIDTH_B*LATENCY_B-1 -: READ_DATA_WIDTH_B] <= 0;
    end
    assign doutb = READ_LATENCY_B == 0 ? there_b : read_b[READ_DATA_WIDTH_B*LATENCY_B-1 -: READ_DATA_WIDTH_B];
    assign sbiterrb = 1'b0, dbiterrb = 1'b0;
endmodule

module xpm_memory_dpdistram #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, BYTE_WRITE_WIDTH_A = 32, WRITE_DATA_WIDTH_A = 32, READ_DATA_WIDTH_A = 32, READ_LATENCY_A = 2,
    ADDR_WIDTH_B = 6, READ_DATA_WIDTH_B = 32, READ_LATENCY_B = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    READ_RESET_VALUE_A = "0", RST_MODE_A = "SYNC", WRITE_MODE_A = "no_change", READ_RESET_VALUE_B = "0",
    RST_MODE_B = "SYNC", WRITE_MODE_B = "read_first"
) (
    input wire sleep, input wire clka, input wire rsta, input wire regcea, input wire ena,
    input wire [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea, input wire [WRITE_DATA_WIDTH_A-1:0] dina,
    input wire injectsbiterra, input wire injectdbiterra, input wire [ADDR_WIDTH_A-1:0] addra,
    output wire [READ_DATA_WIDTH_A-1:0] douta, output wire sbiterra, output wire dbiterra, input wire clkb,
    input wire rstb, input wire regceb, input wire enb, input wire [ADDR_WIDTH_B-1:0] addrb,
    output wire [READ_DATA_WIDTH_B-1:0] doutb, output wire sbiterrb, output wire dbiterrb
);
    localparam WIDTH = WRITE_DATA_WIDTH_A, WORDS = MEMORY_SIZE / WIDTH;
    if (READ_DATA_WIDTH_A != WIDTH || READ_DATA_WIDTH_B != WIDTH)
        $error("the stand-in for this memory has words of one width at all its ports");
    reg [WIDTH-1:0] store [0:WORDS-1];
    integer i;
    initial begin
        for (i = 0; i < WORDS; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    integer byte_a;
    always @(posedge clka)
        if (ena)
            for (byte_a = 0; byte_a < WIDTH / BYTE_WRITE_WIDTH_A; byte_a = byte_a + 1)
                if (wea[byte_a])
                    store[addra][byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] <= dina[byte_a*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
    localparam LATENCY_A = READ_LATENCY_A > 1 ? READ_LATENCY_A : 1;
    reg [WIDTH*LATENCY_A-1:0] read_a = 0;
    reg [LATENCY_A-1:0] asked_a = 0;
    integer stage_a;
    always @(posedge clka) begin
        if (ena) read_a[WIDTH-1:0] <= store[addra];
        asked_a <= {asked_a, ena};
        for (stage_a = 1; stage_a < LATENCY_A; stage_a = stage_a + 1)
            if (stage_a < LATENCY_A - 1 ? asked_a[stage_a-1] : regcea)
                read_a[stage_a*WIDTH +: WIDTH] <= read_a[(stage_a-1)*WIDTH +: WIDTH];
        if (rsta) read_a[WIDTH*LATENCY_A-1 -: WIDTH] <= 0;
    end
    assign douta = READ_LATENCY_A == 0 ? store[addra] : read_a[WIDTH*LATENCY_A-1 -: WIDTH];
    assign sbiterra = 1'b0, dbiterra = 1'b0;
    wire clock_b = CLOCKING_MODE == "independent_clock" ? clkb : clka;
    localparam LATENCY_B = READ_LATENCY_B > 1 ? READ_LATENCY_B : 1;
    reg [WIDTH*LATENCY_B-1:0] read_b = 0;
    reg [LATENCY_B-1:0] asked_b = 0;
    integer stage_b;
    always @(posedge clock_b) begin
        if (enb) read_b[WIDTH-1:0] <= store[addrb];
        asked_b <= {asked_b, enb};
        for (stage_b = 1; stage_b < LATENCY_B; stage_b = stage_b + 1)
            if (stage_b < LATENCY_B - 1 ? asked_b[stage_b-1] : regceb)
                read_b[stage_b*WIDTH +: WIDTH] <= read_b[(stage_b-1)*WIDTH +: WIDTH];
        if (rstb) read_b[WIDTH*LATENCY_B-1 -: WIDTH] <= 0;
    end
    assign doutb = READ_LATENCY_B == 0 ? store[addrb] : read_b[WIDTH*LATENCY_B-1 -: WIDTH];
    assign sbiterrb = 1'b0, dbiterrb = 1'b0;
endmodule

module xpm_memory_sprom #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, READ_DATA_WIDTH_A = 32, READ_LATENCY_A = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    READ_RESET_VALUE_A = "0", RST_MODE_A = "SYNC", WRITE_MODE_A = "read_first"
) (
    input wire sleep, input wire clka, input wire rsta, input wire regcea, input wire ena,
    input wire [ADDR_WIDTH_A-1:0] addra, output wire [READ_DATA_WIDTH_A-1:0] douta, output wire sbiterra,
    output wire dbiterra
);
    localparam WIDTH = READ_DATA_WIDTH_A, WORDS = MEMORY_SIZE / WIDTH;
    reg [WIDTH-1:0] store [0:WORDS-1];
    integer i;
    initial begin
        for (i = 0; i < WORDS; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    localparam LATENCY_A = READ_LATENCY_A > 1 ? READ_LATENCY_A : 1;
    reg [WIDTH*LATENCY_A-1:0] read_a = 0;
    reg [LATENCY_A-1:0] asked_a = 0;
    integer stage_a;
    always @(posedge clka) begin
        if (ena) read_a[WIDTH-1:0] <= store[addra];
        asked_a <= {asked_a, ena};
        for (stage_a = 1; stage_a < LATENCY_A; stage_a = stage_a + 1)
            if (stage_a < LATENCY_A - 1 ? asked_a[stage_a-1] : regcea)
                read_a[stage_a*WIDTH +: WIDTH] <= read_a[(stage_a-1)*WIDTH +: WIDTH];
        if (rsta) read_a[WIDTH*LATENCY_A-1 -: WIDTH] <= 0;
    end
    assign douta = READ_LATENCY_A == 0 ? store[addra] : read_a[WIDTH*LATENCY_A-1 -: WIDTH];
    assign sbiterra = 1'b0, dbiterra = 1'b0;
endmodule

module xpm_memory_dprom #(
    parameter integer AUTO_SLEEP_TIME = 0, CASCADE_HEIGHT = 0, MEMORY_SIZE = 2048, MESSAGE_CONTROL = 0, SIM_ASSERT_CHK = 0,
    USE_MEM_INIT = 1, USE_MEM_INIT_MMI = 0, WRITE_PROTECT = 1,
    ADDR_WIDTH_A = 6, READ_DATA_WIDTH_A = 32, READ_LATENCY_A = 2, ADDR_WIDTH_B = 6, READ_DATA_WIDTH_B = 32,
    READ_LATENCY_B = 2,
    parameter CLOCKING_MODE = "common_clock", ECC_BIT_RANGE = "7:0", ECC_MODE = "no_ecc", ECC_TYPE = "none",
    IGNORE_INIT_SYNTH = "0", MEMORY_INIT_FILE = "none", MEMORY_INIT_PARAM = "0", MEMORY_OPTIMIZATION = "true",
    MEMORY_PRIMITIVE = "auto", RAM_DECOMP = "auto", USE_EMBEDDED_CONSTRAINT = 0, WAKEUP_TIME = "disable_sleep",
    READ_RESET_VALUE_A = "0", RST_MODE_A = "SYNC", WRITE_MODE_A = "read_first", READ_RESET_VALUE_B = "0",
    RST_MODE_B = "SYNC", WRITE_MODE_B = "read_first"
) (
    input wire sleep, input wire clka, input wire rsta, input wire regcea, input wire ena,
    input wire [ADDR_WIDTH_A-1:0] addra, output wire [READ_DATA_WIDTH_A-1:0] douta, output wire sbiterra,
    output wire dbiterra, input wire clkb, input wire rstb, input wire regceb, input wire enb,
    input wire [ADDR_WIDTH_B-1:0] addrb, output wire [READ_DATA_WIDTH_B-1:0] doutb, output wire sbiterrb,
    output wire dbiterrb
);
    localparam WIDTH = READ_DATA_WIDTH_A, WORDS = MEMORY_SIZE / WIDTH;
    if (READ_DATA_WIDTH_B != WIDTH)
        $error("the stand-in for this memory has words of one width at all its ports");
    reg [WIDTH-1:0] store [0:WORDS-1];
    integer i;
    initial begin
        for (i = 0; i < WORDS; i = i + 1) store[i] = 0;
    end
    if (MEMORY_INIT_FILE != "none") begin : from_file
        initial $readmemh(MEMORY_INIT_FILE, store);
    end else if (MEMORY_INIT_PARAM != "0" && MEMORY_INIT_PARAM != "") begin : from_text
        integer at, word;
        reg [7:0] letter;
        initial begin
            word = 0;
            for (at = $bits(MEMORY_INIT_PARAM) / 8 - 1; at >= 0; at = at - 1) begin
                letter = MEMORY_INIT_PARAM[8*at +: 8];
                if (letter == ",") word = word + 1;
                else store[word] = (store[word] << 4) | ((letter & 8'd15) + (letter > "9" ? 8'd9 : 8'd0));
            end
        end
    end
    localparam LATENCY_A = READ_LATENCY_A > 1 ? READ_LATENCY_A : 1;
    reg [WIDTH*LATENCY_A-1:0] read_a = 0;
    reg [LATENCY_A-1:0] asked_a = 0;
    integer stage_a;
    always @(posedge clka) begin
        if (ena) read_a[WIDTH-1:0] <= store[addra];
        asked_a <= {asked_a, ena};
        for (stage_a = 1; stage_a < LATENCY_A; stage_a = stage_a + 1)
            if (stage_a < LATENCY_A - 1 ? asked_a[stage_a-1] : regcea)
                read_a[stage_a*WIDTH +: WIDTH] <= read_a[(stage_a-1)*WIDTH +: WIDTH];
        if (rsta) read_a[WIDTH*LATENCY_A-1 -: WIDTH] <= 0;
    end
    assign douta = READ_LATENCY_A == 0 ? store[addra] : read_a[WIDTH*LATENCY_A-1 -: WIDTH];
    assign sbiterra = 1'b0, dbiterra = 1'b0;
    wire clock_b = CLOCKING_MODE == "independent_clock" ? clkb : clka;
    localparam LATENCY_B = READ_LATENCY_B > 1 ? READ_LATENCY_B : 1;
    reg [WIDTH*LATENCY_B-1:0] read_b = 0;
    reg [LATENCY_B-1:0] asked_b = 0;
    integer stage_b;
    always @(posedge clock_b) begin
        if (enb) read_b[WIDTH-1:0] <= store[addrb];
        asked_b <= {asked_b, enb};
        for (stage_b = 1; stage_b < LATENCY_B; stage_b = stage_b + 1)
            if (stage_b < LATENCY_B - 1 ? asked_b[stage_b-1] : regceb)
                read_b[stage_b*WIDTH +: WIDTH] <= read_b[(stage_b-1)*WIDTH +: WIDTH];
        if (rstb) read_b[WIDTH*LATENCY_B-1 -: WIDTH] <= 0;
    end
    assign doutb = READ_LATENCY_B == 0 ? store[addrb] : read_b[WIDTH*LATENCY_B-1 -: WIDTH];
    assign sbiterrb = 1'b0, dbiterrb = 1'b0;
endmodule
