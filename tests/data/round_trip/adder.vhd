-- The adder of round_trip.v.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity adder is
    generic (PACE : integer := 9);
    port (
        clk, rst_n : in std_logic;
        s_axis_tvalid : in std_logic;
        s_axis_tready : out std_logic;
        s_axis_tdata : in std_logic_vector(31 downto 0);
        m_axis_tvalid : out std_logic;
        m_axis_tready : in std_logic;
        m_axis_tdata : out std_logic_vector(31 downto 0)
    );
end entity;

architecture rtl of adder is
    signal busy : std_logic := '0';
    signal left : integer range 0 to 255 := 0;
begin
    s_axis_tready <= not busy;
    m_axis_tvalid <= busy when left = 0 else '0';
    adds : process (clk)
    begin
        if rising_edge(clk) then
            if rst_n = '0' then
                busy <= '0';
            elsif busy = '0' then
                busy <= s_axis_tvalid;
                left <= PACE;
                m_axis_tdata <= std_logic_vector(unsigned(s_axis_tdata) + 1);
            elsif left /= 0 then
                left <= left - 1;
            else
                busy <= not m_axis_tready;
            end if;
        end if;
    end process;
end architecture;
