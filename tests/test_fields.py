"""The field reference says everything about every field, is what the schemas say, and is shown in the guide."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from answers import document_of
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from workbench.cli.main import main
from workbench.formats.field_reference import Field
from workbench.gui.app import make_application
from workbench.gui.frame.guide import FIRST_PAGE, GuideWindow
from workbench.gui.run.background import Background, Slices
from workbench.model.run_tables import COLUMNS, ROWS, TABLES
from workbench.session.edit.fields import NAMES, described, documents, reference

HELP = Path(str(files("workbench.resources"))) / "help"


def fields(name: str) -> dict[str, Field]:
    return {field.path: field for document in documents(name) for part in described(document) for field in part.fields}


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_that_comes_along_is_what_the_schemas_say(name: str) -> None:
    written = (HELP / "fields" / f"{name}.md").read_text("utf-8")
    assert written == reference([name]), f"run: workbench fields {name} > resources/help/fields/{name}.md"


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_a_type_a_meaning_and_an_example(name: str) -> None:
    for field in fields(name).values():
        assert field.type not in ("", "anything"), field
        assert field.meaning, f"{field.path} needs a description in its schema"
        assert field.example or "fields, see" in field.type, field


def test_a_field_is_told_as_its_schema_has_it() -> None:
    template, project, model, run = (fields(name) for name in ("template", "project", "model", "run"))
    clock = template["hardware.clocks[].frequency_hz"]
    assert (clock.type, clock.unit, clock.bounds, clock.default) == ("number", "Hz", "above 0", None)
    assert clock.example.endswith("Hz")
    assert template["outgoing.delay_cycles"].bounds == "at least 0"
    assert template["hardware.clocks[].alignment"].type == "`start` or `read_out`"
    assert template["host.entries[].bytes"].unit == "", "an expression, not a number"
    assert project["simulation.wall_limit_s"].default == "600.0"
    assert project["settings"].type == "by name: number or text"
    assert model["stages[].transactions[].nodes"].bounds == "whole, at least 1"
    assert model["stages[].transactions[].efficiency"].bounds == "above 0, at most 1"
    assert model["stages[].nodes[].clock_hz"].type == "number or formula"
    assert model["inputs.NAME.value"].type == "number or text"
    assert run["blocks[].states[].category"].type.startswith("`work` or `overhead`")


def test_every_key_of_the_documents_that_come_along_is_in_the_reference() -> None:
    def paths(data: object, known: set[str], at: str = "") -> set[str]:
        if isinstance(data, list):
            return set().union(*(paths(item, known, f"{at}[]") for item in data))
        if not isinstance(data, dict):
            return set()
        found = set()
        for key, value in data.items():
            here = f"{at}.{key}".removeprefix(".")
            named = here not in known and any(path.startswith(f"{at}.NAME") for path in known)
            here = f"{at}.NAME" if named else here
            found |= {here} | paths(value, known, here)
        return found

    known = set(fields("template"))
    known |= {path.rpartition(".")[0] for path in known if ".NAME." in path} | {
        "host.constants.NAME",
        "host.lacks.NAME",
    }
    known |= {f"hardware.ports[].{path}" for path in known}
    for path in Path(str(files("workbench.platform_templates"))).glob("*.yaml"):
        assert paths(yaml.safe_load(path.read_text()), known) <= known


def test_every_table_and_column_of_a_run_is_told() -> None:
    assert ROWS.keys() == TABLES.keys()
    assert COLUMNS.keys() == {column for columns in TABLES.values() for column in columns}


def test_the_command_prints_a_document_its_schema_and_refuses_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "project"]) == 0
    assert "`hardware.read_out`" in capsys.readouterr().out
    schema = document_of(capsys, ["fields", "project", "--json"])["NAME.workbench.yaml"]
    assert set(schema["required"]) == {"schema_version", "name", "platform", "hardware"}
    assert main(["fields", "template", "--json"]) == 0
    clock = json.loads(capsys.readouterr().out)["NAME.yaml"]["$defs"]["Clock"]["properties"]["frequency_hz"]
    assert clock["anyOf"] == [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}], "100 MHz is right too"
    assert main(["fields", "projct"]) == 2
    assert "project" in capsys.readouterr().err


def test_the_guide_leads_to_the_reference_and_back(qtbot: QtBot) -> None:
    make_application()
    parent = QWidget()
    qtbot.addWidget(parent)
    browser = GuideWindow(parent, Slices(Background(parent), parent)).browser
    links = browser.document().toHtml()
    for name in NAMES:
        assert f'href="fields/{name}.md"' in links
        browser.follow(QUrl(f"fields/{name}.md"))
        assert next(iter(fields(name).values())).meaning in browser.document().toPlainText()
        browser.backward()
        assert browser.source() == FIRST_PAGE
    assert not browser.document().isEmpty()
