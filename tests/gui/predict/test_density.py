"""Densities: layers are dragged, rho is the model's, a kernel's own is measured."""

from pathlib import Path

import pytest
from pixels import pixels_of
from predicting import density as bounds_of
from predicting import model_path
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from workbench.api.job import Job
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.widgets import IconButton


def test_layers_are_dragged_and_put_back(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("matrix_multiply", "density"))
    view, file = mode.density, mode.document.model_file
    assert file is not None
    own = bounds_of(file)
    assert view.result is not None
    assert float(view.result.bounds[1].ops_per_s) == float(own.bounds[1].ops_per_s)
    assert [m.x for m in view.curve.plot.marks] == pytest.approx([0.6e6, 28e6])
    before = pixels_of(view.bars.grab().toImage())
    start = view.curve.mark_place(1)
    end = start + QPointF(-80, 40)
    qtbot.mousePress(view.curve.viewport(), Qt.MouseButton.LeftButton, pos=start.toPoint())
    qtbot.mouseMove(view.curve.viewport(), (start + QPointF(-40, 20)).toPoint())
    qtbot.mouseMove(view.curve.viewport(), end.toPoint())
    qtbot.mouseRelease(view.curve.viewport(), Qt.MouseButton.LeftButton, pos=end.toPoint())
    assert view.moved is not None
    dropped = view.moved
    mode.history.undo()  # the whole move is one step
    assert view.moved is None
    assert [m.x for m in view.curve.plot.marks] == pytest.approx([0.6e6, 28e6])
    assert not mode.history.can_undo
    mode.history.redo()
    assert view.moved == dropped
    assert float(view.moved[1].layer_bytes) < 28e6
    assert float(view.moved[1].bandwidth_bytes_per_s) < 1.4e9
    assert float(view.result.bounds[1].ops_per_s) < float(own.bounds[1].ops_per_s)
    assert view.bars.bars.rows[1].value == float(view.result.bounds[1].ops_per_s)
    assert "what-if" in mode.details.subtitle.text()
    assert (pixels_of(view.bars.grab().toImage()) != before).any()
    view.reset_button.click()
    assert view.moved is None
    assert (pixels_of(view.bars.grab().toImage()) == before).all()
    assert not mode.document.dirty


def test_platforms_stand_side_by_side(mode: PredictMode) -> None:
    mode.open_document(model_path("matrix_multiply", "density"))
    view = mode.density
    view.platform_menu.choose(["alveo_u280", "a100"])
    assert view.stack.currentWidget() is view.platforms
    lines = {line.name: line for line in view.platforms.plot.plot.lines}
    assert list(lines) == ["a100", "alveo_u280", "src6_map"]
    assert max(lines["a100"].x) == 40e9
    assert [action.data() for action in view.platform_menu.actions() if action.isChecked()] == list(lines)[:2]
    mode.open_document(model_path("dot_product", "density"))  # the same platforms, by the other model
    assert min(view.platforms.plot.plot.lines[0].y) == pytest.approx(31.5e9 / 8)
    view.platform_menu.choose([])
    assert view.stack.currentWidget() is not view.platforms


def test_a_platform_on_which_the_model_has_no_value_is_reported(mode: PredictMode, tmp_path: Path) -> None:
    model = tmp_path / "small.density.yaml"
    layer = "{name: a, layer_bytes: 1 MB, bandwidth_bytes_per_s: 1 GB/s}"
    model.write_text(f"schema_version: 1\nname: small\nelement_bytes: 4\neta: 1e9 - alpha\nlayers: [{layer}]\n")
    mode.open_document(model)
    mode.density.platform_menu.choose(["a100"])
    assert mode.density.stack.currentWidget() is not mode.density.platforms
    assert ["eta is -" in notice.message for notice in mode.context.notices] == [True]


