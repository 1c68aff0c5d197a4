library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package parts is
    subtype word is unsigned(31 downto 0);
    function scaled(value : word; factor : natural) return word;
end package;

package body parts is
    function scaled(value : word; factor : natural) return word is
    begin
        return resize(value * to_unsigned(factor, 32), 32);
    end function;
end package body;
