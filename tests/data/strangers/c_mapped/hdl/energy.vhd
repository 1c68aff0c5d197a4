library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.energy_pkg.all;

entity energy is
  generic (DEPTH : positive := 256);
  port (
    clk     : in  std_logic;
    resetn  : in  std_logic;
    sel     : in  std_logic;
    wr      : in  std_logic;
    address : in  std_logic_vector(11 downto 0);
    wdata   : in  word_t;
    rdata   : out word_t
  );
end entity;

architecture rtl of energy is
  type state_t is (idle, fetch, square, accumulate, finished);
  signal state : state_t := idle;
  signal ram   : ram_t(0 to DEPTH - 1) := (others => (others => '0'));
  signal regs  : regs_t := REGS_RESET;
  signal index : unsigned(8 downto 0) := (others => '0');
  signal start : std_logic;
  signal word  : word_t;
  signal prod  : unsigned(31 downto 0);
begin
  start <= '1' when sel = '1' and wr = '1' and unsigned(address) = 16#400# and wdata(0) = '1' else '0';

  bus_side : process (clk)
  begin
    if rising_edge(clk) then
      if sel = '1' and wr = '1' then
        if address(11 downto 10) = "00" then
          ram(to_integer(unsigned(address(9 downto 2)))) <= wdata;
        elsif unsigned(address) = 16#408# then
          regs.length <= unsigned(wdata(8 downto 0));
        end if;
      elsif sel = '1' then
        case to_integer(unsigned(address)) is
          when 16#404# => rdata <= (0 => regs.done, others => '0');
          when 16#40C# => rdata <= std_logic_vector(regs.result);
          when others  => rdata <= ram(to_integer(unsigned(address(9 downto 2))));
        end case;
      end if;
    end if;
  end process;

  engine : process (clk)
  begin
    if rising_edge(clk) then
      if resetn = '0' then
        state <= idle;
        regs.done <= '0';
      else
        case state is
          when idle | finished =>
            if start = '1' then
              regs.done   <= '0';
              regs.result <= (others => '0');
              index       <= (others => '0');
              state       <= fetch;
            end if;
          when fetch =>
            word  <= ram(to_integer(index(7 downto 0)));
            state <= square;
          when square =>
            prod  <= resize(unsigned(word(11 downto 0)) * unsigned(word(11 downto 0)), 32);
            state <= accumulate;
          when accumulate =>
            regs.result <= regs.result + prod;
            if index = regs.length - 1 then
              regs.done <= '1';
              state     <= finished;
            else
              index <= index + 1;
              state <= fetch;
            end if;
        end case;
      end if;
    end if;
  end process;
end architecture;
