"""The form of a rule: its fields with their explanations from the schema."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from workbench.analysis.knowledge import KnowledgeBase, Rule, RuleCategory, Scope, Select, Suggestion
from workbench.api.forms import Field, Group
from workbench.gui.modes.forms.parts import DocumentPart
from workbench.model.platform import CallKind
from workbench.model.pragma import Category
from workbench.session.edit.rules_document import LIST, RulesDocument

_SIDES = ("any", "host", "fpga")


def rule_part(document: RulesDocument, number: int, knowledge: KnowledgeBase, every: bool) -> DocumentPart:
    """A rule of a file, and its form: with every field, or only those that most rules need and those that it has."""
    name, advice = document.value((*LIST, number, "name")), document.value((*LIST, number, "suggestions"))
    count = len(advice) if isinstance(advice, list) else 0
    meanings = {reason: said for of in knowledge.reasons.values() for reason, said in of.items()}
    tops = dict.fromkeys(rule.name for rule in knowledge.rules if not rule.rule.parent and rule.name != name)
    groups = [*_rule_groups(meanings, ("", *tops)), *map(_advice, range(count)), _more(meanings)]
    if not every:
        path = (*LIST, number)
        kept = (replace(g, fields=tuple(f for f in g.fields if _shown(f, document.value((*path, *f.path)))))
                for g in groups)  # fmt: skip
        groups = [group for group in kept if group.fields]
    return DocumentPart((*LIST, number), str(name), "", "", tuple(groups), add="Add advice")


def _shown(field: Field, value: object) -> bool:
    """Whether a field is shown where not all are."""
    return value is not None or str(field.path[-1]) not in _RARE


_RARE = ("time_left", "stays", "changes", "no_change", "hardware", "elsewhere", "new_time", "all_reasons",
         "without_reasons", "not_only", "calls", "show", "part_of", "names_culprit", "aliases")  # fmt: skip


def _field(
    path: tuple[int | str, ...], label: str, kind: str = "text", choices: Sequence[str] = (), default: str = ""
) -> Field:
    """A field with what its schema says of it."""
    schema = Select if path[0] == "select" else Suggestion if path[0] == "suggestions" else Rule
    said = schema.model_fields[str(path[-1])].description or ""
    note = "one per line" if kind in ("lines", "expressions") else ""
    return Field(path, label, kind, ", ".join(text for text in (said, note) if text), tuple(choices), default=default)


def _of_reasons(key: str, label: str, meanings: Mapping[str, str]) -> Field:
    field = _field(("select", key), label, "names", tuple(meanings))
    return replace(field, notes=meanings)


def _rule_groups(meanings: Mapping[str, str], tops: tuple[str, ...]) -> Iterator[Group]:
    yield Group("Rule", "", (
        Field(("name",), "Name", "text", "a rule of this name, side and scope in an earlier file is replaced"),
        _field(("category",), "Kind", "choice", get_args(RuleCategory)),
        Field(("parent",), "Under", "choice", "a more general rule, which then reports nothing", tops),
        _field(("explanation",), "Description", "prose"),
    ))  # fmt: skip
    yield Group("Scope", "what the rule is evaluated on", (
        _field(("side",), "Side", "choice", _SIDES, default="any"),
        Field(("scope",), "Looks at", "names", "one or several, with commas", get_args(Scope), default="block"),
        _field(("select", "categories"), "States", "names", [one.value for one in Category]),
        _of_reasons("reasons", "Reasons", meanings),
        _field(("select", "kinds"), "Calls", "names", [one.value for one in CallKind]),
    ))  # fmt: skip
    yield Group("Condition", "over metrics; Ctrl+Space lists them", (
        _field(("when",), "When", "expression", default="time > 0"),
        _field(("time_saved",), "Time saved", "expression", default="time"),
    ))  # fmt: skip
    yield Group("Finding", "", (
        _field(("title",), "Title"),
        _field(("title_arguments",), "Its values", "expressions"),
    ))  # fmt: skip


def _advice(number: int) -> Group:
    path = ("suggestions", number)
    return Group(f"Advice {number + 1}", "", (
        _field((*path, "text"), "Text", "prose"),
        _field((*path, "arguments"), "Its values", "expressions"),
        _field((*path, "when"), "When", "expression"),
        _field((*path, "time_left"), "Time left", "expression", default="left.without_this"),
        _field((*path, "stays"), "Rests on"),
        _field((*path, "changes"), "Changes", "lines"),
        _field((*path, "no_change"), "No change"),
        _field((*path, "hardware"), "Hardware", "check"),
        _field((*path, "elsewhere"), "Elsewhere", "check"),
    ), path)  # fmt: skip


def _more(meanings: Mapping[str, str]) -> Group:
    return Group("More", "", (
        _field(("new_time",), "New time", "expression"),
        _of_reasons("all_reasons", "All reasons", meanings),
        _of_reasons("without_reasons", "No reason of", meanings),
        _of_reasons("not_only", "Not only", meanings),
        _field(("select", "calls"), "Each call", "expression"),
        _field(("show",), "Show", "expressions"),
        _field(("part_of",), "Part of"),
        _field(("names_culprit",), "Who is late", "check"),
        _field(("aliases",), "Other names", "lines"),
    ))  # fmt: skip
