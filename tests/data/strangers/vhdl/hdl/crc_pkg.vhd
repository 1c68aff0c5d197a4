library ieee;
use ieee.std_logic_1164.all;

package crc_pkg is
    subtype word is std_logic_vector(31 downto 0);
    constant POLYNOMIAL : word := x"EDB88320";
    function shifted(crc : word) return word;
end package;

package body crc_pkg is
    function shifted(crc : word) return word is
        variable next_crc : word;
    begin
        next_crc := '0' & crc(31 downto 1);
        if crc(0) = '1' then
            next_crc := next_crc xor POLYNOMIAL;
        end if;
        return next_crc;
    end function;
end package body;
