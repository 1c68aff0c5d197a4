"""Rules of changes in a run of the simulated card: their form for its library, and their results."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.api import Diagnostic, Severity, counted
from workbench.api.targets import TimingRule

USED = "host_rules.txt"
_HOST = "host"  # of code between calls: nothing is counted


def rule_lines(rules: Sequence[TimingRule]) -> Iterator[str]:
    """The lines of the configuration that tell of them."""
    for rule in rules:
        yield " ".join(["rule", rule.kind, *map(str, rule.numbers)])
        yield from (f"rule_site {site}" for site in rule.sites)


def rule_notes(raw: Path, rules: Sequence[TimingRule]) -> Iterator[Diagnostic]:
    """Notes on how a run's rules were used."""
    try:
        lines = (raw / USED).read_text(encoding="ascii").splitlines()
    except OSError:
        return
    of_calls = [rule for rule in rules if rule.kind != _HOST]
    for rule, line in zip(of_calls, lines, strict=False):
        used, scattered, unasked = map(int, line.split()[1:])
        if not used:
            hint = "None of these calls moved data to or from the card; other calls do that."
            yield Diagnostic(f"change '{rule.change}' changed nothing", hint, Severity.WARNING)
        if scattered:
            message = f"{counted(scattered, 'call')} of change '{rule.change}' moved words at scattered addresses"
            hint = "The hardware must take such words in one transfer, so change its addresses with the host's calls."
            yield Diagnostic(message, hint, Severity.NOTE)
        if unasked:
            message = f"change '{rule.change}' read {counted(unasked, 'word')} ahead that the program did not ask for"
            hint = "The change unites more calls than follow one another. The time includes these reads."
            yield Diagnostic(message, hint, Severity.WARNING)
