-- Stand-ins for AMD's Xilinx Parameterized Macros (UG974) in simulation, as those in Verilog beside this file: what they
-- do, without sleep and checks; ECC finds no error. Each entity is taken by itself, with those that it instantiates.

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_single is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        SRC_INPUT_REG : integer := 1;
        VERSION : integer := 0
    );
    port (
        src_clk : in std_logic := '0';
        src_in : in std_logic;
        dest_clk : in std_logic;
        dest_out : out std_logic
    );
end entity;
architecture recap of xpm_cdc_single is
    signal held, crosses : std_logic := '0';
    signal stages : std_logic_vector(DEST_SYNC_FF-1 downto 0) := (others => '0');
begin
    process (src_clk) begin
        if rising_edge(src_clk) then
            held <= src_in;
        end if;
    end process;
    crosses <= held when SRC_INPUT_REG /= 0 else src_in;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            stages <= stages(DEST_SYNC_FF-2 downto 0) & crosses;
        end if;
    end process;
    dest_out <= stages(DEST_SYNC_FF-1);
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_array_single is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        SRC_INPUT_REG : integer := 1;
        VERSION : integer := 0;
        WIDTH : integer := 2
    );
    port (
        src_clk : in std_logic := '0';
        src_in : in std_logic_vector(WIDTH-1 downto 0);
        dest_clk : in std_logic;
        dest_out : out std_logic_vector(WIDTH-1 downto 0)
    );
end entity;
architecture recap of xpm_cdc_array_single is
    type several is array (0 to DEST_SYNC_FF-1) of std_logic_vector(WIDTH-1 downto 0);
    signal stages : several := (others => (others => '0'));
    signal held, crosses : std_logic_vector(WIDTH-1 downto 0) := (others => '0');
begin
    process (src_clk) begin
        if rising_edge(src_clk) then
            held <= src_in;
        end if;
    end process;
    crosses <= held when SRC_INPUT_REG /= 0 else src_in;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            stages(0) <= crosses;
            for i in 1 to DEST_SYNC_FF-1 loop
                stages(i) <= stages(i-1);
            end loop;
        end if;
    end process;
    dest_out <= stages(DEST_SYNC_FF-1);
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_gray is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        REG_OUTPUT : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        SIM_LOSSLESS_GRAY_CHK : integer := 0;
        VERSION : integer := 0;
        WIDTH : integer := 2
    );
    port (
        src_clk : in std_logic;
        src_in_bin : in std_logic_vector(WIDTH-1 downto 0);
        dest_clk : in std_logic;
        dest_out_bin : out std_logic_vector(WIDTH-1 downto 0)
    );
end entity;
architecture recap of xpm_cdc_gray is
    type several is array (0 to DEST_SYNC_FF-1) of std_logic_vector(WIDTH-1 downto 0);
    signal stages : several := (others => (others => '0'));
    signal crosses, number, held : std_logic_vector(WIDTH-1 downto 0) := (others => '0');
begin
    process (src_clk) begin
        if rising_edge(src_clk) then
            crosses <= src_in_bin xor ('0' & src_in_bin(WIDTH-1 downto 1));
        end if;
    end process;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            stages(0) <= crosses;
            for i in 1 to DEST_SYNC_FF-1 loop
                stages(i) <= stages(i-1);
            end loop;
        end if;
    end process;
    process (stages)
        variable bit_above : std_logic;
    begin
        bit_above := '0';
        for i in WIDTH-1 downto 0 loop
            bit_above := bit_above xor stages(DEST_SYNC_FF-1)(i);
            number(i) <= bit_above;
        end loop;
    end process;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            held <= number;
        end if;
    end process;
    dest_out_bin <= held when REG_OUTPUT /= 0 else number;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_pulse is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        REG_OUTPUT : integer := 0;
        RST_USED : integer := 1;
        SIM_ASSERT_CHK : integer := 0;
        VERSION : integer := 0
    );
    port (
        src_clk : in std_logic;
        src_rst : in std_logic := '0';
        src_pulse : in std_logic;
        dest_clk : in std_logic;
        dest_rst : in std_logic := '0';
        dest_pulse : out std_logic
    );
end entity;
architecture recap of xpm_cdc_pulse is
    signal was, toggled, last, held, came : std_logic := '0';
    signal stages : std_logic_vector(DEST_SYNC_FF-1 downto 0) := (others => '0');
begin
    came <= stages(DEST_SYNC_FF-1) xor last;
    process (src_clk) begin
        if rising_edge(src_clk) then
            if RST_USED /= 0 and src_rst = '1' then
                was <= '0';
                toggled <= '0';
            else
                was <= src_pulse;
                toggled <= toggled xor (src_pulse and not was);
            end if;
        end if;
    end process;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            if RST_USED /= 0 and dest_rst = '1' then
                stages <= (others => '0');
                last <= '0';
                held <= '0';
            else
                stages <= stages(DEST_SYNC_FF-2 downto 0) & toggled;
                last <= stages(DEST_SYNC_FF-1);
                held <= came;
            end if;
        end if;
    end process;
    dest_pulse <= held when REG_OUTPUT /= 0 else came;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_handshake is
    generic (
        DEST_EXT_HSK : integer := 1;
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        SRC_SYNC_FF : integer := 4;
        VERSION : integer := 0;
        WIDTH : integer := 1
    );
    port (
        src_clk : in std_logic;
        src_in : in std_logic_vector(WIDTH-1 downto 0);
        src_send : in std_logic;
        src_rcv : out std_logic;
        dest_clk : in std_logic;
        dest_out : out std_logic_vector(WIDTH-1 downto 0);
        dest_req : out std_logic;
        dest_ack : in std_logic := '0'
    );
end entity;
architecture recap of xpm_cdc_handshake is
    signal held, there_word : std_logic_vector(WIDTH-1 downto 0) := (others => '0');
    signal sends, acks, asks, answer : std_logic := '0';
    signal there : std_logic_vector(DEST_SYNC_FF-1 downto 0) := (others => '0');
    signal back : std_logic_vector(SRC_SYNC_FF-1 downto 0) := (others => '0');
begin
    answer <= acks when DEST_EXT_HSK /= 0 else asks;
    process (src_clk) begin
        if rising_edge(src_clk) then
            if src_send = '1' and sends = '0' then
                held <= src_in;
            end if;
            sends <= src_send;
            back <= back(SRC_SYNC_FF-2 downto 0) & answer;
        end if;
    end process;
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            there <= there(DEST_SYNC_FF-2 downto 0) & sends;
            asks <= there(DEST_SYNC_FF-1);
            if there(DEST_SYNC_FF-1) = '1' and asks = '0' then
                there_word <= held;
            end if;
            acks <= dest_ack;
        end if;
    end process;
    src_rcv <= back(SRC_SYNC_FF-1);
    dest_req <= asks;
    dest_out <= there_word;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_sync_rst is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT : integer := 1;
        INIT_SYNC_FF : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        VERSION : integer := 0
    );
    port (
        src_rst : in std_logic;
        dest_clk : in std_logic;
        dest_rst : out std_logic
    );
end entity;
architecture recap of xpm_cdc_sync_rst is
    function first return std_logic is begin
        if INIT /= 0 then
            return '1';
        end if;
        return '0';
    end function;
    signal stages : std_logic_vector(DEST_SYNC_FF-1 downto 0) := (others => first);
begin
    process (dest_clk) begin
        if rising_edge(dest_clk) then
            stages <= stages(DEST_SYNC_FF-2 downto 0) & src_rst;
        end if;
    end process;
    dest_rst <= stages(DEST_SYNC_FF-1);
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_cdc_async_rst is
    generic (
        DEST_SYNC_FF : integer := 4;
        INIT_SYNC_FF : integer := 0;
        RST_ACTIVE_HIGH : integer := 0;
        VERSION : integer := 0
    );
    port (
        src_arst : in std_logic;
        dest_clk : in std_logic;
        dest_arst : out std_logic
    );
