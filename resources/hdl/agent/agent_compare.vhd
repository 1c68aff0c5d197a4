-- Whether, over the last frame that ended, A times the sum of one value stands in a relation to B times the sum of
-- another. A mean is compared with a limit by a second value of 1 for whatever the mean is taken of: so the answer
-- is there when the frame ends, without a division.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_compare is
    generic (
        BITS : positive := 48;
        A_BITS : positive := 1;
        B_BITS : positive := 1;
        IS_SIGNED : natural := 0; -- both values
        A_SCALE, B_SCALE : std_logic_vector;
        RELATION : natural := 0 -- 0 >, 1 >=, 2 <, 3 <=, 4 =, 5 /=
    );
    port (
        clock, reset : in std_logic;
        any : in std_logic; -- there is something in this cycle to take the value of
        a_sample : in std_logic;
        a : in std_logic_vector(A_BITS - 1 downto 0);
        b_sample : in std_logic;
        b : in std_logic_vector(B_BITS - 1 downto 0);
        frame_end : in std_logic;
        known : out std_logic; -- a frame has ended that had a value
        holds : out std_logic
    );
end agent_compare;

architecture rtl of agent_compare is
    constant SCALE_OF_A : std_logic_vector(BITS - 1 downto 0) := A_SCALE;
    constant SCALE_OF_B : std_logic_vector(BITS - 1 downto 0) := B_SCALE;
    signal total, following, more, less, wide_a, wide_b : signed(BITS - 1 downto 0);
    signal some : std_logic;
    signal answer : boolean;

    function widened(value : std_logic_vector; is_there : std_logic) return signed is
    begin
        if is_there = '0' then
            return to_signed(0, BITS);
        elsif IS_SIGNED = 1 then
            return resize(signed(value), BITS);
        end if;
        return signed(resize(unsigned(value), BITS));
    end function;
begin
    wide_a <= widened(a, a_sample);
    wide_b <= widened(b, b_sample);
    process (wide_a, wide_b) -- the products with constants, one of their bits after another
        variable of_a, of_b : signed(BITS - 1 downto 0);
    begin
        of_a := (others => '0');
        of_b := (others => '0');
        for i in 0 to BITS - 1 loop
            if SCALE_OF_A(i) = '1' then
                of_a := of_a + shift_left(wide_a, i);
            end if;
            if SCALE_OF_B(i) = '1' then
                of_b := of_b + shift_left(wide_b, i);
            end if;
        end loop;
        more <= of_a;
        less <= of_b;
    end process;
    following <= total + more - less;
    with RELATION select answer <=
        following > 0 when 0,
        following >= 0 when 1,
        following < 0 when 2,
        following <= 0 when 3,
        following = 0 when 4,
        following /= 0 when others;
    process (clock)
    begin
        if rising_edge(clock) then
            if reset = '1' then
                total <= (others => '0');
                some <= '0';
                known <= '0';
                holds <= '0';
            elsif frame_end = '1' then
                total <= (others => '0');
                some <= '0';
                known <= some or any;
                holds <= '0';
                if answer then
                    holds <= '1';
                end if;
            else
                total <= following;
                some <= some or any;
            end if;
        end if;
    end process;
end rtl;
