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
    constant ALL_BOUNDS : std_logic_vector(BOUNDS * VALUE_BITS - 1 downto 0) := AT;

    function top_bit return unsigned is -- what turns signed numbers to the order of unsigned ones
        variable found : unsigned(VALUE_BITS - 1 downto 0) := (others => '0');
    begin
        if IS_SIGNED = 1 then
            found(VALUE_BITS - 1) := '1';
        end if;
        return found;
    end function;

    constant TURN : unsigned(VALUE_BITS - 1 downto 0) := top_bit;
    constant FIRST : unsigned(VALUE_BITS - 1 downto 0) := unsigned(ALL_BOUNDS(VALUE_BITS - 1 downto 0)) xor TURN;
    constant LAST : unsigned(VALUE_BITS - 1 downto 0) :=
        unsigned(ALL_BOUNDS(BOUNDS * VALUE_BITS - 1 downto (BOUNDS - 1) * VALUE_BITS)) xor TURN;
    signal place : unsigned(VALUE_BITS - 1 downto 0);
    signal scaled : unsigned(VALUE_BITS + 47 downto 0);
begin
    place <= unsigned(value) xor TURN;

    process (place) -- the product with a constant, one of its bits after another
        variable product : unsigned(VALUE_BITS + 47 downto 0);
    begin
        product := (others => '0');
        for i in 0 to 47 loop
            if SCALE(i) = '1' then
                product := product + shift_left(resize(place - FIRST, VALUE_BITS + 48), i);
            end if;
        end loop;
        scaled <= product;
    end process;

    evenly : if EVEN = 1 generate
        bin <= (others => '0') when place < FIRST
            else std_logic_vector(to_unsigned(BOUNDS, BIN_BITS)) when place >= LAST
            else std_logic_vector(scaled(SHIFT + BIN_BITS - 1 downto SHIFT) + 1);
    end generate;

    one_by_one : if EVEN = 0 generate
        process (place)
            variable bound : unsigned(VALUE_BITS - 1 downto 0);
            variable found : unsigned(BIN_BITS - 1 downto 0);
        begin
            found := (others => '0');
            for i in 0 to BOUNDS - 1 loop
                bound := unsigned(ALL_BOUNDS((i + 1) * VALUE_BITS - 1 downto i * VALUE_BITS));
                if place >= (bound xor TURN) then
                    found := found + 1;
                end if;
            end loop;
            bin <= std_logic_vector(found);
        end process;
    end generate;
end rtl;
