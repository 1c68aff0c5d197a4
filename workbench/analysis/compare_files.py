"""A comparison as the files that continuous integration reads: JUnit, Markdown and SARIF 2.1.0."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import workbench
from workbench.analysis.cause import cause_details, cause_words, place_text
from workbench.analysis.compare import Comparison, faster_words, finding_text, work_words
from workbench.analysis.conditions import Verdict
from workbench.analysis.finding_words import short_gain_text
from workbench.model.finding import Finding, Place, tops
from workbench.model.text import significant, time_text

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FAIL_IF = "fail-if"
_LEVELS = {"high": "error", "medium": "warning", "low": "note"}


def verdict_words(verdict: Verdict) -> str:
    """Whether a condition holds, with its values: `time > 1.02 holds: time = 1.08`."""
    values = ", ".join(f"{name} = {significant(value, 6)}" for name, value in verdict.values.items())
    return f"{verdict.text} {'holds' if verdict.holds else 'does not hold'}: {values}"


def junit_text(verdicts: Sequence[Verdict], time_s: float) -> str:
    """One test case for each condition, failed where it holds. `time_s` is run B's time."""
    totals = {"tests": str(len(verdicts)), "failures": str(sum(v.holds for v in verdicts)), "errors": "0"}
    top = ElementTree.Element("testsuites", {"name": "workbench compare", **totals})
    suite = ElementTree.SubElement(top, "testsuite", {"name": "workbench compare", **totals, "time": f"{time_s:.9f}"})
    for verdict in verdicts:
        named = {"classname": "workbench.compare", "name": f"not ({verdict.text})", "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", named)
        if verdict.holds:
            failure = ElementTree.SubElement(case, "failure", {"message": verdict_words(verdict), "type": _FAIL_IF})
            failure.text = "\n".join(f"{place.file}:{place.line}" for place in verdict.places)
    return ElementTree.tostring(top, "unicode") + "\n"


def markdown_text(comparison: Comparison, verdicts: Sequence[Verdict], names: tuple[str, str]) -> str:
    """A summary for a pull request. `names` are those of the two runs."""
    a, b = (_cell(name) for name in names)
    lines = ["## workbench compare", "", f"{faster_words(comparison, f'`{b}`')} (`{a}` is the base).", ""]
    lines += _table(("", f"A: {a}", f"B: {b}"), [("time", *(time_text(time, 6) for time in comparison.time_s))])
    work = work_words(comparison)
    lines += ["", f"{_cell(work[:1].upper() + work[1:])}.", ""]
    if cause := comparison.cause:
        places = ", ".join(f"`{_cell(place_text(place))}`" for place in cause.places)
        lines += [f"**{_cell(cause_words(cause))}** {_cell(cause_details(cause))} {places}".rstrip(), ""]
    if verdicts:
        lines += ["### Conditions", ""]
        outcomes = [("**failed**" if v.holds else "passed", f"`{_cell(v.text)}`", _values(v)) for v in verdicts]
        lines += [*_table(("result", "fails if", "values"), outcomes), ""]
    lines += ["### Findings", ""]
    rows = [
        (kind, _cell(finding_text(finding)), short_gain_text(finding), _place(finding))
        for kind, finding in _findings(comparison)
    ]
    lines += _table(("", "finding", "upper bound or prediction", "place"), rows) if rows else ["None."]
    return "\n".join(lines) + "\n"


def sarif_text(comparison: Comparison, verdicts: Sequence[Verdict], folder: Path | None) -> str:
    """SARIF 2.1.0: each finding at its line, new, unchanged or absent as against run A, and each condition that holds.

    Files are given from the working directory where `folder`, the project's, lies below it: a checkout's root.
    """
    findings = list(_findings(comparison))
    rules = {finding.rule: finding.explanation or finding.title for _, finding in findings}
    failed = [verdict for verdict in verdicts if verdict.holds]
    if failed:
        rules[_FAIL_IF] = "A condition of `workbench compare --fail-if` holds."
    results = [_result(kind, finding, folder) for kind, finding in findings]
    results += [
        {"ruleId": _FAIL_IF, "level": "error", "message": {"text": verdict_words(verdict)},
         "locations": [_location(place, folder) for place in verdict.places]}
        for verdict in failed
    ]  # fmt: skip
    driver = {
        "name": "RC Workbench", "version": workbench.__version__,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
    }  # fmt: skip
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, allow_nan=False) + "\n"


def _findings(comparison: Comparison) -> Iterator[tuple[str, Finding]]:
    """Findings without those that repeat a part of another, and whether each is new, kept or gone."""
    kept = [b for _, b in comparison.kept]
    for kind, pairs in (("new", comparison.new), ("kept", kept), ("gone", comparison.gone)):
        yield from ((kind, finding) for finding in tops(pairs))


def _result(kind: str, finding: Finding, folder: Path | None) -> dict[str, Any]:
    text = finding_text(finding)
    said = [finding.title, *(f"{advice.text}" for advice in finding.advice[:1])]
    return {
        "ruleId": finding.rule,
        "level": "note" if kind == "gone" else _LEVELS.get(finding.severity, "warning"),
        "baselineState": {"new": "new", "kept": "unchanged", "gone": "absent"}[kind],
        "message": {"text": ". ".join(part.rstrip(".") for part in said) + "."},
        "locations": [_location(place, folder) for place in finding.places[:1]],
        "relatedLocations": [_location(place, folder) for place in finding.places[1:]],
        "partialFingerprints": {"workbenchFinding/v1": hashlib.sha256(text.encode()).hexdigest()},
        "properties": {"where": finding.where, "gain": short_gain_text(finding), "timeSeconds": finding.time_s},
    }


def _location(place: Place, folder: Path | None) -> dict[str, Any]:
    path = Path(place.file)
    if folder and not path.is_absolute():
        path = folder / path
    here = Path.cwd()
    uri = path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()
    region = {"startLine": max(place.line, 1)}
    return {"physicalLocation": {"artifactLocation": {"uri": _quoted(uri)}, "region": region}}


def _quoted(path: str) -> str:
    from urllib.parse import quote  # not where no file is written

    return ("file://" if path.startswith("/") else "") + quote(path)


def _place(finding: Finding) -> str:
    return _cell(f"{finding.places[0].file}:{finding.places[0].line}") if finding.places else ""


def _values(verdict: Verdict) -> str:
    return _cell(", ".join(f"{name} = {significant(value, 6)}" for name, value in verdict.values.items()))


def _cell(text: str) -> str:
    """A text that cannot end its cell."""
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
