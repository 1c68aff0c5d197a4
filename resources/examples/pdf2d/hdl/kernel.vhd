-- The arithmetic of kernel.v in VHDL: combinational, so that each core's one clocked process holds the registers.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package pdf2d_kernel is
    -- How far a coordinate is from the centre of bin number `index` along its axis.
    function offset_of(coordinate : std_logic_vector(15 downto 0); index : unsigned; bits : natural) return signed;
    -- The Parzen window: h*h - d*d inside the radius h, 0 outside, half rounded up to 9 fractional bits.
    function weight_of(dx_squared, dy_squared : unsigned(35 downto 0); bits : natural) return unsigned;
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
            return resize(shift_right(to_unsigned(RADIUS_SQUARED + 256, 37) - distance, 9), 48);
        end if;
        return to_unsigned(0, 48);
    end function;

end package body;
