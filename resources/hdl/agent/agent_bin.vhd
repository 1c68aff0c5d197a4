-- The number of a value's bin: how many of the bounds it reaches. Bounds that lie evenly are counted by a product.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_bin is
    generic (
        VALUE_BITS : positive := 1;
        IS_SIGNED : natural := 0;
        BIN_BITS : positive := 4;
        BOUNDS : positive := 1;
        EVEN : natural := 0; -- bound i is the least v with (v - the first one) * SCALE / 2**SHIFT >= i
        SCALE : std_logic_vector(47 downto 0) := (others => '0');
        SHIFT : natural := 0;
        AT : std_logic_vector -- the bounds, the first one lowest
    );
    port (
        value : in std_logic_vector(VALUE_BITS - 1 downto 0);
        bin : out std_logic_vector(BIN_BITS - 1 downto 0)
    );
end agent_bin;

architecture rtl of agent_bin is
    constant BITS : positive := BOUNDS * VALUE_BITS;
    constant ALL_BOUNDS : std_logic_vector(BITS - 1 downto 0) := AT;
    constant REST : natural := BITS mod 32;

    function turned(number : std_logic_vector) return unsigned is -- signed numbers to the order of unsigned ones
        variable found : unsigned(VALUE_BITS - 1 downto 0);
    begin
        found := unsigned(number);
        if IS_SIGNED = 1 then
            found(VALUE_BITS - 1) := not found(VALUE_BITS - 1);
        end if;
        return found;
    end function;

    signal of_bounds : std_logic_vector(BITS - 1 downto 0);
    signal place, first, last : unsigned(VALUE_BITS - 1 downto 0);
    signal scaled : unsigned(VALUE_BITS + 47 downto 0);
begin
    in_parts : for i in 1 to BITS / 32 generate -- GHDL 2.0 loses longer constants whose low 32 bits are 0
        of_bounds(32 * i - 1 downto 32 * i - 32) <= ALL_BOUNDS(32 * i - 1 downto 32 * i - 32);
    end generate;
    and_rest : if REST > 0 generate
        of_bounds(BITS - 1 downto BITS - REST) <= ALL_BOUNDS(BITS - 1 downto BITS - REST);
    end generate;
    first <= turned(of_bounds(VALUE_BITS - 1 downto 0));
    last <= turned(of_bounds(BITS - 1 downto BITS - VALUE_BITS));
    place <= turned(value);

    process (place, first) -- the product with a constant, one of its bits after another
        variable product : unsigned(VALUE_BITS + 47 downto 0);
    begin
        product := (others => '0');
        for i in 0 to 47 loop
            if SCALE(i) = '1' then
                product := product + shift_left(resize(place - first, VALUE_BITS + 48), i);
            end if;
        end loop;
        scaled <= product;
    end process;

    evenly : if EVEN = 1 generate
        bin <= (others => '0') when place < first
            else std_logic_vector(to_unsigned(BOUNDS, BIN_BITS)) when place >= last
            else std_logic_vector(scaled(SHIFT + BIN_BITS - 1 downto SHIFT) + 1);
    end generate;

    one_by_one : if EVEN = 0 generate
        process (place, of_bounds)
            variable found : unsigned(BIN_BITS - 1 downto 0);
        begin
            found := (others => '0');
            for i in 0 to BOUNDS - 1 loop
                if place >= turned(of_bounds((i + 1) * VALUE_BITS - 1 downto i * VALUE_BITS)) then
                    found := found + 1;
                end if;
            end loop;
            bin <= std_logic_vector(found);
        end process;
    end generate;
end rtl;
