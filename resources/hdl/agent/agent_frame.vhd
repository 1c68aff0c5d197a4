-- Where the frames of a group end: with the run, after so many cycles, or after so many elements. A frame whose end
-- comes while the frame before is still being read out goes on to the next such end, so that nothing is left
-- uncounted.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_frame is
    generic (
        KIND : natural := 0; -- 0: asked for, 1: cycles, 2: elements
        LENGTH : std_logic_vector(31 downto 0)
    );
    port (
        clock, reset : in std_logic;
        element : in std_logic;    -- one passed in this cycle
        finish : in std_logic;     -- the host asks for what there is
        set_length : in std_logic; -- frames' length from the next end on
        new_length : in std_logic_vector(31 downto 0);
        free : in std_logic;
        cycle : in std_logic_vector(47 downto 0);
        frame_end : out std_logic; -- this cycle is the frame's last
        number : out std_logic_vector(31 downto 0);
        start, stop : out std_logic_vector(47 downto 0); -- of the frame that ended last
        since : out std_logic_vector(31 downto 0) -- cycles that this frame lasts so far
    );
end agent_frame;

architecture rtl of agent_frame is
    signal place, limit, frames, lasts : unsigned(31 downto 0);
    signal began : unsigned(47 downto 0);
    signal asked, counts, due, ends : std_logic;
begin
    counts <= '1' when KIND = 1 or (KIND = 2 and element = '1') else '0';
    due <= '1' when counts = '1' and place >= limit - 1 else '0';
    ends <= not reset and free and (due or asked);
    frame_end <= ends;
    number <= std_logic_vector(frames);
    since <= std_logic_vector(lasts);
    process (clock)
    begin
        if rising_edge(clock) then
            if reset = '1' then
                place <= (others => '0');
                limit <= unsigned(LENGTH);
                asked <= '0';
                began <= (others => '0');
                frames <= (others => '0');
                lasts <= (others => '0');
            else
                if due = '1' then
                    place <= (others => '0');
                elsif counts = '1' then
                    place <= place + 1;
                end if;
                if set_length = '1' and KIND = 1 then
                    limit <= unsigned(new_length);
                end if;
                asked <= finish or (asked and not ends);
                lasts <= lasts + 1;
                if ends = '1' then
                    lasts <= (others => '0');
                    frames <= frames + 1;
                    start <= std_logic_vector(began);
                    stop <= std_logic_vector(unsigned(cycle) + 1);
                    began <= unsigned(cycle) + 1;
                end if;
            end if;
        end if;
    end process;
end rtl;
