-- The core of core.v in VHDL: the same registers, words and cycles.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.pdf2d_kernel.all;

entity pdf2d_core is
    generic (
        BITS   : positive := 3;   -- two to this power are the bins along an axis, at most 4
        POINTS : positive := 512  -- in a batch: what the 2 KB buffer holds
    );
    port (
        clk           : in std_logic;
        rst           : in std_logic;
        write         : in std_logic;
        write_address : in std_logic_vector(9 downto 0);
        write_data    : in std_logic_vector(31 downto 0);
        read          : in std_logic;                     -- one of this core's bins
        read_address  : in std_logic_vector(7 downto 0);
        done          : out std_logic;
        sum           : out unsigned(47 downto 0)         -- of the bin asked for a cycle before
    );
end entity;

architecture rtl of pdf2d_core is
    type state_t is (IDLE, FETCH, COMPUTE, FINISHED);
    type points_t is array (0 to POINTS - 1) of std_logic_vector(31 downto 0);
    type totals_t is array (0 to 2 * 2 ** (2 * BITS) - 1) of unsigned(47 downto 0);
    constant LAST_BIN : unsigned(2 * BITS - 1 downto 0) := (others => '1');

    signal state : state_t;
    signal points_held : points_t;
    signal totals : totals_t;  -- the upper half takes the writes that mean nothing
    signal index : unsigned(8 downto 0);
    signal fetched : std_logic;
    signal stored, point : std_logic_vector(31 downto 0);
    signal bin, bin_1, bin_2, bin_3 : unsigned(2 * BITS - 1 downto 0);
    signal busy_1, busy_2, busy_3 : std_logic;
    signal dx, dy : signed(17 downto 0);
    signal dx_squared, dy_squared : unsigned(35 downto 0);
    signal weight, sum_held, total : unsigned(47 downto 0);
    signal to_buffer, to_bins, start, stop : std_logic;
    signal place, looked_at : unsigned(2 * BITS downto 0);
begin
    to_buffer <= write and not write_address(9) when state = IDLE else '0';
    to_bins <= write and write_address(9) and not write_address(8) when state = IDLE else '0';
    start <= write and write_address(9) and write_address(8) and write_data(0);
    stop <= write and write_address(9) and write_address(8) and not write_data(0);
    place <= '0' & bin_3 when busy_3 = '1' else (not to_bins) & unsigned(write_address(2 * BITS - 1 downto 0));
    total <= sum_held + weight when busy_3 = '1' else resize(unsigned(write_data), 48);
    looked_at <= '0' & bin_2 when busy_2 = '1' else '0' & unsigned(read_address(2 * BITS - 1 downto 0));
    done <= '1' when state = FINISHED else '0';
    sum <= sum_held;

    ctrl : process (clk)
    begin
        if rising_edge(clk) then
            -- One bin a cycle: offsets, squares, weight, sum.
            dx <= offset_of(point(15 downto 0), bin(BITS - 1 downto 0), BITS);
            dy <= offset_of(point(31 downto 16), bin(2 * BITS - 1 downto BITS), BITS);
            dx_squared <= unsigned(dx * dx);
            dy_squared <= unsigned(dy * dy);
            weight <= weight_of(dx_squared, dy_squared, BITS);
            bin_1 <= bin;
            bin_2 <= bin_1;
            bin_3 <= bin_2;
            busy_1 <= '0';
            if state = COMPUTE then
                busy_1 <= '1';
            end if;
            busy_2 <= busy_1;
            busy_3 <= busy_2;
            sum_held <= totals(to_integer(looked_at));
            totals(to_integer(place)) <= total;
            stored <= points_held(to_integer(index));
            if to_buffer = '1' then
                points_held(to_integer(unsigned(write_address(8 downto 0)))) <= write_data;
            end if;

            if rst = '1' then
                state <= IDLE;
                index <= (others => '0');
                bin <= (others => '0');
                fetched <= '0';
            else
                case state is
                    when IDLE =>
                        index <= (others => '0');
                        if to_buffer = '1' then
                            --pragma recap getPoints recv(data, $CPU, x1)
                            null;
                        elsif write = '1' then
                            --pragma recap takeControl recv(ctrl, $CPU, c1|g1)
                            if start = '1' then
                                state <= FETCH;
                            end if;
                        elsif read = '1' then
                            --pragma recap giveBins send(data, $CPU, p1)
                            null;
                        else
                            --pragma recap waitHost wait_recv(late_sender, $CPU, c1|x1|g1)
                            null;
                        end if;
                    when FETCH =>
                        --pragma recap nextPoint overhead(update)
                        fetched <= not fetched;
                        point <= stored;
                        index <= index + ("" & fetched);
                        if fetched = '1' then
                            state <= COMPUTE;
                        end if;
                    when COMPUTE =>
                        --pragma recap compute work()
                        bin <= bin + 1;
                        if bin = LAST_BIN then
                            if index = 0 then
                                state <= FINISHED;
                            else
                                state <= FETCH;
                            end if;
                        end if;
                    when FINISHED =>
                        --pragma recap waitStop wait_recv(late_sender, $CPU, s1)
                        if stop = '1' then
                            state <= IDLE;
                        end if;
                end case;
            end if;
        end if;
    end process;
end architecture;