end entity;
architecture recap of xpm_cdc_async_rst is
    signal asks : std_logic;
    signal stages : std_logic_vector(DEST_SYNC_FF-1 downto 0) := (others => '0');
begin
    asks <= src_arst when RST_ACTIVE_HIGH /= 0 else not src_arst;
    process (dest_clk, asks) begin
        if asks = '1' then
            stages <= (others => '1');
        elsif rising_edge(dest_clk) then
            stages <= stages(DEST_SYNC_FF-2 downto 0) & '0';
        end if;
    end process;
    dest_arst <= stages(DEST_SYNC_FF-1) when RST_ACTIVE_HIGH /= 0 else not stages(DEST_SYNC_FF-1);
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity recap_xpm_fifo is
    generic (
        FIFO_READ_LATENCY : integer := 1;
        FIFO_WRITE_DEPTH : integer := 2048;
        PROG_EMPTY_THRESH : integer := 10;
        PROG_FULL_THRESH : integer := 10;
        RD_DATA_COUNT_WIDTH : integer := 1;
        READ_DATA_WIDTH : integer := 32;
        WRITE_DATA_WIDTH : integer := 32;
        WR_DATA_COUNT_WIDTH : integer := 1;
        STAGES : integer := 0;
        READ_MODE : string := "std"
    );
    port (
        rst : in std_logic;
        wr_clk : in std_logic;
        wr_en : in std_logic;
        din : in std_logic_vector(WRITE_DATA_WIDTH-1 downto 0);
        rd_clk : in std_logic;
        full : out std_logic;
        prog_full : out std_logic;
        wr_data_count : out std_logic_vector(WR_DATA_COUNT_WIDTH-1 downto 0);
        overflow : out std_logic;
        wr_rst_busy : out std_logic;
        almost_full : out std_logic;
        wr_ack : out std_logic;
        rd_en : in std_logic;
        dout : out std_logic_vector(READ_DATA_WIDTH-1 downto 0);
        empty : out std_logic;
        prog_empty : out std_logic;
        rd_data_count : out std_logic_vector(RD_DATA_COUNT_WIDTH-1 downto 0);
        underflow : out std_logic;
        rd_rst_busy : out std_logic;
        almost_empty : out std_logic;
        data_valid : out std_logic
    );
end entity;
architecture recap of recap_xpm_fifo is
    function log2(number : integer) return integer is
        variable bits, power : integer;
    begin
        bits := 0;
        power := 1;
        for i in 1 to 31 loop
            if power < number then
                power := power * 2;
                bits := bits + 1;
            end if;
        end loop;
        return bits;
    end function;
    function least(one, other : integer) return integer is begin
        if one < other then
            return one;
        end if;
        return other;
    end function;
    function bit_of(one : boolean) return std_logic is begin
        if one then
            return '1';
        end if;
        return '0';
    end function;
    -- Places hold what the narrower side moves; the lowest bits of a wide word are its first place.
    constant PLACE : integer := least(READ_DATA_WIDTH, WRITE_DATA_WIDTH);
    constant INTO : integer := WRITE_DATA_WIDTH / PLACE;
    constant OUT_OF : integer := READ_DATA_WIDTH / PLACE;
    constant DEPTH : integer := FIFO_WRITE_DEPTH * INTO;
    constant PLACES : integer := log2(DEPTH);
    constant IN_BITS : integer := log2(FIFO_WRITE_DEPTH) + 1;
    constant OUT_BITS : integer := log2(DEPTH / OUT_OF) + 1;
    type memory is array (0 to DEPTH-1) of std_logic_vector(PLACE-1 downto 0);
    type words is array (0 to FIFO_READ_LATENCY) of std_logic_vector(READ_DATA_WIDTH-1 downto 0);
    type counts is array (0 to STAGES) of unsigned(PLACES downto 0);
    signal store : memory := (others => (others => '0'));
    signal put, get, put_seen, get_seen, level, held : unsigned(PLACES downto 0) := (others => '0');
    signal put_there, get_there : counts := (others => (others => '0'));
    signal first : std_logic_vector(READ_DATA_WIDTH-1 downto 0);
    signal read : words := (others => (others => '0'));
    signal valid : std_logic_vector(FIFO_READ_LATENCY downto 0) := (others => '0');
    signal resets, read_resets : std_logic_vector(2 downto 0) := "000";
    signal reset_there : std_logic_vector(1 downto 0) := "00";
    signal writes, reads, is_full, is_empty, in_reset, out_reset, out_busy : std_logic;
    signal overflows, underflows, acks : std_logic := '0';
