-- How many cycles lie between two transfers at one end of an edge, without those in which that end waited.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_interval is
    port (
        clock, reset : in std_logic;
        transfer, waits : in std_logic;
        sample : out std_logic; -- in the transfer's cycle: there was one before, so many cycles ago
        cycles : out std_logic_vector(31 downto 0)
    );
end agent_interval;

architecture rtl of agent_interval is
    signal known : std_logic;
    signal worked : unsigned(31 downto 0);
begin
    sample <= transfer and known;
    cycles <= std_logic_vector(worked + 1);
    process (clock)
    begin
        if rising_edge(clock) then
            known <= not reset and (known or transfer);
            if transfer = '1' then
                worked <= (others => '0');
            elsif waits = '0' then
                worked <= worked + 1;
            end if;
        end if;
    end process;
end rtl;
