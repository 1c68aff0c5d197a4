-- Two streams of packets become one, packet by packet; each gets its turn.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_merge is
    port (
        clock, reset : in std_logic;
        a_valid : in std_logic;
        a_ready : out std_logic;
        a_last : in std_logic;
        a_data : in std_logic_vector(31 downto 0);
        b_valid : in std_logic;
        b_ready : out std_logic;
        b_last : in std_logic;
        b_data : in std_logic_vector(31 downto 0);
        valid : out std_logic;
        ready : in std_logic;
        last : out std_logic;
        data : out std_logic_vector(31 downto 0)
    );
end agent_merge;

architecture rtl of agent_merge is
    signal in_packet, of_b : std_logic; -- a packet is open; it is b's, or the last one was
    signal b, is_valid, is_last : std_logic;
begin
    b <= of_b when in_packet = '1' else b_valid and (not a_valid or not of_b);
    is_valid <= b_valid when b = '1' else a_valid;
    is_last <= b_last when b = '1' else a_last;
    data <= b_data when b = '1' else a_data;
    valid <= is_valid;
    last <= is_last;
    a_ready <= ready and not b;
    b_ready <= ready and b;
    process (clock)
    begin
        if rising_edge(clock) then
            if reset = '1' then
                in_packet <= '0';
                of_b <= '0';
            elsif is_valid = '1' then
                of_b <= b;
                in_packet <= not (ready and is_last);
            end if;
        end if;
    end process;
end rtl;
