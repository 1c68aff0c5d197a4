-- How many cycles elements spend between two places that they pass in order. Those for which there is no room in
-- the memory of times are counted instead when they come out; elements that went in after them wait, unmeasured,
-- until all of them are out.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_latency is
    generic (ROOM_BITS : positive := 6);
    port (
        clock, reset : in std_logic;
        enters : in std_logic; -- in this cycle an element goes in,
        leaves : in std_logic; -- and one comes out
        cycle : in std_logic_vector(31 downto 0);
        sample : out std_logic; -- a cycle later: one came out, after so many cycles
        cycles : out std_logic_vector(31 downto 0);
        lost : out std_logic -- one came out whose time was not kept
    );
end agent_latency;

architecture rtl of agent_latency is
    type memory is array (natural range 0 to 2 ** ROOM_BITS - 1) of unsigned(31 downto 0);
    signal times : memory;
    signal stored : unsigned(ROOM_BITS downto 0);
    signal next_in, next_out : unsigned(ROOM_BITS - 1 downto 0);
    signal unknown, began, ended : unsigned(31 downto 0);
    signal at_once, through, kept, known, missed, passed : std_logic;
begin
    through <= '1' when enters = '1' and leaves = '1' and stored = 0 and unknown = 0 else '0';
    kept <= '1' when enters = '1' and through = '0' and unknown = 0 and stored(ROOM_BITS) = '0' else '0';
    known <= '1' when leaves = '1' and stored /= 0 else '0';
    missed <= '1' when leaves = '1' and stored = 0 and unknown /= 0 else '0';
    passed <= enters and not through and not kept;

    process (clock)
    begin
        if rising_edge(clock) then
            if kept = '1' then
                times(to_integer(next_in)) <= unsigned(cycle);
            end if;
            began <= times(to_integer(next_out));
        end if;
    end process;
    process (clock)
    begin
        if rising_edge(clock) then
            ended <= unsigned(cycle);
            at_once <= through;
            sample <= not reset and (known or through);
            lost <= not reset and missed;
            if reset = '1' then
                stored <= (others => '0');
                next_in <= (others => '0');
                next_out <= (others => '0');
                unknown <= (others => '0');
            else
                if kept = '1' and known = '0' then
                    stored <= stored + 1;
                elsif kept = '0' and known = '1' then
                    stored <= stored - 1;
                end if;
                if kept = '1' then
                    next_in <= next_in + 1;
                end if;
                if known = '1' then
                    next_out <= next_out + 1;
                end if;
                if passed = '1' and missed = '0' then
                    unknown <= unknown + 1;
                elsif passed = '0' and missed = '1' then
                    unknown <= unknown - 1;
                end if;
            end if;
        end if;
    end process;
    cycles <= (others => '0') when at_once = '1' else std_logic_vector(ended - began);
end rtl;
