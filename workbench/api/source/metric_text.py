"""The directives for metrics of one's own: one grammar for every hardware language, after the same `pragma recap`.

    count NAME when CONDITION
    sum | min | max | mean | deviation NAME of SIGNAL [when CONDITION]
    histogram NAME of SIGNAL bins BOUND, BOUND ... [when CONDITION]
    sequence NAME when CONDITION then CONDITION within N
    correlate NAME [of SIGNAL] when CONDITION with CONDITION

Conditions are in the language of the file, and are kept as text. The signal of a correlation is what an agent beside
the counters may be asked about (`stream_probe.py`).
"""

import re
from collections.abc import Mapping

from workbench.model.custom import LARGEST, LEAST, SUMMED, WRITTEN, CustomMetric, MetricKind
from workbench.model.pragma import Category

_KINDS = "|".join(WRITTEN)
_CATEGORIES = "|".join(Category)
#: What begins a directive: a kind before a name. (`count work()` is a pragma: the state `count`.)
BEGINS = re.compile(rf"\s*({_KINDS})(?!\s+({_CATEGORIES})\s*(\(|:|$))(?=\s|$)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PARTS = ("of", "bins", "when", "then", "within", "with")
_WORDS = re.compile(r'"(?:\\.|[^"\\\n])*"|[()\[\]{}]|(?<![\w\'$.])(' + "|".join(_PARTS) + r")(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+")
MOST_BINS, MOST_CYCLES = 64, 1 << 20
_SIGNAL = re.compile(r"[A-Za-z_][\w$.]*")

_FORMS: Mapping[MetricKind, tuple[str, tuple[str, ...]]] = {
    MetricKind.COUNT: ("count NAME when CONDITION", ("when",)),
    **{kind: (f"{kind} NAME of SIGNAL when CONDITION", ("of", "when?")) for kind in SUMMED},
    MetricKind.HISTOGRAM: ("histogram NAME of SIGNAL bins 1, 4, 16 when CONDITION", ("of", "bins", "when?")),
    MetricKind.SEQUENCE: ("sequence NAME when CONDITION then CONDITION within 8", ("when", "then", "within")),
    MetricKind.CORRELATE: ("correlate NAME when CONDITION with CONDITION", ("of?", "when", "with")),
}


class BadMetric(Exception):
    """What is wrong at an offset of a directive's text, and what would be right."""

    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset, self.message, self.hint = offset, message, hint


def parse_metric(text: str) -> CustomMetric:
    """Read a directive's text. Raises BadMetric."""
    begins = BEGINS.match(text)
    if begins is None:
        forms = "; ".join(form for form, _ in _FORMS.values())
        raise BadMetric(0, "this is not a metric", f"Write one of: {forms}.")
    kind = MetricKind(begins[1])
    form, wanted = _FORMS[kind]
    hint = f"Write {form}."
    at = begins.end() + len(text[begins.end() :]) - len(text[begins.end() :].lstrip())
    name = _NAME.match(text, at)
    if name is None or name[0].lower() in _PARTS:
        raise BadMetric(at, "the metric's name is missing", hint)
    if text[name.end() : name.end() + 1].strip():
        raise BadMetric(at, "this is not a name", hint)
    parts = _parts(text, name.end())
    if stray := text[name.end() : parts[0][1] if parts else len(text)].strip():
        raise BadMetric(text.index(stray, name.end()), f"'{stray.split()[0]}' is not expected here", hint)
    names = [word for word, _, _ in parts]
    needed = [word for word in wanted if not word.endswith("?")]
    allowed = [word.removesuffix("?") for word in wanted]
    for word, offset, _ in parts:
        if word not in allowed or names.count(word) > 1:
            raise BadMetric(offset, f"'{word}' is not expected here", hint)
    for word in needed:
        if word not in names:
            raise BadMetric(len(text.rstrip()), f"'{word}' is missing", hint)
    if names != [word for word in allowed if word in names]:
        raise BadMetric(parts[0][1], "the parts are in the wrong order", hint)
    given = {word: (offset, inner.strip()) for word, offset, inner in parts}
    for word, (offset, inner) in given.items():
        if not inner:
            raise BadMetric(offset, f"nothing follows '{word}'", hint)
    return CustomMetric(
        kind,
        name[0],
        tuple(given[word][1] for word in ("when", "then", "with") if word in given),
        _signal(*given["of"]) if "of" in given else "",
        _bounds(*given["bins"]) if "bins" in given else (),
        _within(*given["within"]) if "within" in given else 0,
    )


def _parts(text: str, start: int) -> list[tuple[str, int, str]]:
    """The words that part a directive, outside of parentheses, with their offsets and what follows each."""
    level, found = 0, list[tuple[str, int, int]]()
    for match in _WORDS.finditer(text, start):
        if match[0] in "([{":
            level += 1
        elif match[0] in ")]}":
            level -= 1
        elif match[1] and level == 0:
            found.append((match[1].lower(), match.start(), match.end()))
    ends = [begin for _, begin, _ in found[1:]] + [len(text)]
    return [(word, begin, text[after:end]) for (word, begin, after), end in zip(found, ends, strict=False)]


def _signal(offset: int, text: str) -> str:
    if _SIGNAL.fullmatch(text) is None:
        raise BadMetric(offset, f"'{text}' is not a signal's name", "Copy the expression to a signal of its own.")
    return text


def _bounds(offset: int, text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    hint = "Write the values at which bins begin, from the least on: bins 1, 4, 16."
    if not all(map(_NUMBER.fullmatch, words)):
        raise BadMetric(offset, "bins are whole numbers with commas between", hint)
    bounds = tuple(map(int, words))
    if list(bounds) != sorted(set(bounds)):
        raise BadMetric(offset, "each bin begins above the one before", hint)
    if len(bounds) > MOST_BINS or bounds[0] < LEAST or bounds[-1] > LARGEST:
        raise BadMetric(offset, f"there are at most {MOST_BINS} bins, of values of 64 bits", hint)
    return bounds


def _within(offset: int, text: str) -> int:
    number = re.fullmatch(r"(\d+)(?:\s+cycles?)?", text)
    if number is None or not 1 <= int(number[1]) <= MOST_CYCLES:
        raise BadMetric(offset, f"'{text}' is not a number of cycles from 1 to {MOST_CYCLES:,}", "Write within 8.")
    return int(number[1])


def format_metric(metric: CustomMetric) -> str:
    """The directive's text; `parse_metric` reads it back."""
    words = [metric.kind.value, metric.name]
    if metric.signal:
        words += ["of", metric.signal]
    if metric.bounds:
        words += ["bins", ", ".join(map(str, metric.bounds))]
    second = {MetricKind.SEQUENCE: "then", MetricKind.CORRELATE: "with"}.get(metric.kind, "")
    for word, condition in zip(("when", second), metric.conditions, strict=False):
        words += [word, condition]
    return " ".join([*words, *(["within", str(metric.within)] if metric.within else [])])
