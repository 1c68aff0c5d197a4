"""Every cell of Tables I to XII of the RATSS paper beside the number that the bundled models come to.

    python tests/benchmarks/ratss.py [--json] [--quick]

`agrees`: our number rounds to the printed one. `erratum`: why it cannot (ERRATA.md of the plugin). Exits 1 where a
cell has neither. `--quick` changes nothing: it takes less than a second.
"""

import sys

from paper_cells import compare

if __name__ == "__main__":
    sys.exit(compare("ratss", __doc__))