begin
    -- A side sees how far the other has come some cycles later where their clocks are apart.
    process (wr_clk) begin
        if rising_edge(wr_clk) then
            get_there(0) <= get;
            for i in 1 to STAGES loop
                get_there(i) <= get_there(i-1);
            end loop;
        end if;
    end process;
    process (rd_clk) begin
        if rising_edge(rd_clk) then
            reset_there <= reset_there(0) & rst;
            put_there(0) <= put;
            for i in 1 to STAGES loop
                put_there(i) <= put_there(i-1);
            end loop;
        end if;
    end process;
    put_seen <= put when STAGES = 0 else put_there(STAGES);
    get_seen <= get when STAGES = 0 else get_there(STAGES);
    out_reset <= rst when STAGES = 0 else reset_there(1);
    level <= put - get_seen;
    held <= put_seen - get;
    in_reset <= rst or resets(0) or resets(1) or resets(2);
    out_busy <= out_reset or read_resets(0) or read_resets(1) or read_resets(2);
    is_full <= bit_of(to_integer(level) > DEPTH - INTO) or in_reset;
    is_empty <= bit_of(to_integer(held) < OUT_OF) or out_busy;
    writes <= wr_en and not is_full;
    reads <= rd_en and not is_empty;
    process (wr_clk) begin
        if rising_edge(wr_clk) then
            resets <= resets(1 downto 0) & rst;
            overflows <= wr_en and is_full;
            acks <= writes;
            if rst = '1' then
                put <= (others => '0');
            elsif writes = '1' then
                put <= put + INTO;
            end if;
        end if;
    end process;
    as_wide : if INTO = 1 generate
        process (wr_clk) begin
            if rising_edge(wr_clk) then
                if writes = '1' then
                    store(to_integer(put(PLACES-1 downto 0))) <= din;
                end if;
            end if;
        end process;
    end generate;
    wider : if INTO > 1 generate
        process (wr_clk) begin
            if rising_edge(wr_clk) then
                if writes = '1' then
                    for i in 0 to INTO-1 loop
                        store(to_integer(put(PLACES-1 downto 0)) + i) <= din(i*PLACE+PLACE-1 downto i*PLACE);
                    end loop;
                end if;
            end if;
        end process;
    end generate;
    parts : for i in 0 to OUT_OF-1 generate
        first(i*PLACE+PLACE-1 downto i*PLACE) <= store((to_integer(get(PLACES-1 downto 0)) + i) mod DEPTH);
    end generate;
    process (rd_clk) begin
        if rising_edge(rd_clk) then
            read_resets <= read_resets(1 downto 0) & out_reset;
            underflows <= rd_en and is_empty;
            valid(0) <= reads;
            if reads = '1' then
                read(0) <= first;
            end if;
            for i in 1 to FIFO_READ_LATENCY loop
                read(i) <= read(i-1);
                valid(i) <= valid(i-1);
            end loop;
            if out_reset = '1' then
                get <= (others => '0');
            elsif reads = '1' then
                get <= get + OUT_OF;
            end if;
        end if;
    end process;
    full <= is_full;
    empty <= is_empty;
    overflow <= overflows;
    underflow <= underflows;
    wr_ack <= acks;
    wr_rst_busy <= in_reset;
    rd_rst_busy <= out_busy;
    almost_full <= bit_of(to_integer(level) > DEPTH - 2 * INTO) or in_reset;
    almost_empty <= bit_of(to_integer(held) < 2 * OUT_OF) or out_busy;
    prog_full <= bit_of(to_integer(level) / INTO >= PROG_FULL_THRESH);
    prog_empty <= bit_of(to_integer(held) / OUT_OF <= PROG_EMPTY_THRESH);
    wr_data_count <= std_logic_vector(resize(shift_right(resize(level, 32), log2(INTO) + IN_BITS - least(IN_BITS,
        WR_DATA_COUNT_WIDTH)), WR_DATA_COUNT_WIDTH));
    rd_data_count <= std_logic_vector(resize(shift_right(resize(held, 32), log2(OUT_OF) + OUT_BITS - least(OUT_BITS,
        RD_DATA_COUNT_WIDTH)), RD_DATA_COUNT_WIDTH));
    early : if READ_MODE = "fwft" generate
        dout <= first;
        data_valid <= not is_empty;
    end generate;
    later : if READ_MODE /= "fwft" generate
        dout <= read(FIFO_READ_LATENCY - 1);
        data_valid <= valid(FIFO_READ_LATENCY - 1);
    end generate;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_fifo_sync is
    generic (
        FIFO_READ_LATENCY : integer := 1;
        FIFO_WRITE_DEPTH : integer := 2048;
        PROG_EMPTY_THRESH : integer := 10;
        PROG_FULL_THRESH : integer := 10;
        RD_DATA_COUNT_WIDTH : integer := 1;
        READ_DATA_WIDTH : integer := 32;
        WRITE_DATA_WIDTH : integer := 32;
        WR_DATA_COUNT_WIDTH : integer := 1;
        CASCADE_HEIGHT : integer := 0;
        FULL_RESET_VALUE : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        WAKEUP_TIME : integer := 0;
        READ_MODE : string := "std";
        DOUT_RESET_VALUE : string := "0";
        ECC_MODE : string := "no_ecc";
        EN_SIM_ASSERT_ERR : string := "warning";
        FIFO_MEMORY_TYPE : string := "auto";
        USE_ADV_FEATURES : string := "0707"
    );
    port (
        sleep : in std_logic := '0';
        rst : in std_logic;
        wr_clk : in std_logic;
        wr_en : in std_logic;
        din : in std_logic_vector(WRITE_DATA_WIDTH-1 downto 0);
        full : out std_logic;
        prog_full : out std_logic;
        wr_data_count : out std_logic_vector(WR_DATA_COUNT_WIDTH-1 downto 0);
        overflow : out std_logic;
        wr_rst_busy : out std_logic;
        almost_full : out std_logic;
        wr_ack : out std_logic;
        rd_en : in std_logic;
        dout : out std_logic_vector(READ_DATA_WIDTH-1 downto 0);
        empty : out std_logic;
        prog_empty : out std_logic;
        rd_data_count : out std_logic_vector(RD_DATA_COUNT_WIDTH-1 downto 0);
        underflow : out std_logic;
        rd_rst_busy : out std_logic;
        almost_empty : out std_logic;
        data_valid : out std_logic;
        injectsbiterr : in std_logic := '0';
        injectdbiterr : in std_logic := '0';
        sbiterr : out std_logic;
        dbiterr : out std_logic
    );
end entity;
architecture recap of xpm_fifo_sync is
begin
    held : entity work.recap_xpm_fifo generic map (FIFO_READ_LATENCY => FIFO_READ_LATENCY,
        FIFO_WRITE_DEPTH => FIFO_WRITE_DEPTH, PROG_EMPTY_THRESH => PROG_EMPTY_THRESH,
        PROG_FULL_THRESH => PROG_FULL_THRESH, RD_DATA_COUNT_WIDTH => RD_DATA_COUNT_WIDTH,
        READ_DATA_WIDTH => READ_DATA_WIDTH, WRITE_DATA_WIDTH => WRITE_DATA_WIDTH,
        WR_DATA_COUNT_WIDTH => WR_DATA_COUNT_WIDTH, READ_MODE => READ_MODE, STAGES => 0)
        port map (rst => rst, wr_clk => wr_clk, wr_en => wr_en, din => din, full => full, prog_full => prog_full,
            wr_data_count => wr_data_count, overflow => overflow, wr_rst_busy => wr_rst_busy,
            almost_full => almost_full, wr_ack => wr_ack, rd_en => rd_en, dout => dout, empty => empty,
            prog_empty => prog_empty, rd_data_count => rd_data_count, underflow => underflow,
            rd_rst_busy => rd_rst_busy, almost_empty => almost_empty, data_valid => data_valid, rd_clk => wr_clk);
    sbiterr <= '0';
    dbiterr <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_fifo_async is
    generic (
        FIFO_READ_LATENCY : integer := 1;
        FIFO_WRITE_DEPTH : integer := 2048;
        PROG_EMPTY_THRESH : integer := 10;
        PROG_FULL_THRESH : integer := 10;
        RD_DATA_COUNT_WIDTH : integer := 1;
        READ_DATA_WIDTH : integer := 32;
        WRITE_DATA_WIDTH : integer := 32;
        WR_DATA_COUNT_WIDTH : integer := 1;
        CASCADE_HEIGHT : integer := 0;
        FULL_RESET_VALUE : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        WAKEUP_TIME : integer := 0;
        CDC_SYNC_STAGES : integer := 2;
        RELATED_CLOCKS : integer := 0;
        READ_MODE : string := "std";
        DOUT_RESET_VALUE : string := "0";
        ECC_MODE : string := "no_ecc";
        EN_SIM_ASSERT_ERR : string := "warning";
        FIFO_MEMORY_TYPE : string := "auto";
        USE_ADV_FEATURES : string := "0707"
    );
    port (
        sleep : in std_logic := '0';
        rst : in std_logic;
        wr_clk : in std_logic;
        wr_en : in std_logic;
        din : in std_logic_vector(WRITE_DATA_WIDTH-1 downto 0);
        rd_clk : in std_logic;
        full : out std_logic;
        prog_full : out std_logic;
        wr_data_count : out std_logic_vector(WR_DATA_COUNT_WIDTH-1 downto 0);
        overflow : out std_logic;
        wr_rst_busy : out std_logic;
        almost_full : out std_logic;
        wr_ack : out std_logic;
        rd_en : in std_logic;
        dout : out std_logic_vector(READ_DATA_WIDTH-1 downto 0);
        empty : out std_logic;
        prog_empty : out std_logic;
        rd_data_count : out std_logic_vector(RD_DATA_COUNT_WIDTH-1 downto 0);
        underflow : out std_logic;
        rd_rst_busy : out std_logic;
        almost_empty : out std_logic;
        data_valid : out std_logic;
        injectsbiterr : in std_logic := '0';
        injectdbiterr : in std_logic := '0';
        sbiterr : out std_logic;
        dbiterr : out std_logic
    );
