-- Takes words from one clock to another: a queue whose places are told across in Gray code, through two registers
-- each.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_cross is
    generic (ROOM_BITS : positive := 3);
    port (
        in_clock, in_reset : in std_logic;
        in_valid : in std_logic;
        in_ready : out std_logic;
        in_last : in std_logic;
        in_data : in std_logic_vector(31 downto 0);
        out_clock, out_reset : in std_logic;
        out_valid : out std_logic;
        out_ready : in std_logic;
        out_last : out std_logic;
        out_data : out std_logic_vector(31 downto 0)
    );
end agent_cross;

architecture rtl of agent_cross is
    subtype place is unsigned(ROOM_BITS downto 0);
    type memory is array (natural range 0 to 2 ** ROOM_BITS - 1) of std_logic_vector(32 downto 0);
    signal words : memory;
    signal in_place, out_place, in_next, out_next : place;
    signal in_gray, in_gray_1, in_gray_2, out_gray, out_gray_1, out_gray_2 : place;
    signal full_at : place;
    signal takes, gives : std_logic;
    signal word : std_logic_vector(32 downto 0);
    attribute async_reg : string;
    attribute async_reg of in_gray_1, in_gray_2, out_gray_1, out_gray_2 : signal is "true";
begin
    process (out_gray_2)
    begin
        full_at <= out_gray_2;
        full_at(ROOM_BITS downto ROOM_BITS - 1) <= not out_gray_2(ROOM_BITS downto ROOM_BITS - 1);
    end process;
    takes <= '0' when in_gray = full_at else '1';
    gives <= '0' when out_gray = in_gray_2 else '1';
    in_ready <= takes;
    out_valid <= gives;
    word <= words(to_integer(out_place(ROOM_BITS - 1 downto 0)));
    out_last <= word(32);
    out_data <= word(31 downto 0);
    in_next <= in_place + 1 when in_valid = '1' and takes = '1' else in_place;
    out_next <= out_place + 1 when gives = '1' and out_ready = '1' else out_place;

    process (in_clock)
    begin
        if rising_edge(in_clock) then
            if in_valid = '1' and takes = '1' then
                words(to_integer(in_place(ROOM_BITS - 1 downto 0))) <= in_last & in_data;
            end if;
            in_place <= in_next;
            in_gray <= in_next xor shift_right(in_next, 1);
            out_gray_1 <= out_gray;
            out_gray_2 <= out_gray_1;
            if in_reset = '1' then
                in_place <= (others => '0');
                in_gray <= (others => '0');
                out_gray_1 <= (others => '0');
                out_gray_2 <= (others => '0');
            end if;
        end if;
    end process;
    process (out_clock)
    begin
        if rising_edge(out_clock) then
            out_place <= out_next;
            out_gray <= out_next xor shift_right(out_next, 1);
            in_gray_1 <= in_gray;
            in_gray_2 <= in_gray_1;
            if out_reset = '1' then
                out_place <= (others => '0');
                out_gray <= (others => '0');
                in_gray_1 <= (others => '0');
                in_gray_2 <= (others => '0');
            end if;
        end if;
    end process;
end rtl;
