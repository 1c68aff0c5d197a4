-- As tests/data/applications/two_cards/summer.v: adds up the first n words of its memory, one a cycle.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity summer is
    port (
        clk, rst     : in std_logic;
        irq          : out std_logic;
        addr         : in std_logic_vector(15 downto 0);
        wr_en, rd_en : in std_logic;
        wr_data      : in std_logic_vector(31 downto 0);
        rd_data      : out std_logic_vector(31 downto 0)
    );
end entity;

architecture rtl of summer is
    type words_t is array (0 to 255) of unsigned(31 downto 0);
    signal words : words_t := (others => (others => '0'));
    signal sum : unsigned(31 downto 0) := (others => '0');
    signal at, left : unsigned(8 downto 0) := (others => '0');
begin
    memory : process (clk)
    begin
        if rising_edge(clk) then
            if rst = '1' then
                rd_data <= (others => '0');
            else
                if wr_en = '1' and unsigned(addr) < 16#100# then
                    --pragma recap takeWord recv(data, $CPU, words)
                    words(to_integer(unsigned(addr(7 downto 0)))) <= unsigned(wr_data);
                end if;
                if rd_en = '1' and addr = x"0801" then
                    --pragma recap giveSum send(ctrl, $CPU, sum)
                    rd_data <= std_logic_vector(sum);
                end if;
            end if;
        end if;
    end process;

    core : process (clk)
    begin
        if rising_edge(clk) then
            if rst = '1' then
                left <= (others => '0');
                irq <= '0';
            elsif wr_en = '1' and addr = x"0800" then
                --pragma recap begin recv(ctrl, $CPU, n)
                at <= (others => '0');
                left <= unsigned(wr_data(8 downto 0));
                sum <= (others => '0');
                irq <= '0';
            elsif left /= 0 then
                --pragma recap add work()
                sum <= sum + words(to_integer(at(7 downto 0)));
                at <= at + 1;
                left <= left - 1;
                if left = 1 then irq <= '1'; end if;
            else
                --pragma recap idle wait_recv(late_sender, $CPU, n)
                at <= (others => '0');
            end if;
        end if;
    end process;
end architecture;