end entity;
architecture recap of xpm_fifo_async is
begin
    held : entity work.recap_xpm_fifo generic map (FIFO_READ_LATENCY => FIFO_READ_LATENCY,
        FIFO_WRITE_DEPTH => FIFO_WRITE_DEPTH, PROG_EMPTY_THRESH => PROG_EMPTY_THRESH,
        PROG_FULL_THRESH => PROG_FULL_THRESH, RD_DATA_COUNT_WIDTH => RD_DATA_COUNT_WIDTH,
        READ_DATA_WIDTH => READ_DATA_WIDTH, WRITE_DATA_WIDTH => WRITE_DATA_WIDTH,
        WR_DATA_COUNT_WIDTH => WR_DATA_COUNT_WIDTH, READ_MODE => READ_MODE, STAGES => CDC_SYNC_STAGES)
        port map (rst => rst, wr_clk => wr_clk, wr_en => wr_en, din => din, full => full, prog_full => prog_full,
            wr_data_count => wr_data_count, overflow => overflow, wr_rst_busy => wr_rst_busy,
            almost_full => almost_full, wr_ack => wr_ack, rd_en => rd_en, dout => dout, empty => empty,
            prog_empty => prog_empty, rd_data_count => rd_data_count, underflow => underflow,
            rd_rst_busy => rd_rst_busy, almost_empty => almost_empty, data_valid => data_valid, rd_clk => rd_clk);
    sbiterr <= '0';
    dbiterr <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_fifo_axis is
    generic (
        CASCADE_HEIGHT : integer := 0;
        CDC_SYNC_STAGES : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_MODE : string := "no_ecc";
        EN_SIM_ASSERT_ERR : string := "warning";
        FIFO_DEPTH : integer := 2048;
        FIFO_MEMORY_TYPE : string := "auto";
        PACKET_FIFO : string := "false";
        PROG_EMPTY_THRESH : integer := 10;
        PROG_FULL_THRESH : integer := 10;
        RD_DATA_COUNT_WIDTH : integer := 1;
        RELATED_CLOCKS : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        TDATA_WIDTH : integer := 32;
        TDEST_WIDTH : integer := 1;
        TID_WIDTH : integer := 1;
        TUSER_WIDTH : integer := 1;
        USE_ADV_FEATURES : string := "1000";
        WR_DATA_COUNT_WIDTH : integer := 1
    );
    port (
        s_aresetn : in std_logic;
        s_aclk : in std_logic;
        m_aclk : in std_logic := '0';
        s_axis_tvalid : in std_logic;
        s_axis_tready : out std_logic;
        s_axis_tdata : in std_logic_vector(TDATA_WIDTH-1 downto 0);
        s_axis_tstrb : in std_logic_vector(TDATA_WIDTH/8-1 downto 0) := (others => '0');
        s_axis_tkeep : in std_logic_vector(TDATA_WIDTH/8-1 downto 0) := (others => '0');
        s_axis_tlast : in std_logic := '0';
        s_axis_tid : in std_logic_vector(TID_WIDTH-1 downto 0) := (others => '0');
        s_axis_tdest : in std_logic_vector(TDEST_WIDTH-1 downto 0) := (others => '0');
        s_axis_tuser : in std_logic_vector(TUSER_WIDTH-1 downto 0) := (others => '0');
        m_axis_tvalid : out std_logic;
        m_axis_tready : in std_logic;
        m_axis_tdata : out std_logic_vector(TDATA_WIDTH-1 downto 0);
        m_axis_tstrb : out std_logic_vector(TDATA_WIDTH/8-1 downto 0);
        m_axis_tkeep : out std_logic_vector(TDATA_WIDTH/8-1 downto 0);
        m_axis_tlast : out std_logic;
        m_axis_tid : out std_logic_vector(TID_WIDTH-1 downto 0);
        m_axis_tdest : out std_logic_vector(TDEST_WIDTH-1 downto 0);
        m_axis_tuser : out std_logic_vector(TUSER_WIDTH-1 downto 0);
        prog_full_axis : out std_logic;
        wr_data_count_axis : out std_logic_vector(WR_DATA_COUNT_WIDTH-1 downto 0);
        almost_full_axis : out std_logic;
        prog_empty_axis : out std_logic;
        rd_data_count_axis : out std_logic_vector(RD_DATA_COUNT_WIDTH-1 downto 0);
        almost_empty_axis : out std_logic;
        injectsbiterr_axis : in std_logic := '0';
        injectdbiterr_axis : in std_logic := '0';
        sbiterr_axis : out std_logic;
        dbiterr_axis : out std_logic
    );
end entity;
architecture recap of xpm_fifo_axis is
    function stages return integer is begin
        if CLOCKING_MODE = "independent_clock" then
            return CDC_SYNC_STAGES;
        end if;
        return 0;
    end function;
    constant BYTES : integer := TDATA_WIDTH / 8;
    constant USER : integer := 0;
    constant DEST : integer := USER + TUSER_WIDTH;
    constant ID : integer := DEST + TDEST_WIDTH;
    constant LAST : integer := ID + TID_WIDTH;
    constant KEEP : integer := LAST + 1;
    constant STRB : integer := KEEP + BYTES;
    constant DATA : integer := STRB + BYTES;
    constant WIDTH : integer := DATA + TDATA_WIDTH;
    signal into, out_of : std_logic_vector(WIDTH-1 downto 0);
    signal packets_in, packets_out : unsigned(31 downto 0) := (others => '0');
    signal reset, out_clk, is_full, is_empty, whole, reads : std_logic;
begin
    reset <= not s_aresetn;
    common : if CLOCKING_MODE /= "independent_clock" generate
        out_clk <= s_aclk;
    end generate;
    apart : if CLOCKING_MODE = "independent_clock" generate
        out_clk <= m_aclk;
    end generate;
    into <= s_axis_tdata & s_axis_tstrb & s_axis_tkeep & s_axis_tlast & s_axis_tid & s_axis_tdest & s_axis_tuser;
    held : entity work.recap_xpm_fifo generic map (FIFO_READ_LATENCY => 0, FIFO_WRITE_DEPTH => FIFO_DEPTH,
        PROG_EMPTY_THRESH => PROG_EMPTY_THRESH, PROG_FULL_THRESH => PROG_FULL_THRESH,
        RD_DATA_COUNT_WIDTH => RD_DATA_COUNT_WIDTH, READ_DATA_WIDTH => WIDTH, WRITE_DATA_WIDTH => WIDTH,
        WR_DATA_COUNT_WIDTH => WR_DATA_COUNT_WIDTH, READ_MODE => "fwft", STAGES => stages)
        port map (rst => reset, wr_clk => s_aclk, wr_en => s_axis_tvalid, din => into, full => is_full,
            prog_full => prog_full_axis, wr_data_count => wr_data_count_axis, overflow => open, wr_rst_busy => open,
            almost_full => almost_full_axis, wr_ack => open, rd_en => reads, dout => out_of, empty => is_empty,
            prog_empty => prog_empty_axis, rd_data_count => rd_data_count_axis, underflow => open,
            rd_rst_busy => open, almost_empty => almost_empty_axis, data_valid => open, rd_clk => out_clk);
    -- Packets are kept back until they are whole, or fill the FIFO.
    process (s_aclk) begin
        if rising_edge(s_aclk) then
            if reset = '1' then
                packets_in <= (others => '0');
            elsif s_axis_tvalid = '1' and is_full = '0' and s_axis_tlast = '1' then
                packets_in <= packets_in + 1;
            end if;
        end if;
    end process;
    process (out_clk) begin
        if rising_edge(out_clk) then
            if reset = '1' then
                packets_out <= (others => '0');
            elsif reads = '1' and out_of(LAST) = '1' then
                packets_out <= packets_out + 1;
            end if;
        end if;
    end process;
    whole <= '1' when PACKET_FIFO /= "true" or packets_in /= packets_out or is_full = '1' else '0';
    reads <= m_axis_tready and whole and not is_empty;
    s_axis_tready <= not is_full;
    m_axis_tvalid <= whole and not is_empty;
    m_axis_tdata <= out_of(WIDTH-1 downto DATA);
    m_axis_tstrb <= out_of(DATA-1 downto STRB);
    m_axis_tkeep <= out_of(STRB-1 downto KEEP);
    m_axis_tlast <= out_of(LAST);
    m_axis_tid <= out_of(LAST-1 downto ID);
    m_axis_tdest <= out_of(ID-1 downto DEST);
    m_axis_tuser <= out_of(DEST-1 downto USER);
    sbiterr_axis <= '0';
    dbiterr_axis <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
