library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package energy_pkg is
  subtype word_t is std_logic_vector(31 downto 0);
  type ram_t is array (natural range <>) of word_t;
  type regs_t is record
    length : unsigned(8 downto 0);
    result : unsigned(31 downto 0);
    done   : std_logic;
  end record;
  constant REGS_RESET : regs_t := (length => (others => '0'), result => (others => '0'), done => '0');
end package;
