-- Adds up what comes, a word in every `PACE` cycles at most. The interrupt is high once as many words came as were written
-- to 0x800; the sum is read at 0x801.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity receiver is
  generic (PACE : natural := 8);
  port (
    clk, rst : in std_logic;
    irq : out std_logic;
    addr : in std_logic_vector(15 downto 0);
    wr_en : in std_logic;
    wr_data : in std_logic_vector(31 downto 0);
    rd_en : in std_logic;
    rd_data : out std_logic_vector(31 downto 0);
    in_valid : in std_logic;
    in_ready : out std_logic;
    in_data : in std_logic_vector(31 downto 0));
end entity;

architecture rtl of receiver is
  signal sum, wanted, came : unsigned(31 downto 0);
  signal rest : natural range 0 to PACE;
  signal taking : std_logic;
begin
  taking <= '1' when rest = 0 else '0';
  in_ready <= taking;
  irq <= '1' when came = wanted and wanted /= 0 else '0';

  take : process (clk)
  begin
    if rising_edge(clk) then
      rd_data <= std_logic_vector(sum);
      if rst = '1' then
        sum <= (others => '0');
        came <= (others => '0');
        wanted <= (others => '0');
        rest <= 0;
      elsif wr_en = '1' and addr = x"0800" then
        --pragma recap begin recv(ctrl, $CPU, wanted)
        wanted <= unsigned(wr_data);
      elsif taking = '1' and in_valid = '1' then
        --pragma recap add recv(data, left.sender.send, words)
        sum <= sum + unsigned(in_data);
        came <= came + 1;
        rest <= PACE - 1;
      elsif taking = '1' then
        --pragma recap empty wait_recv(late_sender, left.sender.send, words)
        rest <= 0;
      else
        --pragma recap digest work()
        rest <= rest - 1;
      end if;
    end if;
  end process;
end architecture;
