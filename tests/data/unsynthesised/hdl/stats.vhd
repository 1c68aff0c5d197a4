library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use ieee.math_real.all;
use std.textio.all;

package shared_count is
    type counter_t is protected
        procedure add;
        impure function value return natural;
    end protected;
    shared variable counter : counter_t;
end package;

package body shared_count is
    type counter_t is protected body
        variable sum : natural := 0;
        procedure add is
        begin
            sum := sum + 1;
        end procedure;
        impure function value return natural is
        begin
            return sum;
        end function;
    end protected body;
end package body;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use ieee.math_real.all;
use std.textio.all;
use work.shared_count.all;

entity stats is
    port (
        clk, rst : in std_logic;
        addr     : in std_logic_vector(31 downto 0);
        wr_en    : in std_logic;
        wr_data  : in std_logic_vector(31 downto 0);
        rd_en    : in std_logic;
        rd_data  : out std_logic_vector(31 downto 0)
    );
end entity;

architecture model of stats is
    type state_t is (idle, work, settle);
    signal state : state_t := idle;
    signal mean : real := 0.0;
    signal left : natural := 0;
    signal how : natural := 0;
    signal late : std_logic := '0';
    signal lagging : natural := 0;
    type table_t is array (0 to 3) of natural;
    signal table : table_t := (others => 0);
begin
    -- a time of its own: 'late' follows 'left' by 13 ns
    late <= transport '1' after 13 ns when left > 0 else '0' after 13 ns;

    breaks : process
        variable found : natural;
    begin
        wait until how > 0;
        while how /= 1 loop
            wait for 0 ns;
        end loop;
        found := table(4 * how);
        report integer'image(found);
    end process;

    machine : process (clk)
        file log : text open write_mode is "stats.log";
        variable row : line;
    begin
        if rising_edge(clk) then
            if (late = '1') /= (left > 0) then
                lagging <= lagging + 1;
            end if;
            if rst = '1' then
                state <= idle;
            elsif wr_en = '1' and unsigned(addr) = 3 then
                how <= to_integer(unsigned(wr_data));
            else
                case state is
                    when idle =>
                        --pragma recap waitHost wait_recv(late_sender, $CPU, value)
                        if wr_en = '1' and unsigned(addr) = 0 then
                            left <= to_integer(unsigned(wr_data(7 downto 0)));
                            state <= work;
                            counter.add;
                        end if;
                    when work =>
                        --pragma recap compute work()
                        mean <= sqrt(mean * mean + real(left));
                        if left = 0 then
                            state <= settle;
                            write(row, string'("mean "));
                            write(row, mean, digits => 6);
                            writeline(log, row);
                        else
                            left <= left - 1;
                        end if;
                    when settle =>
                        --pragma recap settling overhead(update)
                        state <= idle;
                        report "mean is " & real'image(mean);
                        assert counter.value < 3 report "many" severity warning;
                end case;
            end if;
        end if;
    end process;

    process
    begin
        wait until rising_edge(clk);
        if rd_en = '1' then
            wait for 3 ns;
            if unsigned(addr) = 0 then
                rd_data <= std_logic_vector(to_unsigned(integer(round(mean * 1000.0)), 32));
            elsif unsigned(addr) = 1 then
                rd_data <= (others => '0');
                if state /= idle then rd_data(0) <= '1'; end if;
            else
                rd_data <= std_logic_vector(to_unsigned(lagging, 32));
            end if;
        end if;
    end process;
end architecture;
