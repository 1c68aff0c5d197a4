"""A plugin with one of each kind of thing, whose every function ends as `how` says."""

import sys
from pathlib import Path

from pydantic import ConfigDict, Field

from workbench.api import (
    Command,
    Exporter,
    FindingSource,
    Importer,
    Metric,
    ModelKind,
    PlatformSupport,
    PortKind,
    RuleFile,
    WindowMode,
    hookimpl,
)
from workbench.api.languages import FileKind, Syntax
from workbench.api.models import ModelDocument
from workbench.api.ports import HardwarePort

HERE = Path(__file__).parent
how, begins = "", False


class Odd(BaseException):
    """None of Python's own."""


def end(*given, **named):
    if how == "exit":
        sys.exit(5)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "odd":
        raise Odd("odd")


class Language:
    name, files = "ending", (FileKind("Ending", (".end",), Syntax("#")),)
    scan = instrument = plain = tops = decode = outline = end


class Composer:
    name, files = "streaming", ()
    compose = restored = end


class Lab:
    name, title, simulated, steps = "ending", "Ending", False, ("End",)
    lacks = build = run = end


class Queries:
    name, title = "streams", "Ending"  # as the mode that asks
    subject = planned = ask = explain = end


class EndingPort(HardwarePort):
    model_config = ConfigDict(extra="allow")

    kind: str = Field("ending", description="ending")
    signals = problems = end


class EndingModel(ModelDocument):
    """A model without a field of its own."""


def view():
    from PySide6.QtWidgets import QPushButton, QWidget

    from workbench.gui.modes.mode import Mode

    class Torn(QWidget):
        def paintEvent(self, event):
            end()

    class Ending(Mode):
        def __init__(self, context, kind):
            super().__init__(context, kind)
            self.torn, self.button = Torn(), QPushButton()
            self.set_content(self.torn)
            self.button.clicked.connect(lambda: end())
            self.show_content()

        def build(self):
            if begins:
                end()
            yield

    return Ending


@hookimpl
def workbench_platforms():
    return [PlatformSupport("ending", HERE / "ending.yaml")]


@hookimpl
def workbench_hdl_languages():
    return [Language()]


@hookimpl
def workbench_host_languages():
    return [Language()]


@hookimpl
def workbench_port_kinds():
    return [PortKind("ending", "Ending", lambda: EndingPort)]


@hookimpl
def workbench_composers():
    return [Composer()]


@hookimpl
def workbench_targets():
    return [Lab()]


@hookimpl
def workbench_rules():
    return [RuleFile(HERE / "ending_rules.yaml")]


@hookimpl
def workbench_metrics():
    return [Metric("ending", "Ending", "time", end)]


@hookimpl
def workbench_findings():
    return [FindingSource("ending", end, end)]


@hookimpl
def workbench_exporters():
    return [Exporter("ending", "Ending", ".ending", end)]


@hookimpl
def workbench_importers():
    return [Importer("ending", "Ending", (".ending",), end)]


@hookimpl
def workbench_commands():
    return [Command("ending", "ends", lambda parser: None, end)]


@hookimpl
def workbench_model_kinds():
    return [ModelKind("ending", "Ending", lambda: EndingModel, end, goal="x")]


@hookimpl
def workbench_queries():
    return [Queries()]


@hookimpl
def workbench_modes():
    return [WindowMode("ending", "Ending", "check", view)]
