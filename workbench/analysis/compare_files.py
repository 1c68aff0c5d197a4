"""Writes a comparison in the formats of continuous integration: JUnit, Markdown and SARIF 2.1.0."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import workbench
from workbench.analysis.cause import cause_details, cause_words, place_text
from workbench.analysis.compare import Comparison, faster_words, finding_text, work_words
from workbench.analysis.compare_many import ManyRuns, differ_words, fastest_words, many_rows
from workbench.analysis.conditions import Verdict
from workbench.analysis.finding_words import short_gain_text
from workbench.model.finding import Finding, Place, tops
from workbench.model.text import capitalised, significant, time_text

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FAIL_IF = "fail-if"
_LEVELS = {"high": "error", "medium": "warning", "low": "note"}


def verdict_words(verdict: Verdict) -> str:
    """Whether a condition holds, with its values: `time > 1.02 holds: time = 1.08`."""
    values = ", ".join(f"{name} = {significant(value, 6)}" for name, value in verdict.values.items())
    return f"{verdict.text} {'holds' if verdict.holds else 'does not hold'}: {values}"


@dataclass(frozen=True)
class Judged:
    """A run compared with the first one, and the verdict of each condition. `letter` is its letter among all runs;
    `folder` is its project's folder."""

    letter: str
    name: str
    comparison: Comparison
    verdicts: Sequence[Verdict]
    folder: Path | None


def junit_text(runs: Sequence[Judged]) -> str:
    """JUnit XML: one suite for each compared run, with one test case for each condition, failed if the condition
    holds."""
    top = ElementTree.Element("testsuites", {"name": "workbench compare", **_totals(*runs)})
    for run in runs:
        name = "workbench compare" if len(runs) == 1 else f"workbench compare {run.letter}: {run.name}"
        time = {"time": f"{run.comparison.time_s[1]:.9f}"}
        suite = ElementTree.SubElement(top, "testsuite", {"name": name, **_totals(run), **time})
        for verdict in run.verdicts:
            class_name = "workbench.compare" if len(runs) == 1 else f"workbench.compare.{run.name}"
            attributes = {"classname": class_name, "name": f"not ({verdict.text})", "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", attributes)
            if verdict.holds:
                failure = ElementTree.SubElement(case, "failure", {"message": verdict_words(verdict), "type": _FAIL_IF})
                failure.text = "\n".join(f"{place.file}:{place.line}" for place in verdict.places)
    return ElementTree.tostring(top, "unicode") + "\n"


def _totals(*runs: Judged) -> dict[str, str]:
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    return {"tests": str(len(verdicts)), "failures": str(sum(v.holds for v in verdicts)), "errors": "0"}


def markdown_text(runs: Sequence[Judged], base: str, many: ManyRuns) -> str:
    """A summary for a pull request. `base` is the name of the first run."""
    lines = ["## workbench compare", ""]
    if len(runs) > 1:
        head, *rows = ([_cell(cell) for cell in row] for row in many_rows(many))
        lines += [f"{_cell(differ_words(many))} {_cell(fastest_words(many))} A is the base.", "", *_table(head, rows)]
    for run in runs:
        lines += ["", f"### {run.letter}: {_cell(run.name)}", ""] if len(runs) > 1 else []
        lines += _run_lines(run, base, "####" if len(runs) > 1 else "###")
    return "\n".join(lines) + "\n"


def _run_lines(run: Judged, base: str, head: str) -> list[str]:
    """The lines for one run: its comparison with the base, the conditions, the findings."""
    comparison, verdicts = run.comparison, run.verdicts
    a, b = _cell(base), _cell(run.name)
    lines = [f"{faster_words(comparison, f'`{b}`')} (`{a}` is the base).", ""]
    lines += _table(
        ("", f"A: {a}", f"{run.letter}: {b}"), [("time", *(time_text(time, 6) for time in comparison.time_s))]
    )
    work = work_words(comparison, who=run.letter)
    lines += ["", f"{_cell(capitalised(work))}.", ""]
    if cause := comparison.cause:
        places = ", ".join(f"`{_cell(place_text(place))}`" for place in cause.places)
        lines += [
            f"**{_cell(cause_words(cause, run.letter))}** {_cell(cause_details(cause, run.letter))} {places}".rstrip(),
            "",
        ]
    if verdicts:
        lines += [f"{head} Conditions", ""]
        outcomes = [("**failed**" if v.holds else "passed", f"`{_cell(v.text)}`", _values(v)) for v in verdicts]
        lines += [*_table(("result", "fails if", "values"), outcomes), ""]
    lines += [f"{head} Findings", ""]
    rows = [
        (kind, _cell(finding_text(finding)), short_gain_text(finding), _place(finding))
        for kind, finding in _findings(comparison)
    ]
    lines += _table(("", "finding", "upper bound or prediction", "place"), rows) if rows else ["None."]
    return lines


def sarif_text(runs: Sequence[Judged]) -> str:
    """SARIF 2.1.0: each finding at its line, as new, unchanged or absent compared with run A, and each condition that
    holds. Several compared runs become several SARIF runs, each with its own id.

    File paths are relative to the working directory (a checkout's root) if the project's folder is below it.
    """
    documents = [_sarif_run(run.comparison, run.verdicts, run.folder) for run in runs]
    if len(runs) > 1:
        for run, document in zip(runs, documents, strict=True):
            document["automationDetails"] = {"id": f"workbench compare/{run.letter} {run.name}"}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": documents}, allow_nan=False) + "\n"


def _sarif_run(comparison: Comparison, verdicts: Sequence[Verdict], folder: Path | None) -> dict[str, Any]:
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
    return {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}


def _findings(comparison: Comparison) -> Iterator[tuple[str, Finding]]:
    """The findings that are not part of another, each as new, unchanged or absent."""
    kept = [b for _, b in comparison.in_both]
    for kind, pairs in (("new", comparison.only_in_b), ("kept", kept), ("gone", comparison.only_in_a)):
        yield from ((kind, finding) for finding in tops(pairs))


def _result(kind: str, finding: Finding, folder: Path | None) -> dict[str, Any]:
    text = finding_text(finding)
    texts = [finding.title, *(f"{advice.text}" for advice in finding.advice[:1])]
    return {
        "ruleId": finding.rule,
        "level": "note" if kind == "gone" else _LEVELS.get(finding.severity, "warning"),
        "baselineState": {"new": "new", "kept": "unchanged", "gone": "absent"}[kind],
        "message": {"text": ". ".join(part.rstrip(".") for part in texts) + "."},
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
    """The text, escaped so that it cannot end its table cell."""
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
