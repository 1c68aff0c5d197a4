-- What tiny_top.v is, in VHDL.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity tiny_top is
    generic (DELAY : natural := 4);
    port (
        clk, rst : in std_logic;
        addr : in std_logic_vector(31 downto 0);
        wr_en : in std_logic;
        wr_data : in std_logic_vector(31 downto 0);
        rd_en : in std_logic;
        rd_data : out std_logic_vector(31 downto 0)
    );
end entity;

architecture rtl of tiny_top is
    type words_t is array (0 to 63) of std_logic_vector(31 downto 0);
    signal words : words_t;
    signal head, tail, held : unsigned(5 downto 0) := (others => '0');
    signal sum : unsigned(31 downto 0);
    signal left : natural range 0 to 255;
    signal below : integer range -128 to 127;
    signal empty : boolean;
    signal mask : std_logic_vector(31 downto 0);
    signal far : unsigned(wr_data'length + addr'length - 1 downto 0);
    signal deep : signed(39 downto 0);
begin
    empty <= head = tail;
    held <= tail - head;
    below <= left - 3;
    mask <= (others => wr_data(0));
    far <= unsigned(wr_data xor mask) & unsigned(addr);
    deep <= to_signed(below, 8) & to_signed(1, 32);
    --pragma recap count starved when empty and left = 0
    --pragma recap histogram depth of held bins 1, 2, 3
    --pragma recap sum taken of wr_data when wr_en = '1' and unsigned(addr) < 256
    --pragma recap mean written of wr_data when wr_en = '1' and unsigned(addr) < 256
    --pragma recap deviation spread of wr_data when wr_en = '1' and unsigned(addr) < 256
    --pragma recap min least of below
    --pragma recap max most of below when not empty
    --pragma recap sum reach of far when wr_en = '1' and unsigned(addr) < 256
    --pragma recap deviation around of far when wr_en = '1' and unsigned(addr) < 256
    --pragma recap max farthest of far when wr_en = '1' and unsigned(addr) < 256
    --pragma recap histogram halves of far bins 9223372036854775808 when wr_en = '1' and unsigned(addr) < 256
    --pragma recap min deepest of deep
    --pragma recap sequence started when left = 4 then wr_en = '1' within 60
    --pragma recap correlate together when empty with left = 0

    port_p : process (clk)
    begin
        if rising_edge(clk) then
            if rst = '1' then
                tail <= (others => '0');
            elsif wr_en = '1' and unsigned(addr) < 256 then
                --pragma recap take recv(data, $CPU, w1)
                words(to_integer(tail)) <= wr_data;
                tail <= tail + 1;
            elsif rd_en = '1' then
                --pragma recap tell send(ctrl, $CPU, d1|s1)
                rd_data <= std_logic_vector(sum);
                if unsigned(addr) = 256 then
                    rd_data <= (others => '0');
                    if empty and left = 0 then
                        rd_data(0) <= '1';
                    end if;
                end if;
            end if;
        end if;
    end process;

    adder : process (clk)
    begin
        if rising_edge(clk) then
            if rst = '1' then
                head <= (others => '0');
                sum <= (others => '0');
                left <= 0;
            elsif left /= 0 then
                --pragma recap add work()
                left <= left - 1;
            elsif not empty then
                --pragma recap fetch overhead(update)
                sum <= sum + unsigned(words(to_integer(head)));
                head <= head + 1;
                left <= DELAY;
            else
                --pragma recap idle wait_recv(buffer_empty, tiny_top.port_p, w1)
                left <= 0;
            end if;
        end if;
    end process;
end architecture;
