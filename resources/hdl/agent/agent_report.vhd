-- Sends what a group's monitors held when a frame ended, as a packet of 32-bit words: {8'hA6, 8'd1, GROUP}, the
-- frame's number, its first cycle, the one after its last (two words each, the low one first), then the words of
-- the chain, then those of each memory in turn.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_report is
    generic (
        GROUP_NUMBER : std_logic_vector(15 downto 0);
        CHAIN_WORDS : natural := 0;
        MEMORIES : natural := 0;
        LINES : positive := 1 -- of what the memories tell, one at least
    );
    port (
        clock, reset, frame_end : in std_logic;
        number : in std_logic_vector(31 downto 0);
        start, stop : in std_logic_vector(47 downto 0);
        free : out std_logic;
        shift : out std_logic;
        chain : in std_logic_vector(31 downto 0);
        selected : out std_logic_vector(LINES - 1 downto 0);
        take : out std_logic;
        ready, last : in std_logic_vector(LINES - 1 downto 0);
        word : in std_logic_vector(31 downto 0);
        report_valid : out std_logic;
        report_ready : in std_logic;
        report_last : out std_logic;
        report_data : out std_logic_vector(31 downto 0)
    );
end agent_report;

architecture rtl of agent_report is
    constant NONE : std_logic_vector(LINES - 1 downto 0) := (others => '0');
    signal place : unsigned(15 downto 0);
    signal chosen : std_logic_vector(LINES - 1 downto 0);
    signal idle : std_logic;
    signal valid, ends, sent, at_chain, memory_ends : std_logic;
begin
    at_chain <= '1' when place >= 6 and chosen = NONE else '0';
    memory_ends <= '1' when (chosen and last) /= NONE else '0';
    valid <= '0' when idle = '1' else '1' when chosen = NONE or (chosen and ready) /= NONE else '0';
    ends <= '1' when (MEMORIES = 0 and chosen = NONE and place = 5 + CHAIN_WORDS)
        or (chosen(LINES - 1) = '1' and memory_ends = '1') else '0';
    sent <= valid and report_ready;
    shift <= sent and at_chain;
    take <= sent when chosen /= NONE else '0';
    free <= idle;
    selected <= chosen;
    report_valid <= valid;
    report_last <= ends;

    process (clock)
    begin
        if rising_edge(clock) then
            if reset = '1' then
                idle <= '1';
                place <= (others => '0');
                chosen <= NONE;
            elsif frame_end = '1' then
                idle <= '0';
                place <= (others => '0');
                chosen <= NONE;
            elsif sent = '1' then
                if chosen = NONE then
                    place <= place + 1;
                end if;
                if ends = '1' then
                    idle <= '1';
                    chosen <= NONE;
                elsif MEMORIES > 0 and chosen = NONE and place = 5 + CHAIN_WORDS then
                    chosen(0) <= '1';
                elsif memory_ends = '1' then
                    chosen <= std_logic_vector(shift_left(unsigned(chosen), 1));
                end if;
            end if;
        end if;
    end process;

    process (place, number, start, stop, at_chain, chain, word)
    begin
        case to_integer(place) is
            when 0 => report_data <= x"A601" & GROUP_NUMBER;
            when 1 => report_data <= number;
            when 2 => report_data <= start(31 downto 0);
            when 3 => report_data <= x"0000" & start(47 downto 32);
            when 4 => report_data <= stop(31 downto 0);
            when 5 => report_data <= x"0000" & stop(47 downto 32);
            when others =>
                report_data <= word;
                if at_chain = '1' then
                    report_data <= chain;
                end if;
        end case;
    end process;
end rtl;
