library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.parts.all;

entity queue is
    generic (factor : natural);
    port (
        clk, rst : in std_logic;
        x_data   : in word;
        x_empty  : in std_logic;
        x_pop    : out std_logic;
        y_data   : out word;
        y_push   : out std_logic;
        y_full   : in std_logic
    );
end entity;

architecture rtl of queue is
    signal goes : std_logic;
begin
    goes   <= not x_empty and not y_full;
    x_pop  <= goes;
    y_push <= goes;
    y_data <= scaled(x_data, factor);
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.parts.all;

entity late is
    generic (factor : natural);
    port (
        clk, rst : in std_logic;
        x_q      : in std_logic_vector(31 downto 0);
        x_empty  : in std_logic;
        x_read   : out std_logic;
        y_data   : out std_logic_vector(31 downto 0);
        y_write  : out std_logic;
        y_full   : in std_logic
    );
end entity;

architecture rtl of late is
    signal reg : std_logic; -- an element comes
    signal goes : std_logic;
begin
    goes    <= not x_empty and not y_full and not reg;
    x_read  <= goes;
    y_write <= reg;
    y_data  <= std_logic_vector(scaled(unsigned(x_q), factor));
    process (clk)
    begin
        if rising_edge(clk) then
            reg <= goes and not rst;
        end if;
    end process;
end architecture;
