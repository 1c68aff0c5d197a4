-- Does what the host asks for on one clock: a word is a command, its operation in the top four bits. 1: tell the
-- time, by the packet {8'hA6, 8'd2, CLOCK_NUMBER}, the number of cycles since reset, low word and high word; 2: end
-- all frames now; 3: frames of time get the length in the other bits. Others are passed over.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_control is
    generic (CLOCK_NUMBER : std_logic_vector(15 downto 0));
    port (
        clock, reset : in std_logic;
        command_valid : in std_logic;
        command_ready : out std_logic;
        command_data : in std_logic_vector(31 downto 0);
        cycle : out std_logic_vector(47 downto 0); -- of the taps' second stage, two cycles ago
        finish, set_length : out std_logic;
        new_length : out std_logic_vector(31 downto 0);
        reset_1, reset_2 : out std_logic; -- the reset, until the taps and their second stage are out of it
        report_valid : out std_logic;
        report_ready : in std_logic;
        report_last : out std_logic;
        report_data : out std_logic_vector(31 downto 0)
    );
end agent_control;

architecture rtl of agent_control is
    signal so_far, behind, told : unsigned(47 downto 0);
    signal left : unsigned(1 downto 0);
    signal later_1, later_2 : std_logic;
    signal ready, taken : std_logic;
    signal operation : std_logic_vector(3 downto 0);
begin
    ready <= '1' when left = 0 and later_2 = '0' and reset = '0' else '0';
    taken <= command_valid and ready;
    operation <= command_data(31 downto 28);
    command_ready <= ready;
    finish <= taken when operation = x"2" else '0';
    set_length <= taken when operation = x"3" else '0';
    new_length <= x"0" & command_data(27 downto 0);
    reset_1 <= reset or later_1;
    reset_2 <= reset or later_2;
    cycle <= std_logic_vector(behind);
    process (clock)
    begin
        if rising_edge(clock) then
            later_1 <= reset;
            later_2 <= later_1;
            if reset = '1' then
                so_far <= (others => '0');
                behind <= x"FFFFFFFFFFFE";
                left <= "00";
            else
                so_far <= so_far + 1;
                behind <= so_far - 1;
                if taken = '1' and operation = x"1" then
                    left <= "11";
                elsif left /= 0 and report_ready = '1' then
                    left <= left - 1;
                end if;
            end if;
            if taken = '1' then
                told <= so_far;
            end if;
        end if;
    end process;
    report_valid <= '0' when left = 0 else '1';
    report_last <= '1' when left = 1 else '0';
    report_data <= x"A602" & CLOCK_NUMBER when left = 3
        else std_logic_vector(told(31 downto 0)) when left = 2
        else x"0000" & std_logic_vector(told(47 downto 32));
end rtl;
