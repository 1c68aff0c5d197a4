-- What tiny_top.v is, in VHDL, with PSL.
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
        rd_data : out std_logic_vector(31 downto 0);
        pins : inout std_logic_vector(7 downto 0);
        seen : out std_logic_vector(7 downto 0)
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
    signal third : boolean;
    signal since : unsigned(7 downto 0) := (others => '0');
    signal next_state : natural range 0 to 3;
begin
    empty <= head = tail;
    held <= tail - head;
    below <= left - 3;

    -- psl default clock is rising_edge(clk);
    -- psl free : assert always ((wr_en = '1' and unsigned(addr) < 256) ->
    --    next[2] (left < 100)) abort rst = '1' report "an adder that is busy gets a word" severity warning;
    -- psl steps : assert always {left > 1} |=> {left > 0} abort rst = '1';
    -- psl sequence once is {wr_en = '1' and unsigned(addr) < 256; {wr_en = '0'}[*2]};
    -- psl bursts : assert always {once} |=> {[*0 to 2]; left > 2} abort rst = '1';
    -- psl begun : assert always (rose(left /= 0) -> ({(not empty) or prev(not empty); left > 99})) abort rst = '1';
    -- psl counts : assert always (left > 1 and stable(head) ->
    --    next (left = prev(left) - 1 until (left = 0 or left = 124))) abort rst = '1';
    bits : for i in 0 to 1 generate
    begin
        -- psl even : assert always ((wr_en = '1' and addr(i) = '1') -> next (wr_en = '0')) abort rst = '1';
    end generate;

    pins <= std_logic_vector(to_unsigned(left, 8)) when left mod 2 = 1 else (others => 'Z');
    process (clk) begin
        if rising_edge(clk) then
            seen <= pins;
        end if;
    end process;

    third <= left = 3;
    counter : process (clk, third)
    begin
        if third then
            since <= (others => '0');
            resets : assert head(0) = '1';
        elsif rising_edge(clk) then
            since <= since + 1;
            for i in 0 to 1 loop
                tame : assert since(i) = '0' or left < 100 report "in a loop" severity note;
            end loop;
        end if;
    end process;

    quiet : assert not (wr_en = '1' and rd_en = '1') report "both at once" severity error;

    process (all)
    begin
        next_state <= 0;
        if left /= 0 then
            next_state <= 1;
        elsif not empty then
            next_state <= 2;
        end if;
    end process;

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
                one_left : assert tail - head < 2 report "two words wait" severity error;
                left <= DELAY;
            else
                --pragma recap idle wait_recv(buffer_empty, tiny_top.port_p, w1)
                left <= 0;
            end if;
        end if;
    end process;
end architecture;