entity recap_xpm_ram is
    generic (
        MEMORY_SIZE : integer := 2048;
        ADDR_WIDTH_A : integer := 6;
        BYTE_WRITE_WIDTH_A : integer := 32;
        WRITE_DATA_WIDTH_A : integer := 32;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        ADDR_WIDTH_B : integer := 6;
        BYTE_WRITE_WIDTH_B : integer := 32;
        WRITE_DATA_WIDTH_B : integer := 32;
        READ_DATA_WIDTH_B : integer := 32;
        READ_LATENCY_B : integer := 2;
        B_WRITES : integer := 0;
        CLOCKING_MODE : string := "common_clock";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        WRITE_MODE_A : string := "no_change";
        WRITE_MODE_B : string := "no_change"
    );
    port (
        clka : in std_logic;
        rsta : in std_logic;
        regcea : in std_logic;
        ena : in std_logic;
        wea : in std_logic_vector(WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1 downto 0);
        dina : in std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        clkb : in std_logic;
        rstb : in std_logic;
        regceb : in std_logic;
        enb : in std_logic;
        web : in std_logic_vector(WRITE_DATA_WIDTH_B/BYTE_WRITE_WIDTH_B-1 downto 0);
        dinb : in std_logic_vector(WRITE_DATA_WIDTH_B-1 downto 0);
        addrb : in std_logic_vector(ADDR_WIDTH_B-1 downto 0);
        doutb : out std_logic_vector(READ_DATA_WIDTH_B-1 downto 0)
    );
end entity;
architecture recap of recap_xpm_ram is
    function least(one, other : integer) return integer is begin
        if one < other then
            return one;
        end if;
        return other;
    end function;
    function bit_of(one : boolean) return std_logic is begin
        if one then
            return '1';
        end if;
        return '0';
    end function;
    constant PLACE : integer := least(least(WRITE_DATA_WIDTH_A, READ_DATA_WIDTH_A), least(WRITE_DATA_WIDTH_B,
        READ_DATA_WIDTH_B));
    constant PLACES : integer := MEMORY_SIZE / PLACE;
    constant TWO_CLOCKS : boolean := B_WRITES /= 0 and CLOCKING_MODE = "independent_clock";
    function at_least_0(number : integer) return integer is begin
        if number < 0 then
            return 0;
        end if;
        return number;
    end function;
    constant LAST_A : integer := at_least_0(READ_LATENCY_A - 1);
    constant LAST_B : integer := at_least_0(READ_LATENCY_B - 1);
    type memory is array (0 to PLACES-1) of std_logic_vector(PLACE-1 downto 0);
    type words_a is array (0 to READ_LATENCY_A) of std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
    type words_b is array (0 to READ_LATENCY_B) of std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
    function digit_of(letter : character) return integer is
        constant code : integer := character'pos(letter);
    begin
        if code >= 48 and code <= 57 then
            return code - 48;
        elsif code >= 65 and code <= 70 then
            return code - 55;
        elsif code >= 97 and code <= 102 then
            return code - 87;
        end if;
        return -1;
    end function;
    -- What the memory begins with: words in hexadecimal digits, as wide as the narrowest port. A file has them apart by
    -- blanks, `@` and an address before those of another place, and `//` before comments.
    impure function initial return memory is
        file words_file : text;
        variable words : memory := (others => (others => '0'));
        variable rest : line;
        variable letter : character;
        variable there, some, is_address : boolean := false;
        variable digit, place_now, address : integer := 0;
        variable word : unsigned(PLACE+3 downto 0) := (others => '0');
    begin
        if MEMORY_INIT_FILE /= "none" then
            file_open(words_file, MEMORY_INIT_FILE, read_mode);
            while not endfile(words_file) loop
                readline(words_file, rest);
                there := true;
                while there loop
                    read(rest, letter, there);
                    digit := -1;
                    if there then
                        digit := digit_of(letter);
                    end if;
                    if digit >= 0 and is_address then
                        address := address * 16 + digit;
                    elsif digit >= 0 then
                        word := word(PLACE-1 downto 0) & to_unsigned(digit, 4);
                        some := true;
                    else
                        if is_address then
                            place_now := address;
                        elsif some and place_now < PLACES then
                            words(place_now) := std_logic_vector(word(PLACE-1 downto 0));
                            place_now := place_now + 1;
                        end if;
                        is_address := false;
                        if there then
                            is_address := character'pos(letter) = 64;
                            there := character'pos(letter) /= 47;
                        end if;
                        some := false;
                        address := 0;
                        word := (others => '0');
                    end if;
                end loop;
            end loop;
        elsif MEMORY_INIT_PARAM /= "0" and MEMORY_INIT_PARAM /= "" then
            for i in MEMORY_INIT_PARAM'range loop
                digit := digit_of(MEMORY_INIT_PARAM(i));
                if digit >= 0 then
                    word := word(PLACE-1 downto 0) & to_unsigned(digit, 4);
                    words(place_now) := std_logic_vector(word(PLACE-1 downto 0));
                else
                    place_now := place_now + 1;
                    word := (others => '0');
                end if;
            end loop;
        end if;
        return words;
    end function;
    signal store : memory := initial;
    signal by_b : memory := (others => (others => '0'));  -- with two clocks a word is what both hold, by exclusive or
    signal mask_a : std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
    signal mask_b : std_logic_vector(WRITE_DATA_WIDTH_B-1 downto 0);
    signal there_a, now_a : std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
    signal there_b, now_b : std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
    signal read_a : words_a := (others => (others => '0'));
    signal read_b : words_b := (others => (others => '0'));
    signal asked_a : std_logic_vector(READ_LATENCY_A downto 0) := (others => '0');
    signal asked_b : std_logic_vector(READ_LATENCY_B downto 0) := (others => '0');
    signal clock_b : std_logic;
