-- CRC-32 of the words in a memory of 64 words at 0x00: a write to 0x40 says of how many and starts; 0x41 is 1 when it is done,
-- 0x42 is the result.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.crc_pkg.all;

entity crc32 is
    port (
        clk, rst_n, cs, we : in  std_logic;
        addr               : in  std_logic_vector(7 downto 0);
        din                : in  word;
        dout               : out word
    );
end entity;

architecture rtl of crc32 is
    type store is array (0 to 63) of word;
    type phase is (S_IDLE, S_LOAD, S_SHIFT, S_DONE);
    signal memory : store;
    signal state  : phase;
    signal crc    : word;
    signal at     : unsigned(6 downto 0);
    signal last   : unsigned(6 downto 0);
    signal bits   : unsigned(4 downto 0);
begin
    port_side : process (clk)
    begin
        if rising_edge(clk) then
            if cs = '1' and we = '1' and unsigned(addr) < 64 then
                memory(to_integer(unsigned(addr(5 downto 0)))) <= din;
            elsif cs = '1' and addr = x"42" then
                dout <= not crc;
            elsif cs = '1' then
                dout <= (others => '0');
                if state = S_DONE then
                    dout(0) <= '1';
                end if;
            end if;
        end if;
    end process;

    engine : process (clk)
    begin
        if rising_edge(clk) then
            if rst_n = '0' then
                state <= S_IDLE;
            else
                case state is
                    when S_IDLE | S_DONE =>
                        if cs = '1' and we = '1' and addr = x"40" then
                            last  <= unsigned(din(6 downto 0));
                            at    <= (others => '0');
                            crc   <= x"FFFFFFFF";
                            state <= S_LOAD;
                        end if;
                    when S_LOAD =>
                        bits <= (others => '0');
                        if at = last then
                            state <= S_DONE;
                        else
                            crc   <= crc xor memory(to_integer(at(5 downto 0)));
                            at    <= at + 1;
                            state <= S_SHIFT;
                        end if;
                    when S_SHIFT =>
                        crc  <= shifted(crc);
                        bits <= bits + 1;
                        if bits = 31 then
                            state <= S_LOAD;
                        end if;
                end case;
            end if;
        end if;
    end process;
end architecture;
