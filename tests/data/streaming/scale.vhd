library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity scale is
    generic (factor : natural := 1);
    port (
        clk, rst : in std_logic;
        x_tdata  : in std_logic_vector(31 downto 0);
        x_tlast  : in std_logic;
        x_tvalid : in std_logic;
        x_tready : out std_logic;
        y_tdata  : out std_logic_vector(31 downto 0);
        y_tlast  : out std_logic;
        y_tvalid : out std_logic;
        y_tready : in std_logic
    );
end entity;

architecture rtl of scale is
    signal full : std_logic;
begin
    x_tready <= y_tready or not full;
    y_tvalid <= full;
    process (clk)
    begin
        if rising_edge(clk) then
            if (y_tready or not full) = '1' then
                full    <= x_tvalid;
                y_tlast <= x_tlast;
                y_tdata <= std_logic_vector(resize(unsigned(x_tdata) * factor, 32));
            end if;
            if rst = '1' then
                full <= '0';
            end if;
        end if;
    end process;
end architecture;