begin
    clock_b <= clkb when CLOCKING_MODE = "independent_clock" else clka;
    enables_a : for i in 0 to WRITE_DATA_WIDTH_A-1 generate
        mask_a(i) <= wea(i / BYTE_WRITE_WIDTH_A);
    end generate;
    parts_a : for i in 0 to READ_DATA_WIDTH_A / PLACE - 1 generate
        of_one_a : if not TWO_CLOCKS generate
            there_a(i*PLACE+PLACE-1 downto i*PLACE)
                <= store((to_integer(unsigned(addra)) * (READ_DATA_WIDTH_A / PLACE) + i) mod PLACES);
        end generate;
        of_both_a : if TWO_CLOCKS generate
            there_a(i*PLACE+PLACE-1 downto i*PLACE)
                <= store((to_integer(unsigned(addra)) * (READ_DATA_WIDTH_A / PLACE) + i) mod PLACES)
                    xor by_b((to_integer(unsigned(addra)) * (READ_DATA_WIDTH_A / PLACE) + i) mod PLACES);
        end generate;
    end generate;
    -- What the same port writes is seen where its words are as wide.
    seen_a : if WRITE_MODE_A = "write_first" and READ_DATA_WIDTH_A = WRITE_DATA_WIDTH_A generate
        now_a <= (dina and mask_a) or (there_a and not mask_a);
    end generate;
    unseen_a : if not (WRITE_MODE_A = "write_first" and READ_DATA_WIDTH_A = WRITE_DATA_WIDTH_A) generate
        now_a <= there_a;
    end generate;
    enables_b : for i in 0 to WRITE_DATA_WIDTH_B-1 generate
        mask_b(i) <= web(i / BYTE_WRITE_WIDTH_B);
    end generate;
    parts_b : for i in 0 to READ_DATA_WIDTH_B / PLACE - 1 generate
        of_one_b : if not TWO_CLOCKS generate
            there_b(i*PLACE+PLACE-1 downto i*PLACE)
                <= store((to_integer(unsigned(addrb)) * (READ_DATA_WIDTH_B / PLACE) + i) mod PLACES);
        end generate;
        of_both_b : if TWO_CLOCKS generate
            there_b(i*PLACE+PLACE-1 downto i*PLACE)
                <= store((to_integer(unsigned(addrb)) * (READ_DATA_WIDTH_B / PLACE) + i) mod PLACES)
                    xor by_b((to_integer(unsigned(addrb)) * (READ_DATA_WIDTH_B / PLACE) + i) mod PLACES);
        end generate;
    end generate;
    -- What the same port writes is seen where its words are as wide.
    seen_b : if WRITE_MODE_B = "write_first" and READ_DATA_WIDTH_B = WRITE_DATA_WIDTH_B generate
        now_b <= (dinb and mask_b) or (there_b and not mask_b);
    end generate;
    unseen_b : if not (WRITE_MODE_B = "write_first" and READ_DATA_WIDTH_B = WRITE_DATA_WIDTH_B) generate
        now_b <= there_b;
    end generate;
    written_by_a : if B_WRITES = 0 generate
        process (clka) begin
            if rising_edge(clka) then
                if ena = '1' then
                    for i in 0 to WRITE_DATA_WIDTH_A / PLACE - 1 loop
                        if mask_a(i*PLACE+PLACE-1 downto i*PLACE) /= (PLACE-1 downto 0 => '0') then
                            store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES) <=
                                (dina(i*PLACE+PLACE-1 downto i*PLACE) and mask_a(i*PLACE+PLACE-1 downto i*PLACE))
                                or (store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES)
                                    and not mask_a(i*PLACE+PLACE-1 downto i*PLACE));
                        end if;
                    end loop;
                end if;
            end if;
        end process;
    end generate;
    written_by_both : if B_WRITES /= 0 and not TWO_CLOCKS generate
        process (clka) begin
            if rising_edge(clka) then
                if ena = '1' then
                    for i in 0 to WRITE_DATA_WIDTH_A / PLACE - 1 loop
                        if mask_a(i*PLACE+PLACE-1 downto i*PLACE) /= (PLACE-1 downto 0 => '0') then
                            store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES) <=
                                (dina(i*PLACE+PLACE-1 downto i*PLACE) and mask_a(i*PLACE+PLACE-1 downto i*PLACE))
                                or (store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES)
                                    and not mask_a(i*PLACE+PLACE-1 downto i*PLACE));
                        end if;
                    end loop;
                end if;
                if enb = '1' then
                    for i in 0 to WRITE_DATA_WIDTH_B / PLACE - 1 loop
                        if mask_b(i*PLACE+PLACE-1 downto i*PLACE) /= (PLACE-1 downto 0 => '0') then
                            store((to_integer(unsigned(addrb)) * (WRITE_DATA_WIDTH_B / PLACE) + i) mod PLACES) <=
                                (dinb(i*PLACE+PLACE-1 downto i*PLACE) and mask_b(i*PLACE+PLACE-1 downto i*PLACE))
                                or (store((to_integer(unsigned(addrb)) * (WRITE_DATA_WIDTH_B / PLACE) + i) mod PLACES)
                                    and not mask_b(i*PLACE+PLACE-1 downto i*PLACE));
                        end if;
                    end loop;
                end if;
            end if;
        end process;
    end generate;
    written_by_two_clocks : if TWO_CLOCKS generate
        process (clka) begin
            if rising_edge(clka) then
                if ena = '1' then
                    for i in 0 to WRITE_DATA_WIDTH_A / PLACE - 1 loop
                        if mask_a(i*PLACE+PLACE-1 downto i*PLACE) /= (PLACE-1 downto 0 => '0') then
                            store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES) <=
                                (dina(i*PLACE+PLACE-1 downto i*PLACE) and mask_a(i*PLACE+PLACE-1 downto i*PLACE))
                                xor (store((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES) and not mask_a(i*PLACE+PLACE-1 downto i*PLACE))
                                xor (by_b((to_integer(unsigned(addra)) * (WRITE_DATA_WIDTH_A / PLACE) + i) mod PLACES) and mask_a(i*PLACE+PLACE-1 downto i*PLACE));
                        end if;
                    end loop;
                end if;
            end if;
        end process;
        process (clkb) begin
            if rising_edge(clkb) then
                if enb = '1' then
                    for i in 0 to WRITE_DATA_WIDTH_B / PLACE - 1 loop
                        if mask_b(i*PLACE+PLACE-1 downto i*PLACE) /= (PLACE-1 downto 0 => '0') then
                            by_b((to_integer(unsigned(addrb)) * (WRITE_DATA_WIDTH_B / PLACE) + i) mod PLACES) <=
                                (dinb(i*PLACE+PLACE-1 downto i*PLACE) and mask_b(i*PLACE+PLACE-1 downto i*PLACE))
                                xor (by_b((to_integer(unsigned(addrb)) * (WRITE_DATA_WIDTH_B / PLACE) + i) mod PLACES) and not mask_b(i*PLACE+PLACE-1 downto i*PLACE))
                                xor (store((to_integer(unsigned(addrb)) * (WRITE_DATA_WIDTH_B / PLACE) + i) mod PLACES) and mask_b(i*PLACE+PLACE-1 downto i*PLACE));
                        end if;
                    end loop;
                end if;
            end if;
        end process;
    end generate;
    process (clka) begin
        if rising_edge(clka) then
            if ena = '1' and not (WRITE_MODE_A = "no_change" and wea /= (wea'range => '0')) then
                read_a(0) <= now_a;
            end if;
            asked_a(0) <= ena;
            for i in 1 to READ_LATENCY_A loop
                asked_a(i) <= asked_a(i-1);
                if (i < READ_LATENCY_A - 1 and asked_a(i-1) = '1') or (i >= READ_LATENCY_A - 1 and regcea = '1') then
                    read_a(i) <= read_a(i-1);
                end if;
            end loop;
            if rsta = '1' and READ_LATENCY_A > 0 then
                read_a(LAST_A) <= (others => '0');
            end if;
        end if;
    end process;
    at_once_a : if READ_LATENCY_A = 0 generate
        douta <= there_a;
    end generate;
    later_a : if READ_LATENCY_A > 0 generate
        douta <= read_a(READ_LATENCY_A - 1);
    end generate;
    process (clock_b) begin
        if rising_edge(clock_b) then
            if enb = '1' and not (WRITE_MODE_B = "no_change" and web /= (web'range => '0')) then
                read_b(0) <= now_b;
            end if;
            asked_b(0) <= enb;
            for i in 1 to READ_LATENCY_B loop
                asked_b(i) <= asked_b(i-1);
                if (i < READ_LATENCY_B - 1 and asked_b(i-1) = '1') or (i >= READ_LATENCY_B - 1 and regceb = '1') then
                    read_b(i) <= read_b(i-1);
                end if;
            end loop;
            if rstb = '1' and READ_LATENCY_B > 0 then
                read_b(LAST_B) <= (others => '0');
            end if;
        end if;
    end process;
    at_once_b : if READ_LATENCY_B = 0 generate
        doutb <= there_b;
    end generate;
    later_b : if READ_LATENCY_B > 0 generate
        doutb <= read_b(READ_LATENCY_B - 1);
    end generate;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_spram is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        BYTE_WRITE_WIDTH_A : integer := 32;
        WRITE_DATA_WIDTH_A : integer := 32;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        READ_RESET_VALUE_A : string := "0";
        RST_MODE_A : string := "SYNC";
        WRITE_MODE_A : string := "no_change"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        rsta : in std_logic := '0';
        regcea : in std_logic := '1';
        ena : in std_logic;
        wea : in std_logic_vector(WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1 downto 0);
        dina : in std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
        injectsbiterra : in std_logic := '0';
        injectdbiterra : in std_logic := '0';
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        sbiterra : out std_logic;
        dbiterra : out std_logic
    );
end entity;
architecture recap of xpm_memory_spram is
    constant no_web : std_logic_vector(0 downto 0) := (others => '0');
    constant no_dinb : std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0) := (others => '0');
    constant no_addrb : std_logic_vector(ADDR_WIDTH_A-1 downto 0) := (others => '0');
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => BYTE_WRITE_WIDTH_A, WRITE_DATA_WIDTH_A => WRITE_DATA_WIDTH_A,
        READ_DATA_WIDTH_A => READ_DATA_WIDTH_A, READ_LATENCY_A => READ_LATENCY_A, CLOCKING_MODE => CLOCKING_MODE,
        MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, WRITE_MODE_A => WRITE_MODE_A, B_WRITES => 0,
        READ_DATA_WIDTH_B => WRITE_DATA_WIDTH_A, WRITE_DATA_WIDTH_B => WRITE_DATA_WIDTH_A,
        BYTE_WRITE_WIDTH_B => WRITE_DATA_WIDTH_A, ADDR_WIDTH_B => ADDR_WIDTH_A)
        port map (clka => clka, rsta => rsta, regcea => regcea, ena => ena, wea => wea, dina => dina, addra => addra,
            douta => douta, clkb => clka, rstb => '0', regceb => '1', enb => '0', web => no_web, dinb => no_dinb,
            addrb => no_addrb, doutb => open);
    sbiterra <= '0';
    dbiterra <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_sdpram is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        BYTE_WRITE_WIDTH_A : integer := 32;
        WRITE_DATA_WIDTH_A : integer := 32;
        ADDR_WIDTH_B : integer := 6;
        READ_DATA_WIDTH_B : integer := 32;
        READ_LATENCY_B : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        WRITE_MODE_A : string := "read_first";
        READ_RESET_VALUE_B : string := "0";
        RST_MODE_B : string := "SYNC";
        WRITE_MODE_B : string := "read_first"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        ena : in std_logic;
        wea : in std_logic_vector(WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1 downto 0);
        dina : in std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
        injectsbiterra : in std_logic := '0';
        injectdbiterra : in std_logic := '0';
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        clkb : in std_logic;
        rstb : in std_logic := '0';
        regceb : in std_logic := '1';
        enb : in std_logic;
        addrb : in std_logic_vector(ADDR_WIDTH_B-1 downto 0);
        doutb : out std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
        sbiterrb : out std_logic;
        dbiterrb : out std_logic
    );
end entity;
architecture recap of xpm_memory_sdpram is
    constant no_web : std_logic_vector(0 downto 0) := (others => '0');
    constant no_dinb : std_logic_vector(READ_DATA_WIDTH_B-1 downto 0) := (others => '0');
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => BYTE_WRITE_WIDTH_A, WRITE_DATA_WIDTH_A => WRITE_DATA_WIDTH_A,
        ADDR_WIDTH_B => ADDR_WIDTH_B, READ_DATA_WIDTH_B => READ_DATA_WIDTH_B, READ_LATENCY_B => READ_LATENCY_B,
        CLOCKING_MODE => CLOCKING_MODE, MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, WRITE_MODE_A => WRITE_MODE_A,
        WRITE_MODE_B => WRITE_MODE_B, B_WRITES => 0, READ_DATA_WIDTH_A => WRITE_DATA_WIDTH_A,
        WRITE_DATA_WIDTH_B => READ_DATA_WIDTH_B, BYTE_WRITE_WIDTH_B => READ_DATA_WIDTH_B)
        port map (clka => clka, rsta => '0', regcea => '1', ena => ena, wea => wea, dina => dina, addra => addra,
            douta => open, clkb => clkb, rstb => rstb, regceb => regceb, enb => enb, web => no_web, dinb => no_dinb,
            addrb => addrb, doutb => doutb);
    sbiterrb <= '0';
    dbiterrb <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_tdpram is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        BYTE_WRITE_WIDTH_A : integer := 32;
        WRITE_DATA_WIDTH_A : integer := 32;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        ADDR_WIDTH_B : integer := 6;
        BYTE_WRITE_WIDTH_B : integer := 32;
        WRITE_DATA_WIDTH_B : integer := 32;
        READ_DATA_WIDTH_B : integer := 32;
        READ_LATENCY_B : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        READ_RESET_VALUE_A : string := "0";
        RST_MODE_A : string := "SYNC";
        WRITE_MODE_A : string := "no_change";
        READ_RESET_VALUE_B : string := "0";
        RST_MODE_B : string := "SYNC";
        WRITE_MODE_B : string := "no_change"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        rsta : in std_logic := '0';
        regcea : in std_logic := '1';
        ena : in std_logic;
        wea : in std_logic_vector(WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1 downto 0);
        dina : in std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
        injectsbiterra : in std_logic := '0';
        injectdbiterra : in std_logic := '0';
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        sbiterra : out std_logic;
        dbiterra : out std_logic;
        clkb : in std_logic;
        rstb : in std_logic := '0';
        regceb : in std_logic := '1';
        enb : in std_logic;
        web : in std_logic_vector(WRITE_DATA_WIDTH_B/BYTE_WRITE_WIDTH_B-1 downto 0);
        dinb : in std_logic_vector(WRITE_DATA_WIDTH_B-1 downto 0);
        injectsbiterrb : in std_logic := '0';
        injectdbiterrb : in std_logic := '0';
        addrb : in std_logic_vector(ADDR_WIDTH_B-1 downto 0);
        doutb : out std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
        sbiterrb : out std_logic;
        dbiterrb : out std_logic
    );
