-- Keeps, over a frame, when something happened (cycles since the frame began) and its value, in two banks of
-- memory: while one is filled, the other one is read out. Records for which there is no room are counted. Words:
-- records, lost, then each record.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_trace is
    generic (
        VALUE_BITS : positive := 1; -- up to 64
        KEY_BITS : natural := 0; -- the low bits whose changes are of account, where STATE; 0: all
        ROOM_BITS : positive := 6;
        VALUE_WORDS : positive := 1;
        STATE : natural := 0 -- instead of samples: what a frame begins with, and what differs from the cycle before
    );
    port (
        clock, reset, sample : in std_logic;
        value : in std_logic_vector(VALUE_BITS - 1 downto 0);
        since : in std_logic_vector(31 downto 0);
        frame_end, selected, take : in std_logic;
        ready, last : out std_logic;
        word_in : in std_logic_vector(31 downto 0);
        word : out std_logic_vector(31 downto 0)
    );
end agent_trace;

architecture rtl of agent_trace is
    function low_bits return positive is
    begin
        if KEY_BITS = 0 then
            return VALUE_BITS;
        end if;
        return KEY_BITS;
    end low_bits;
    constant KEYS : positive := low_bits;
    constant BITS : positive := 32 + 32 * VALUE_WORDS;
    type memory is array (natural range 0 to 2 ** (ROOM_BITS + 1) - 1) of std_logic_vector(BITS - 1 downto 0);
    signal records : memory;
    signal active, fetched : std_logic;
    signal first : std_logic;
    signal used, kept, place, used_now : unsigned(ROOM_BITS downto 0);
    signal lost, kept_lost, lost_now : unsigned(31 downto 0);
    signal part : natural range 0 to 2; -- of a record
    signal head : natural range 0 to 2; -- 0: the number of records, 1: those lost, 2: records
    signal one : std_logic_vector(BITS - 1 downto 0);
    signal earlier : std_logic_vector(KEYS - 1 downto 0);
    signal wanted, full, taken : std_logic;
begin
    full <= used(ROOM_BITS);
    wanted <= '0' when reset = '1' else sample when STATE = 0
        else '1' when first = '1' or value(KEYS - 1 downto 0) /= earlier else '0';
    used_now <= used + 1 when wanted = '1' and full = '0' else used;
    lost_now <= lost + 1 when wanted = '1' and full = '1' else lost;
    taken <= selected and take;

    process (clock)
    begin
        if rising_edge(clock) then
            if wanted = '1' and full = '0' then
                records(to_integer(active & used(ROOM_BITS - 1 downto 0))) <=
                    std_logic_vector(resize(unsigned(value), 32 * VALUE_WORDS)) & since;
            end if;
            one <= records(to_integer((not active) & place(ROOM_BITS - 1 downto 0)));
        end if;
    end process;
    process (clock)
    begin
        if rising_edge(clock) then
            earlier <= value(KEYS - 1 downto 0);
            first <= reset or frame_end;
            used <= used_now;
            lost <= lost_now;
            if reset = '1' or frame_end = '1' then
                used <= (others => '0');
                lost <= (others => '0');
            end if;
            fetched <= selected and not take;
            active <= not reset and (active xor frame_end);
            if reset = '1' or frame_end = '1' then
                kept <= used_now;
                kept_lost <= lost_now;
                place <= (others => '0');
                part <= 0;
                head <= 0;
            elsif taken = '1' then
                if head /= 2 then
                    head <= head + 1;
                elsif part = VALUE_WORDS then
                    part <= 0;
                    place <= place + 1;
                else
                    part <= part + 1;
                end if;
            end if;
        end if;
    end process;

    ready <= fetched;
    last <= '1' when (head = 2 and part = VALUE_WORDS and place + 1 = kept) or (head = 1 and kept = 0) else '0';
    process (selected, head, part, one, kept, kept_lost, word_in)
        variable wide : std_logic_vector(95 downto 0);
        variable found : std_logic_vector(31 downto 0);
    begin
        wide := std_logic_vector(resize(unsigned(one), 96));
        if selected = '0' then
            found := (others => '0');
        elsif head = 0 then
            found := std_logic_vector(resize(kept, 32));
        elsif head = 1 then
            found := std_logic_vector(kept_lost);
        elsif part = 0 then
            found := wide(31 downto 0);
        elsif part = 1 then
            found := wide(63 downto 32);
        else
            found := wide(95 downto 64);
        end if;
        word <= word_in or found;
    end process;
end rtl;