def test_rho_curve_is_the_models(mode: PredictMode) -> None:
    mode.open_document(model_path("all_to_all", "density"))
    line = mode.density.curve.plot.lines[0]
    assert line.y == pytest.approx(line.x / (2 * 32**2))  # Eq. 5
    mode.reading.setCurrentText("large particles")
    mode.reading.activated.emit(mode.reading.currentIndex())
    assert mode.density.curve.plot.lines[0].y == pytest.approx(line.x / (2 * 512**2))


def test_a_kernels_measured_density_stands_beside_the_model(mode: PredictMode, qtbot: QtBot) -> None:
    """The naive order falls short of the model until one matrix fits in the store (Steffen 2007, section 3)."""
    mode.open_document(model_path("matrix_multiply", "density"))
    assert mode.density.of is not None
    title, (kernel, arguments) = next(iter(mode.density.of.kernels().items()))
    mode.density.measure_kernel(title, kernel, arguments)
    qtbot.waitUntil(lambda: len(mode.density.curve.plot.lines) == 2)
    measured = mode.density.curve.plot.lines[1]
    assert measured.name == "measured"
    assert min(measured.y) == pytest.approx(1 / 8, rel=0.05)  # each multiply-add loads both its operands of 4 bytes
    assert "largest difference to the model -" in mode.density.curve_head.subtitle.text()
    mode.density.reset()
    assert len(mode.density.curve.plot.lines) == 1


def test_a_kernel_that_is_measured_can_be_given_up(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> None:
    kernel = tmp_path / "forever.c"
    kernel.write_text("int main(void) { for (;;) ; }\n")
    mode.open_document(model_path("matrix_multiply", "density"))
    mode.density.measure_kernel("forever", kernel, [])
    background = mode.context.background
    qtbot.waitUntil(lambda: background.said == "Measuring forever")
    assert mode.density.measure_button.isHidden()
    mode.density.stop_button.click()
    qtbot.waitUntil(lambda: not background.busy)  # its program has ended
    assert not mode.density.measure_button.isHidden()
    assert len(mode.density.curve.plot.lines) == 1
    assert not list(mode.context.notices)


MEASURED = """\
schema_version: 1
name: measured
element_bytes: 4
operations: 96
problem_bytes: 256
measured:
  - {store_bytes: 4, ops_per_byte: 0.25}
  - {store_bytes: 128, ops_per_byte: 0.375}
"""


def test_a_model_of_the_projects_host_is_measured_and_ranked(
    mode: PredictMode, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a host is measured: tests/test_predict_host_density.py."""
    from workbench.session.make import host_model

    asked: list[str] = []
    workspace, kind = mode.context.workspace, mode.context.plugins.model_kinds["density"]
    assert workspace is not None
    monkeypatch.setattr(host_model, "measured_model", lambda of, kind, region, job: asked.append(region) or MEASURED)
    path = workspace.root / "host.density.yaml"
    measuring = mode.left.measuring
    measuring.measure(kind, workspace, "finish", path)
    assert not measuring.isHidden()
    qtbot.waitUntil(lambda: mode.document.path == path)
    assert asked == ["finish"]
    assert measuring.isHidden()
    assert mode.density.stack.currentWidget() is mode.density.platforms
    assert mode.density.figures.figures[0].value == "0.375\u202f/B"
    mode.density.platform_menu.choose([])
    assert mode.density.curve.plot.lines[0].y[-1] == 0.375
    (button,) = (button for button in mode.left.findChildren(IconButton) if button.menu())
    assert button.menu().actions()[-1].text() == "New density model of the project's host..."


def test_a_host_that_is_measured_can_be_given_up(
    mode: PredictMode, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.session.make import host_model

    def forever(of: object, kind: object, region: str, job: Job) -> str:
        while True:
            job.check()

    workspace, kind = mode.context.workspace, mode.context.plugins.model_kinds["density"]
    assert workspace is not None
    monkeypatch.setattr(host_model, "measured_model", forever)
    mode.left.measuring.measure(kind, workspace, "finish", path := workspace.root / "host.density.yaml")
    mode.left.measuring.stop_button.click()
    qtbot.waitUntil(lambda: not mode.context.background.busy)
    assert not path.exists()
    assert not list(mode.context.notices)