end entity;
architecture recap of xpm_memory_tdpram is
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => BYTE_WRITE_WIDTH_A, WRITE_DATA_WIDTH_A => WRITE_DATA_WIDTH_A,
        READ_DATA_WIDTH_A => READ_DATA_WIDTH_A, READ_LATENCY_A => READ_LATENCY_A, ADDR_WIDTH_B => ADDR_WIDTH_B,
        BYTE_WRITE_WIDTH_B => BYTE_WRITE_WIDTH_B, WRITE_DATA_WIDTH_B => WRITE_DATA_WIDTH_B,
        READ_DATA_WIDTH_B => READ_DATA_WIDTH_B, READ_LATENCY_B => READ_LATENCY_B, CLOCKING_MODE => CLOCKING_MODE,
        MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, WRITE_MODE_A => WRITE_MODE_A, WRITE_MODE_B => WRITE_MODE_B,
        B_WRITES => 1)
        port map (clka => clka, rsta => rsta, regcea => regcea, ena => ena, wea => wea, dina => dina, addra => addra,
            douta => douta, clkb => clkb, rstb => rstb, regceb => regceb, enb => enb, web => web, dinb => dinb,
            addrb => addrb, doutb => doutb);
    sbiterra <= '0';
    dbiterra <= '0';
    sbiterrb <= '0';
    dbiterrb <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_dpdistram is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        BYTE_WRITE_WIDTH_A : integer := 32;
        WRITE_DATA_WIDTH_A : integer := 32;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        ADDR_WIDTH_B : integer := 6;
        READ_DATA_WIDTH_B : integer := 32;
        READ_LATENCY_B : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        READ_RESET_VALUE_A : string := "0";
        RST_MODE_A : string := "SYNC";
        WRITE_MODE_A : string := "no_change";
        READ_RESET_VALUE_B : string := "0";
        RST_MODE_B : string := "SYNC";
        WRITE_MODE_B : string := "read_first"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        rsta : in std_logic := '0';
        regcea : in std_logic := '1';
        ena : in std_logic;
        wea : in std_logic_vector(WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1 downto 0);
        dina : in std_logic_vector(WRITE_DATA_WIDTH_A-1 downto 0);
        injectsbiterra : in std_logic := '0';
        injectdbiterra : in std_logic := '0';
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        sbiterra : out std_logic;
        dbiterra : out std_logic;
        clkb : in std_logic;
        rstb : in std_logic := '0';
        regceb : in std_logic := '1';
        enb : in std_logic;
        addrb : in std_logic_vector(ADDR_WIDTH_B-1 downto 0);
        doutb : out std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
        sbiterrb : out std_logic;
        dbiterrb : out std_logic
    );
