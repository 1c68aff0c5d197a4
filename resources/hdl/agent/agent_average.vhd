-- Of one measure: over a frame, how many cycles were collected, how many events, the sum, least and largest of
-- their values. What was held when the frame ended is shifted out, 32 bits at a time, through all monitors of a
-- group in turn.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_average is
    generic (
        VALUE_BITS : positive := 1;
        COLLECTED : natural := 0; -- words, each 0 or 1
        COUNT : natural := 1;
        SUM : natural := 0;       -- words, up to 3
        EXTREMES : natural := 0;  -- words of the least and of the largest value: 0, 1 or 2 each
        IS_SIGNED : natural := 0;
        WORDS : positive := 1     -- of all these
    );
    port (
        clock, reset : in std_logic;
        collects : in std_logic;  -- this cycle is
        sample : in std_logic;    -- an event, in a cycle that is collected
        value : in std_logic_vector(VALUE_BITS - 1 downto 0);
        frame_end : in std_logic; -- this cycle is the frame's last
        shift : in std_logic;
        chain_in : in std_logic_vector(31 downto 0);
        chain_out : out std_logic_vector(31 downto 0);
        held : out std_logic_vector(32 * WORDS - 1 downto 0)
    );
end agent_average;

architecture rtl of agent_average is
    signal following, kept : std_logic_vector(32 * WORDS - 1 downto 0);
begin
    chain_out <= kept(31 downto 0);
    held <= kept;

    of_cycles : if COLLECTED > 0 generate
        signal cycles, now_so : unsigned(31 downto 0);
    begin
        now_so <= cycles + 1 when collects = '1' else cycles;
        following(31 downto 0) <= std_logic_vector(now_so);
        process (clock)
        begin
            if rising_edge(clock) then
                cycles <= now_so;
                if reset = '1' or frame_end = '1' then
                    cycles <= (others => '0');
                end if;
            end if;
        end process;
    end generate;

    of_events : if COUNT > 0 generate
        signal events, now_so : unsigned(31 downto 0);
    begin
        now_so <= events + 1 when sample = '1' else events;
        following(32 * COLLECTED + 31 downto 32 * COLLECTED) <= std_logic_vector(now_so);
        process (clock)
        begin
            if rising_edge(clock) then
                events <= now_so;
                if reset = '1' or frame_end = '1' then
                    events <= (others => '0');
                end if;
            end if;
        end process;
    end generate;

    of_values : if SUM > 0 generate
        constant LOW : natural := 32 * (COLLECTED + COUNT);
        signal total, more, now_so : unsigned(32 * SUM - 1 downto 0);
    begin
        more <= unsigned(resize(signed(value), 32 * SUM)) when IS_SIGNED = 1 else resize(unsigned(value), 32 * SUM);
        now_so <= total + more when sample = '1' else total;
        following(LOW + 32 * SUM - 1 downto LOW) <= std_logic_vector(now_so);
        process (clock)
        begin
            if rising_edge(clock) then
                total <= now_so;
                if reset = '1' or frame_end = '1' then
                    total <= (others => '0');
                end if;
            end if;
        end process;
    end generate;

    of_extremes : if EXTREMES > 0 generate
        constant BITS : natural := 32 * EXTREMES;
        constant LOW : natural := 32 * (COLLECTED + COUNT + SUM);
        signal turned, least, largest, least_now, largest_now : unsigned(VALUE_BITS - 1 downto 0);
        signal any : std_logic;
    begin
        process (value) -- to the order of unsigned numbers
            variable found : unsigned(VALUE_BITS - 1 downto 0);
        begin
            found := unsigned(value);
            if IS_SIGNED = 1 then
                found(VALUE_BITS - 1) := not found(VALUE_BITS - 1);
            end if;
            turned <= found;
        end process;
        least_now <= turned when sample = '1' and (any = '0' or turned < least) else least;
        largest_now <= turned when sample = '1' and (any = '0' or turned > largest) else largest;
        following(LOW + BITS - 1 downto LOW) <= std_logic_vector(resize(least_now, BITS));
        following(LOW + 2 * BITS - 1 downto LOW + BITS) <= std_logic_vector(resize(largest_now, BITS));
        process (clock)
        begin
            if rising_edge(clock) then
                any <= not reset and not frame_end and (any or sample);
                least <= least_now;
                largest <= largest_now;
            end if;
        end process;
    end generate;

    process (clock)
    begin
        if rising_edge(clock) then
            if reset = '1' then
                kept <= (others => '0');
            elsif frame_end = '1' then
                kept <= following;
            elsif shift = '1' then
                kept <= std_logic_vector(shift_right(unsigned(kept), 32));
                kept(32 * WORDS - 1 downto 32 * WORDS - 32) <= chain_in;
            end if;
        end if;
    end process;
end rtl;
