-- tdfir_core.v in VHDL, the same to the cycle.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity tdfir_core is
    generic (
        MACS         : positive := 128;
        INPUT_WORDS  : positive := 4096;
        KERNEL_WORDS : positive := 128;
        BATCH        : positive := 1;
        BUFFERS      : positive := 1
    );
    port (
        clk, rst        : in  std_logic;
        filled, emptied : in  std_logic;
        done            : out std_logic;
        unread          : out std_logic_vector(7 downto 0);
        input_address   : out std_logic_vector(31 downto 0);
        input_data      : in  std_logic_vector(31 downto 0);
        kernel_address  : out std_logic_vector(31 downto 0);
        kernel_data     : in  std_logic_vector(31 downto 0);
        output_address  : out std_logic_vector(31 downto 0);
        output_data     : in  std_logic_vector(31 downto 0);
        output_write    : out std_logic;
        written_address : out std_logic_vector(31 downto 0);
        written_data    : out std_logic_vector(31 downto 0)
    );
end entity;

architecture rtl of tdfir_core is
    function taps_of return natural is
    begin
        if KERNEL_WORDS < MACS then
            return KERNEL_WORDS;
        end if;
        return MACS;
    end function;

    constant TAPS         : natural := taps_of;
    constant OUTPUT_WORDS : natural := INPUT_WORDS + KERNEL_WORDS - 1;
    constant LATENCY      : natural := 3; -- from the address of an input to its sum

    type state_t is (IDLE, LOAD, SHIFT, FULL);
    type words_t is array (0 to MACS - 1) of unsigned(31 downto 0);

    signal state              : state_t;
    signal item, pass, at     : unsigned(31 downto 0);
    signal in_batch           : unsigned(31 downto 0);
    signal waiting, not_read  : unsigned(7 downto 0);
    signal tap, window, product : words_t;
    signal sum                : unsigned(31 downto 0);
    signal sample             : unsigned(31 downto 0);
    signal last_cycle, last_pass, last_item, batch_ends, is_first : std_logic;

    function bit_of(condition : boolean) return std_logic is
    begin
        if condition then
            return '1';
        end if;
        return '0';
    end function;

    function times(a : unsigned(31 downto 0); words : natural) return unsigned is
    begin
        return resize(a * to_unsigned(words, 32), 32);
    end function;
begin
    input_address  <= std_logic_vector(times(item, INPUT_WORDS) + at);
    kernel_address <= std_logic_vector(times(item, KERNEL_WORDS) + pass + at);
    output_address <= std_logic_vector(times(item, OUTPUT_WORDS) + pass + at - 2);
    unread         <= std_logic_vector(not_read);

    sample     <= unsigned(input_data) when at - 1 < INPUT_WORDS else (others => '0');
    last_cycle <= bit_of(at = INPUT_WORDS + TAPS - 2 + LATENCY);
    last_pass  <= bit_of(pass + MACS >= KERNEL_WORDS);
    last_item  <= bit_of(in_batch = BATCH - 1);
    batch_ends <= bit_of(state = SHIFT) and last_cycle and last_pass and last_item;
    is_first   <= bit_of(pass = 0 or at - LATENCY >= INPUT_WORDS - 1); -- no pass before wrote that word

    total : process (product)
        variable all_of : unsigned(31 downto 0);
    begin
        all_of := (others => '0');
        for j in words_t'range loop
            all_of := all_of + product(j);
        end loop;
        sum <= all_of;
    end process;

    datapath : process (clk)
    begin
        if rising_edge(clk) then
            if state = SHIFT then
                window(0) <= sample;
                for j in 1 to MACS - 1 loop
                    window(j) <= window(j - 1);
                end loop;
                for j in words_t'range loop
                    product(j) <= resize(window(j) * tap(j), 32);
                end loop;
            elsif state = LOAD and at = 0 then
                window  <= (others => (others => '0'));
                product <= (others => (others => '0'));
            end if;
            if state = LOAD then
                if at = 0 then
                    tap <= (others => (others => '0'));
                else
                    for j in words_t'range loop
                        if at - 1 = j and pass + j < KERNEL_WORDS then
                            tap(j) <= unsigned(kernel_data);
                        end if;
                    end loop;
                end if;
            end if;
            output_write    <= bit_of(state = SHIFT and at >= LATENCY and pass + at - LATENCY < OUTPUT_WORDS);
            written_address <= std_logic_vector(times(item, OUTPUT_WORDS) + pass + at - LATENCY);
            if is_first = '1' then
                written_data <= std_logic_vector(sum);
            else
                written_data <= std_logic_vector(sum + unsigned(output_data));
            end if;
        end if;
    end process;

    control : process (clk)
    begin
        if rising_edge(clk) then
            done     <= '0';
            waiting  <= waiting + (0 => filled) - (0 => batch_ends);
            not_read <= not_read + (0 => batch_ends) - (0 => emptied);
            if rst = '1' then
                state    <= IDLE;
                item     <= (others => '0');
                in_batch <= (others => '0');
                pass     <= (others => '0');
                at       <= (others => '0');
                waiting  <= (others => '0');
                not_read <= (others => '0');
            else
                case state is
                    when IDLE =>
                        --pragma recap waitBatch wait_recv(late_sender, $CPU, start)
                        at   <= (others => '0');
                        pass <= (others => '0');
                        if waiting /= 0 then
                            state <= LOAD;
                        end if;
                    when LOAD =>
                        --pragma recap loadKernel overhead(update)
                        at <= at + 1;
                        if at = TAPS then
                            at    <= (others => '0');
                            state <= SHIFT;
                        end if;
                    when SHIFT =>
                        --pragma recap convolve work()
                        at <= at + 1;
                        if last_cycle = '1' then
                            at    <= (others => '0');
                            state <= LOAD;
                            pass  <= pass + MACS;
                            if last_pass = '1' then
                                pass     <= (others => '0');
                                item     <= item + 1;
                                in_batch <= in_batch + 1;
                                if item = BATCH * BUFFERS - 1 then
                                    item <= (others => '0');
                                end if;
                                if last_item = '1' then
                                    in_batch <= (others => '0');
                                    done     <= '1';
                                    state    <= IDLE;
                                    if not_read = BUFFERS - 1 and emptied = '0' then
                                        state <= FULL;
                                    end if;
                                end if;
                            end if;
                        end if;
                    when FULL =>
                        --pragma recap waitRead wait_send(late_receiver, $CPU, output)
                        if not_read /= BUFFERS then
                            state <= IDLE;
                        end if;
                end case;
            end if;
        end if;
    end process;
end architecture;