end entity;
architecture recap of xpm_memory_dpdistram is
    constant no_web : std_logic_vector(0 downto 0) := (others => '0');
    constant no_dinb : std_logic_vector(READ_DATA_WIDTH_B-1 downto 0) := (others => '0');
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => BYTE_WRITE_WIDTH_A, WRITE_DATA_WIDTH_A => WRITE_DATA_WIDTH_A,
        READ_DATA_WIDTH_A => READ_DATA_WIDTH_A, READ_LATENCY_A => READ_LATENCY_A, ADDR_WIDTH_B => ADDR_WIDTH_B,
        READ_DATA_WIDTH_B => READ_DATA_WIDTH_B, READ_LATENCY_B => READ_LATENCY_B, CLOCKING_MODE => CLOCKING_MODE,
        MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, WRITE_MODE_A => WRITE_MODE_A, WRITE_MODE_B => WRITE_MODE_B,
        B_WRITES => 0, WRITE_DATA_WIDTH_B => READ_DATA_WIDTH_B, BYTE_WRITE_WIDTH_B => READ_DATA_WIDTH_B)
        port map (clka => clka, rsta => rsta, regcea => regcea, ena => ena, wea => wea, dina => dina, addra => addra,
            douta => douta, clkb => clkb, rstb => rstb, regceb => regceb, enb => enb, web => no_web, dinb => no_dinb,
            addrb => addrb, doutb => doutb);
    sbiterra <= '0';
    dbiterra <= '0';
    sbiterrb <= '0';
    dbiterrb <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_sprom is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        READ_RESET_VALUE_A : string := "0";
        RST_MODE_A : string := "SYNC";
        WRITE_MODE_A : string := "read_first"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        rsta : in std_logic := '0';
        regcea : in std_logic := '1';
        ena : in std_logic;
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        sbiterra : out std_logic;
        dbiterra : out std_logic
    );
end entity;
architecture recap of xpm_memory_sprom is
    constant no_we : std_logic_vector(0 downto 0) := (others => '0');
    constant no_dina : std_logic_vector(READ_DATA_WIDTH_A-1 downto 0) := (others => '0');
    constant no_dinb : std_logic_vector(READ_DATA_WIDTH_A-1 downto 0) := (others => '0');
    constant no_addrb : std_logic_vector(ADDR_WIDTH_A-1 downto 0) := (others => '0');
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => READ_DATA_WIDTH_A, WRITE_DATA_WIDTH_A => READ_DATA_WIDTH_A,
        READ_DATA_WIDTH_A => READ_DATA_WIDTH_A, READ_LATENCY_A => READ_LATENCY_A, CLOCKING_MODE => CLOCKING_MODE,
        MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, B_WRITES => 0,
        ADDR_WIDTH_B => ADDR_WIDTH_A, READ_DATA_WIDTH_B => READ_DATA_WIDTH_A,
        WRITE_DATA_WIDTH_B => READ_DATA_WIDTH_A, BYTE_WRITE_WIDTH_B => READ_DATA_WIDTH_A)
        port map (clka => clka, rsta => rsta, regcea => regcea, ena => ena, wea => no_we, dina => no_dina,
            addra => addra, douta => douta, clkb => clka, rstb => '0', regceb => '1', enb => '0', web => no_we, dinb => no_dinb,
            addrb => no_addrb, doutb => open);
    sbiterra <= '0';
    dbiterra <= '0';
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity xpm_memory_dprom is
    generic (
        AUTO_SLEEP_TIME : integer := 0;
        CASCADE_HEIGHT : integer := 0;
        MEMORY_SIZE : integer := 2048;
        MESSAGE_CONTROL : integer := 0;
        SIM_ASSERT_CHK : integer := 0;
        USE_MEM_INIT : integer := 1;
        USE_MEM_INIT_MMI : integer := 0;
        WRITE_PROTECT : integer := 1;
        ADDR_WIDTH_A : integer := 6;
        READ_DATA_WIDTH_A : integer := 32;
        READ_LATENCY_A : integer := 2;
        ADDR_WIDTH_B : integer := 6;
        READ_DATA_WIDTH_B : integer := 32;
        READ_LATENCY_B : integer := 2;
        CLOCKING_MODE : string := "common_clock";
        ECC_BIT_RANGE : string := "7:0";
        ECC_MODE : string := "no_ecc";
        ECC_TYPE : string := "none";
        IGNORE_INIT_SYNTH : string := "0";
        MEMORY_INIT_FILE : string := "none";
        MEMORY_INIT_PARAM : string := "0";
        MEMORY_OPTIMIZATION : string := "true";
        MEMORY_PRIMITIVE : string := "auto";
        RAM_DECOMP : string := "auto";
        USE_EMBEDDED_CONSTRAINT : integer := 0;
        WAKEUP_TIME : string := "disable_sleep";
        READ_RESET_VALUE_A : string := "0";
        RST_MODE_A : string := "SYNC";
        WRITE_MODE_A : string := "read_first";
        READ_RESET_VALUE_B : string := "0";
        RST_MODE_B : string := "SYNC";
        WRITE_MODE_B : string := "read_first"
    );
    port (
        sleep : in std_logic := '0';
        clka : in std_logic;
        rsta : in std_logic := '0';
        regcea : in std_logic := '1';
        ena : in std_logic;
        addra : in std_logic_vector(ADDR_WIDTH_A-1 downto 0);
        douta : out std_logic_vector(READ_DATA_WIDTH_A-1 downto 0);
        sbiterra : out std_logic;
        dbiterra : out std_logic;
        clkb : in std_logic;
        rstb : in std_logic := '0';
        regceb : in std_logic := '1';
        enb : in std_logic;
        addrb : in std_logic_vector(ADDR_WIDTH_B-1 downto 0);
        doutb : out std_logic_vector(READ_DATA_WIDTH_B-1 downto 0);
        sbiterrb : out std_logic;
        dbiterrb : out std_logic
    );
end entity;
architecture recap of xpm_memory_dprom is
    constant no_we : std_logic_vector(0 downto 0) := (others => '0');
    constant no_dina : std_logic_vector(READ_DATA_WIDTH_A-1 downto 0) := (others => '0');
    constant no_dinb : std_logic_vector(READ_DATA_WIDTH_B-1 downto 0) := (others => '0');
begin
    held : entity work.recap_xpm_ram generic map (MEMORY_SIZE => MEMORY_SIZE, ADDR_WIDTH_A => ADDR_WIDTH_A,
        BYTE_WRITE_WIDTH_A => READ_DATA_WIDTH_A, WRITE_DATA_WIDTH_A => READ_DATA_WIDTH_A,
        READ_DATA_WIDTH_A => READ_DATA_WIDTH_A, READ_LATENCY_A => READ_LATENCY_A, CLOCKING_MODE => CLOCKING_MODE,
        MEMORY_INIT_FILE => MEMORY_INIT_FILE, MEMORY_INIT_PARAM => MEMORY_INIT_PARAM, B_WRITES => 0,
        ADDR_WIDTH_B => ADDR_WIDTH_B, READ_DATA_WIDTH_B => READ_DATA_WIDTH_B, READ_LATENCY_B => READ_LATENCY_B,
        WRITE_DATA_WIDTH_B => READ_DATA_WIDTH_B, BYTE_WRITE_WIDTH_B => READ_DATA_WIDTH_B)
        port map (clka => clka, rsta => rsta, regcea => regcea, ena => ena, wea => no_we, dina => no_dina,
            addra => addra, douta => douta, clkb => clkb, rstb => rstb, regceb => regceb, enb => enb, web => no_we,
            dinb => no_dinb, addrb => addrb, doutb => doutb);
    sbiterra <= '0';
    dbiterra <= '0';
    sbiterrb <= '0';
    dbiterrb <= '0';
end architecture;
