-- The value of the last event, as it stood before this cycle.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_last is
    generic (VALUE_BITS : positive := 1);
    port (
        clock, reset, sample : in std_logic;
        value : in std_logic_vector(VALUE_BITS - 1 downto 0);
        known : out std_logic;
        latest : out std_logic_vector(VALUE_BITS - 1 downto 0)
    );
end agent_last;

architecture rtl of agent_last is
    signal some : std_logic;
begin
    known <= some;
    process (clock)
    begin
        if rising_edge(clock) then
            some <= not reset and (some or sample);
            if reset = '1' then
                latest <= (others => '0');
            elsif sample = '1' then
                latest <= value;
            end if;
        end if;
    end process;
end rtl;
