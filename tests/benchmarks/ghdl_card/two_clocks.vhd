-- As tests/data/applications/two_clocks/two_clocks.v: adds up the numbers from 1 to n on a clock of its own.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity two_clocks is
    port (
        clk, rst_n, fast : in std_logic;
        irq              : out std_logic;
        awvalid          : in std_logic;
        awready          : out std_logic;
        awaddr           : in std_logic_vector(7 downto 0);
        wvalid           : in std_logic;
        wready           : out std_logic;
        wdata            : in std_logic_vector(31 downto 0);
        wstrb            : in std_logic_vector(3 downto 0);
        bvalid           : out std_logic;
        bready           : in std_logic;
        bresp            : out std_logic_vector(1 downto 0);
        arvalid          : in std_logic;
        arready          : out std_logic;
        araddr           : in std_logic_vector(7 downto 0);
        rvalid           : out std_logic;
        rready           : in std_logic;
        rdata            : out std_logic_vector(31 downto 0);
        rresp            : out std_logic_vector(1 downto 0)
    );
end entity;

architecture rtl of two_clocks is
    signal asked, write, read : std_logic := '0';
    signal upto, left, sum : unsigned(31 downto 0) := (others => '0');
    signal seen : std_logic_vector(2 downto 0) := "000";
begin
    write <= awvalid and wvalid and not bvalid;
    read <= arvalid and not rvalid;
    awready <= write;
    wready <= write;
    arready <= read;
    bresp <= "00";
    rresp <= "00";

    registers : process (clk)
    begin
        if rising_edge(clk) then
            if rst_n = '0' then
                bvalid <= '0';
                rvalid <= '0';
                asked <= '0';
            else
                if bready = '1' then bvalid <= '0'; end if;
                if rready = '1' then rvalid <= '0'; end if;
                if write = '1' then
                    --pragma recap takeNumber recv(ctrl, $CPU, n)
                    bvalid <= '1';
                    upto <= unsigned(wdata);
                    asked <= not asked;
                elsif read = '1' then
                    --pragma recap giveSum send(ctrl, $CPU, sum)
                    rvalid <= '1';
                    rdata <= std_logic_vector(sum);
                end if;
            end if;
        end if;
    end process;

    process (fast)
    begin
        if rising_edge(fast) then
            if rst_n = '1' then seen <= seen(1 downto 0) & asked; else seen <= "000"; end if;
        end if;
    end process;

    worker : process (fast)
    begin
        if rising_edge(fast) then
            irq <= '0';
            if rst_n = '0' then
                left <= (others => '0');
            elsif seen(2) /= seen(1) then
                --pragma recap begin overhead(initialize)
                left <= upto;
                sum <= (others => '0');
            elsif left /= 0 then
                --pragma recap add work()
                left <= left - 1;
                sum <= sum + left;
                if left = 1 then irq <= '1'; end if;
            else
                --pragma recap idle wait_recv(late_sender, $CPU, n)
                irq <= '0';
            end if;
        end if;
    end process;
end architecture;
