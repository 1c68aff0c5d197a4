-- The arithmetic of kernel.v in VHDL: combinational, so that each core's one clocked process holds the registers.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package pdf2d_kernel is
    -- How far a coordinate is from the centre of bin number `index` along its axis.
    function offset_of(coordinate : std_logic_vector(15 downto 0); index : unsigned; bits : natural) return signed;
    -- The Parzen window: h*h - d*d inside the radius h, 0 outside.
    function weight_of(dx_squared, dy_squared : unsigned(35 downto 0); bits : natural) return unsigned;
    -- A sum as the host gets it: [48,18] to [18,9], half rounded up, held at the largest value.
    function external(sum : unsigned(47 downto 0)) return std_logic_vector;
end package;

package body pdf2d_kernel is
    function offset_of(coordinate : std_logic_vector(15 downto 0); index : unsigned; bits : natural) return signed is
        constant SPACING : natural := 4096 / 2 ** bits;
        variable centre : signed(17 downto 0);
    begin
        centre := shift_left(signed(resize(index, 18)), 12 - bits) - 2048 + SPACING / 2;
        return resize(signed(coordinate), 18) - centre;
    end function;

    function weight_of(dx_squared, dy_squared : unsigned(35 downto 0); bits : natural) return unsigned is
        constant SPACING : natural := 4096 / 2 ** bits;
        constant RADIUS_SQUARED : natural := SPACING * SPACING / 2;
        variable distance : unsigned(36 downto 0);
    begin
        distance := resize(dx_squared, 37) + resize(dy_squared, 37);
        if distance < RADIUS_SQUARED then
            return resize(to_unsigned(RADIUS_SQUARED, 37) - distance, 48);
        end if;
        return to_unsigned(0, 48);
    end function;

    function external(sum : unsigned(47 downto 0)) return std_logic_vector is
        variable rounded : unsigned(38 downto 0);
    begin
        rounded := sum(47 downto 9) + ("" & sum(8));
        if rounded > 16#1ffff# then
            return 18x"1ffff";
        end if;
        return std_logic_vector(rounded(17 downto 0));
    end function;
end package body;
