-- Counts, over a frame, in how many cycles or for how many events a value lay in each bin, in two banks of memory:
-- while one counts, the other one is read out, and cleared word by word.
--
-- A bin's count is read in the cycle of its sample, and written back one larger in the next. Where the same bin
-- follows, what is being written is taken instead of what was read. So every sample is counted, whatever bins
-- follow one another.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_histogram is
    generic (
        BIN_BITS : positive := 4;
        BINS : positive := 16
    );
    port (
        clock, reset, sample : in std_logic;
        bin : in std_logic_vector(BIN_BITS - 1 downto 0);
        frame_end : in std_logic;
        selected : in std_logic; -- its words are wanted
        take : in std_logic;     -- and this one is taken
        ready, last : out std_logic;
        word_in : in std_logic_vector(31 downto 0); -- the words of a group's memories are joined by OR
        word : out std_logic_vector(31 downto 0)
    );
end agent_histogram;

architecture rtl of agent_histogram is
    type memory is array (natural range 0 to 2 ** BIN_BITS - 1) of unsigned(31 downto 0);
    signal bank_0, bank_1 : memory := (others => (others => '0'));
    signal read_0, read_1, written_count : unsigned(31 downto 0);
    signal active, pending, pending_bank, written, written_bank, fetched : std_logic;
    signal pending_bin, written_bin, place : unsigned(BIN_BITS - 1 downto 0);
    signal to_0, to_1, from_0, from_1 : unsigned(BIN_BITS - 1 downto 0);
    signal count, as_read, next_0, next_1 : unsigned(31 downto 0);
    signal again, clear, hits_0, hits_1, write_0, write_1 : std_logic;
begin
    again <= '1' when written = '1' and written_bank = pending_bank and written_bin = pending_bin else '0';
    as_read <= written_count when again = '1' else read_1 when pending_bank = '1' else read_0;
    count <= as_read + 1;
    clear <= selected and take;
    hits_0 <= pending and not pending_bank;
    hits_1 <= pending and pending_bank;
    write_0 <= hits_0 or (clear and active);
    write_1 <= hits_1 or (clear and not active);
    to_0 <= pending_bin when hits_0 = '1' else place;
    to_1 <= pending_bin when hits_1 = '1' else place;
    next_0 <= count when hits_0 = '1' else (others => '0');
    next_1 <= count when hits_1 = '1' else (others => '0');
    from_0 <= place when active = '1' else unsigned(bin);
    from_1 <= unsigned(bin) when active = '1' else place;

    process (clock)
    begin
        if rising_edge(clock) then
            read_0 <= bank_0(to_integer(from_0));
            if write_0 = '1' then
                bank_0(to_integer(to_0)) <= next_0;
            end if;
        end if;
    end process;
    process (clock)
    begin
        if rising_edge(clock) then
            read_1 <= bank_1(to_integer(from_1));
            if write_1 = '1' then
                bank_1(to_integer(to_1)) <= next_1;
            end if;
        end if;
    end process;
    process (clock)
    begin
        if rising_edge(clock) then
            pending <= sample and not reset;
            pending_bin <= unsigned(bin);
            pending_bank <= active;
            written <= pending;
            written_bin <= pending_bin;
            written_bank <= pending_bank;
            written_count <= count;
            fetched <= selected and not take;
            active <= not reset and (active xor frame_end);
            if reset = '1' or frame_end = '1' then
                place <= (others => '0');
            elsif clear = '1' then
                place <= place + 1;
            end if;
        end if;
    end process;

    ready <= fetched;
    last <= '1' when place = BINS - 1 else '0';
    word <= word_in when selected = '0'
        else word_in or std_logic_vector(read_0) when active = '1' else word_in or std_logic_vector(read_1);
end rtl;
