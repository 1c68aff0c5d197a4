-- As ../hdl/queued_top.v, cycle by cycle.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

-- One word is kept until it is taken so often; the highest bit says whether it is odd.
entity take is
  generic (BURST : positive := 1; WIDTH : positive := 64);
  port (
    clk, rst, write : in  std_logic;
    data            : in  std_logic_vector(31 downto 0);
    m_tvalid        : out std_logic;
    m_tready        : in  std_logic;
    m_tdata         : out std_logic_vector(WIDTH - 1 downto 0)
  );
end entity;

architecture rtl of take is
  signal valid : std_logic := '0';
  signal left  : unsigned(7 downto 0) := (others => '0');
begin
  m_tvalid <= valid;
  process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        valid <= '0';
      elsif write = '1' then
        valid   <= '1';
        m_tdata <= data(0) & (WIDTH - 34 downto 0 => '0') & data;
        left    <= to_unsigned(BURST - 1, 8);
      elsif m_tready = '1' then
        if left = 0 then
          valid <= '0';
        end if;
        left <= left - 1;
      end if;
    end if;
  end process;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity fifo is
  port (
    clk, rst : in  std_logic;
    s_tvalid : in  std_logic;
    s_tready : out std_logic;
    s_tdata  : in  std_logic_vector(63 downto 0);
    m_tvalid : out std_logic;
    m_tready : in  std_logic;
    m_tdata  : out std_logic_vector(63 downto 0)
  );
end entity;

architecture rtl of fifo is
  constant DEPTH : positive := 16;
  type memory is array (0 to DEPTH - 1) of std_logic_vector(63 downto 0);
  signal words         : memory;
  signal head, tail    : unsigned(4 downto 0) := (others => '0');
  signal takes, offers : std_logic;
begin
  takes    <= '0' when tail - head = DEPTH else '1';
  offers   <= '0' when tail = head else '1';
  s_tready <= takes;
  m_tvalid <= offers;
  m_tdata  <= words(to_integer(head(3 downto 0)));
  process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        head <= (others => '0');
        tail <= (others => '0');
      else
        if s_tvalid = '1' and takes = '1' then
          words(to_integer(tail(3 downto 0))) <= s_tdata;
          tail <= tail + 1;
        end if;
        if offers = '1' and m_tready = '1' then
          head <= head + 1;
        end if;
      end if;
    end if;
  end process;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity adds is
  generic (DELAY : positive := 9);
  port (
    clk, rst : in  std_logic;
    s_tvalid : in  std_logic;
    s_tready : out std_logic;
    s_tdata  : in  std_logic_vector(63 downto 0);
    sum      : out std_logic_vector(31 downto 0);
    idle     : out std_logic
  );
end entity;

architecture rtl of adds is
  signal left  : unsigned(7 downto 0)  := (others => '0');
  signal total : unsigned(31 downto 0) := (others => '0');
begin
  s_tready <= '1' when left = 0 else '0';
  idle     <= '1' when left = 0 else '0';
  sum      <= std_logic_vector(total);
  adding : process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        left  <= (others => '0');
        total <= (others => '0');
      elsif left /= 0 then
        --pragma recap add work()
        left <= left - 1;
      elsif s_tvalid = '1' then
        --pragma recap fetch overhead(update)
        left  <= to_unsigned(DELAY, 8);
        total <= total + unsigned(s_tdata(31 downto 0));
      else
        --pragma recap starve wait_recv(buffer_empty, queued_top.queue, w1)
        left <= (others => '0');
      end if;
    end if;
  end process;
end architecture;

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity queued_top is
  generic (DELAY : positive := 9; BURST : positive := 1);
  port (
    clk, rst : in  std_logic;
    addr     : in  std_logic_vector(31 downto 0);
    wr_en    : in  std_logic;
    wr_data  : in  std_logic_vector(31 downto 0);
    rd_en    : in  std_logic;
    rd_data  : out std_logic_vector(31 downto 0)
  );
end entity;

architecture rtl of queued_top is
  signal in_tvalid, in_tready, out_tvalid, out_tready, idle, write : std_logic;
  signal in_tdata, out_tdata : std_logic_vector(63 downto 0);
  signal sum : std_logic_vector(31 downto 0);
begin
  write <= '1' when wr_en = '1' and unsigned(addr) < 16#100# else '0';
  taker : entity work.take generic map (BURST => BURST)
    port map (clk => clk, rst => rst, write => write, data => wr_data,
              m_tvalid => in_tvalid, m_tready => in_tready, m_tdata => in_tdata);
  queue : entity work.fifo
    port map (clk => clk, rst => rst, s_tvalid => in_tvalid, s_tready => in_tready, s_tdata => in_tdata,
              m_tvalid => out_tvalid, m_tready => out_tready, m_tdata => out_tdata);
  adder : entity work.adds generic map (DELAY => DELAY)
    port map (clk => clk, rst => rst, s_tvalid => out_tvalid, s_tready => out_tready, s_tdata => out_tdata,
              sum => sum, idle => idle);
  process (clk)
  begin
    if rising_edge(clk) then
      if rd_en = '1' then
        rd_data <= sum;
        if unsigned(addr) = 16#100# then
          rd_data    <= (others => '0');
          rd_data(0) <= idle and not out_tvalid and not in_tvalid;
        end if;
      end if;
    end if;
  end process;
end architecture;
