"""Every prediction of the dissertation's Table 7.2 beside the number that the bundled model comes to.

    python tests/benchmarks/queueing.py [--json] [--quick]

`agrees`: our number rounds to the printed one. `erratum`: why it cannot (ERRATA.md of the plugin). Exits 1 where a
cell has neither. `--quick` changes nothing: it takes less than a second.
"""

import sys

from paper_cells import compare

if __name__ == "__main__":
    sys.exit(compare("queueing", __doc__))
