"""Every text that a person reads keeps to the glossary: what `docs/glossary.md` says not to write is nowhere."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = (
    *(page for page in (ROOT / "resources" / "help").rglob("*.md") if page.name != "plugin_api.md"),
    *(ROOT / name for name in ("README.md", "SECURITY.md", "docs/papers.md", "docs/rules.md", "docs/what-if.md")),
)
TEMPLATES = (*(ROOT / "platform_templates").rglob("*.yaml"), *(ROOT / "plugins").rglob("rules.yaml"))
CODE = (*(ROOT / "workbench").rglob("*.py"), *(ROOT / "plugins").rglob("*.py"))


def rows(columns: int) -> list[list[str]]:
    """The rows of the glossary's tables that have so many columns, heads left out."""
    lines = (line.strip("|").split("|") for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("|"))
    cells = ([cell.strip() for cell in line] for line in lines if len(line) == columns)
    return [row for row in cells if row[0] not in ("Term", "Not", "---")]


def rules() -> dict[str, str]:
    """Each phrase that is not written, with what is written instead."""
    pairs = [(row[2], row[0]) for row in rows(3)] + [(row[0], row[1]) for row in rows(2)]
    return {phrase.strip(): write for phrases, write in pairs for phrase in phrases.split(",") if phrase.strip()}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a file with its lines: strings of three words and more, but docstrings; of others all but code."""
    source = path.read_text("utf-8")
    if path.suffix != ".py":
        code = r"(?ms)^```.*?^```|`[^`\n]*`|^ {4}[^\n]*$"
        plain = re.sub(code, "", source) if path.suffix == ".md" else source
        yield from enumerate(plain.splitlines(), 1)
        return
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    apart |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        said = "{}".join(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
        if id(node) not in apart and ";\n" not in said and len(re.findall(r"\b[a-z]+ ", said)) >= 2:
            yield getattr(node, "lineno", 0), said


@pytest.mark.parametrize("paths", [CODE, PAGES, TEMPLATES], ids=["code", "pages", "templates"])
def test_texts_keep_to_the_glossary(paths: tuple[Path, ...]) -> None:
    instead = rules()
    assert len(instead) > 30
    wrong = re.compile(rf"(?i)(?<![\w.-])({'|'.join(map(re.escape, instead))})(?![\w-])")
    faults = [
        f"{path.relative_to(ROOT)}:{line}: '{found[0]}' in '{text.strip()[:100]}': write {instead[found[0].lower()]}"
        for path in sorted(paths)
        for line, text in texts(path)
        for found in wrong.finditer(text)
    ]
    assert not faults, "\n".join(faults)


def test_the_glossary_lists_a_term_once() -> None:
    names = [name.strip() for row in rows(3) for name in row[0].split(",")]
    assert len(names) > 90
    assert {name for name in names if names.count(name) > 1} <= {"target", "trust"}  # two meanings, two headings
