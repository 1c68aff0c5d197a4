-- What a VHDL design that GHDL simulates beside the card is driven with: the exchange with the card
-- (resources/card/beside_link.cpp), and bits in and out of the types that ports have.
library ieee;
use ieee.std_logic_1164.all;
package recap_link is
    procedure recap_exchange (
        seen : in std_ulogic_vector; now_is : in time; clocks, given : out std_ulogic_vector; given_first : out boolean;
        until_then, until_seen : out time);
    attribute foreign of recap_exchange : procedure is "VHPIDIRECT librecap.so recap_exchange";
    function recap_in (bits : std_ulogic_vector) return std_ulogic;
    function recap_in (bits : std_ulogic_vector) return bit;
    function recap_in (bits : std_ulogic_vector) return boolean;
    function recap_number (bits : std_ulogic_vector; negative : boolean) return integer;
    function recap_out (value : std_ulogic; width : positive) return std_ulogic_vector;
    function recap_out (value : bit; width : positive) return std_ulogic_vector;
    function recap_out (value : boolean; width : positive) return std_ulogic_vector;
    function recap_out (value : integer; width : positive) return std_ulogic_vector;
end package;
package body recap_link is
    procedure recap_exchange (
        seen : in std_ulogic_vector; now_is : in time; clocks, given : out std_ulogic_vector; given_first : out boolean;
        until_then, until_seen : out time) is
    begin
        report "GHDL did not load librecap.so" severity failure;
    end procedure;
    function recap_in (bits : std_ulogic_vector) return std_ulogic is
    begin
        return bits(bits'right);
    end function;
    function recap_in (bits : std_ulogic_vector) return bit is
    begin
        return to_bit(bits(bits'right));
    end function;
    function recap_in (bits : std_ulogic_vector) return boolean is
    begin
        return bits(bits'right) = '1';
    end function;
    function recap_number (bits : std_ulogic_vector; negative : boolean) return integer is
        alias numbered : std_ulogic_vector(bits'length - 1 downto 0) is bits;
        variable found : integer := 0;
    begin
        for place in numbered'range loop
            if place = 31 or (negative and place = numbered'high) then
                if numbered(place) = '1' then
                    found := found - 2 ** (place - 1) - 2 ** (place - 1);
                end if;
            elsif numbered(place) = '1' then
                found := found + 2 ** place;
            end if;
        end loop;
        return found;
    end function;
    function recap_out (value : std_ulogic; width : positive) return std_ulogic_vector is
    begin
        return (1 to 1 => value);
    end function;
    function recap_out (value : bit; width : positive) return std_ulogic_vector is
    begin
        return (1 to 1 => to_stdulogic(value));
    end function;
    function recap_out (value : boolean; width : positive) return std_ulogic_vector is
    begin
        if value then
            return "1";
        end if;
        return "0";
    end function;
    function recap_out (value : integer; width : positive) return std_ulogic_vector is
        variable rest : integer := value;
        variable found : std_ulogic_vector(width - 1 downto 0);
    begin
        for place in 0 to width - 1 loop
            if rest mod 2 = 1 then
                found(place) := '1';
            else
                found(place) := '0';
            end if;
            rest := (rest - rest mod 2) / 2;
        end loop;
        return found;
    end function;
end package body;
