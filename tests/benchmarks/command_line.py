"""The command line that all benchmarks have."""

import argparse


def command(about: str | None, quick: str = "a smaller version") -> argparse.ArgumentParser:
    """A parser with `--json` and `--quick`, described by the script's docstring; `quick` says what the latter does."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser
