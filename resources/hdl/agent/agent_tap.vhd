-- Watches an edge's queue: what goes in and comes out in a cycle, as it is one and two cycles later, and how many
-- elements the queue held before. Where there is no queue, both ends are the same signals.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_tap is
    generic (
        OCCUPANCY_BITS : positive := 8;
        DATA_BITS : positive := 1
    );
    port (
        clock, reset : in std_logic;
        push_valid, push_ready, pop_valid, pop_ready : in std_logic;
        data : in std_logic_vector(DATA_BITS - 1 downto 0);
        push_1, pop_1 : out std_logic;
        push, pop : out std_logic;
        blocked : out std_logic; -- there was an element that the queue did not take
        waiting : out std_logic; -- the consumer wanted an element and there was none
        value : out std_logic_vector(DATA_BITS - 1 downto 0);
        occupancy : out std_logic_vector(OCCUPANCY_BITS - 1 downto 0)
    );
end agent_tap;

architecture rtl of agent_tap is
    signal pushed_1, pushed, popped_1, popped, blocked_1, waiting_1 : std_logic;
    signal value_1 : std_logic_vector(DATA_BITS - 1 downto 0);
    signal held : unsigned(OCCUPANCY_BITS - 1 downto 0);
begin
    push_1 <= pushed_1;
    pop_1 <= popped_1;
    push <= pushed;
    pop <= popped;
    occupancy <= std_logic_vector(held);
    process (clock)
    begin
        if rising_edge(clock) then
            pushed_1 <= not reset and push_valid and push_ready;
            popped_1 <= not reset and pop_valid and pop_ready;
            blocked_1 <= not reset and push_valid and not push_ready;
            waiting_1 <= not reset and pop_ready and not pop_valid;
            value_1 <= data;
            pushed <= not reset and pushed_1;
            popped <= not reset and popped_1;
            blocked <= not reset and blocked_1;
            waiting <= not reset and waiting_1;
            value <= value_1;
            if reset = '1' then
                held <= (others => '0');
            elsif pushed = '1' and popped = '0' then
                held <= held + 1;
            elsif pushed = '0' and popped = '1' then
                held <= held - 1;
            end if;
        end if;
    end process;
end rtl;
