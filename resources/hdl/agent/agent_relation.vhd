-- Compares two numbers.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity agent_relation is
    generic (
        BITS : positive := 1;
        IS_SIGNED : natural := 0;
        RELATION : natural := 0 -- 0 >, 1 >=, 2 <, 3 <=, 4 =, 5 /=
    );
    port (
        a, b : in std_logic_vector(BITS - 1 downto 0);
        holds : out std_logic
    );
end agent_relation;

architecture rtl of agent_relation is
    signal equal, more : boolean;
    signal answer : boolean;
begin
    equal <= a = b;
    more <= signed(a) > signed(b) when IS_SIGNED = 1 else unsigned(a) > unsigned(b);
    with RELATION select answer <=
        more when 0,
        more or equal when 1,
        not more and not equal when 2,
        not more when 3,
        equal when 4,
        not equal when others;
    holds <= '1' when answer else '0';
end rtl;
