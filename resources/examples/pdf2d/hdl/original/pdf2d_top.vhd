-- The original form of pdf2d_top.v in VHDL: CORES cores side by side in the memory map.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use ieee.math_real.all;
use work.pdf2d_kernel.all;

entity pdf2d_top is
    generic (
        CORES : positive := 20;  -- at most 32
        BINS  : positive := 8    -- along an axis: a power of two, at most 16
    );
    port (
        clk     : in std_logic;
        rst     : in std_logic;
        addr    : in std_logic_vector(31 downto 0);
        wr_en   : in std_logic;
        wr_data : in std_logic_vector(31 downto 0);
        rd_en   : in std_logic;
        rd_data : out std_logic_vector(31 downto 0)
    );
end entity;

architecture rtl of pdf2d_top is
    constant BITS : positive := integer(ceil(log2(real(BINS))));
    type sums_t is array (0 to CORES - 1) of unsigned(47 downto 0);

    signal write, ours, asked_done : std_logic;
    signal write_address : std_logic_vector(14 downto 0);
    signal write_data : std_logic_vector(31 downto 0);
    signal asked : unsigned(4 downto 0);
    signal to_core, from_core, done : std_logic_vector(CORES - 1 downto 0);
    signal sums : sums_t;
begin
    ours <= '1' when unsigned(addr(31 downto 15)) = 0 else '0';

    answer : process (all)
        variable chosen : unsigned(47 downto 0);
        variable chosen_done : std_logic;
    begin
        chosen := (others => '0');
        chosen_done := '0';
        for i in 0 to CORES - 1 loop
            if asked = i then
                chosen := sums(i);
                chosen_done := done(i);
            end if;
        end loop;
        rd_data <= (others => '0');
        if asked_done = '1' then
            rd_data <= (0 => chosen_done, others => '0');
        else
            rd_data <= std_logic_vector(chosen(31 downto 0));
        end if;
    end process;

    port_side : process (clk)
    begin
        if rising_edge(clk) then
            write <= wr_en and ours and not rst;
            write_address <= addr(14 downto 0);
            write_data <= wr_data;
            if rst = '1' then
                asked <= (others => '0');
                asked_done <= '0';
            elsif wr_en = '1' and ours = '1' then
                --pragma recap takeControl recv(ctrl, $CPU, c1|g1|s1): addr(9) = '1'
                --pragma recap takePoints recv(data, $CPU, x1): addr(9) = '0'
                asked <= (others => '0');
            elsif rd_en = '1' and ours = '1' then
                --pragma recap giveDone send(ctrl, $CPU, d1): addr(8) = '1'
                --pragma recap giveBins send(data, $CPU, p1): addr(8) = '0'
                asked <= unsigned(addr(14 downto 10));
                asked_done <= addr(8);
            else
                --pragma recap waitHost wait_recv(late_sender, $CPU, c1|x1|g1|s1)
                asked <= asked;
            end if;
        end if;
    end process;

    core : for i in 0 to CORES - 1 generate
        to_core(i) <= write when unsigned(write_address(14 downto 10)) = i else '0';
        from_core(i) <= rd_en and ours and addr(9) and not addr(8) when unsigned(addr(14 downto 10)) = i else '0';
        one : entity work.pdf2d_core
            generic map (BITS => BITS)
            port map (
                clk => clk, rst => rst,
                write => to_core(i), write_address => write_address(9 downto 0), write_data => write_data,
                read => from_core(i), read_address => addr(7 downto 0),
                done => done(i), sum => sums(i)
            );
    end generate;
end architecture;
