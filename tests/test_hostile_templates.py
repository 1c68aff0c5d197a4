"""Templates that somebody else made to do harm: they are refused, or say what they do once they are trusted to run."""

import shutil
import time
from importlib.resources import files
from pathlib import Path

import pytest

from workbench.cli.main import main

TINY = Path(__file__).parent / "data" / "tiny"


ALIASES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: a\nsuggestions:\n" + "  - 'advice'\n" * 800_000, "larger than 4 MiB"),
        ("".join(["a0: &a0 [1]\n", *ALIASES]), "aliases"),
        ("schema_version: 2\nname: x\nhost: !!python/object/apply:os.system ['touch HERE']\n", "are not supported"),
    ],
    ids=["ten megabytes", "aliases of aliases", "a Python object"],
)
def test_a_template_is_refused(text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template, mark = tmp_path / "board.yaml", tmp_path / "mark"
    template.write_text(text.replace("HERE", str(mark)))
    began = time.process_time()
    assert main(["template", "check", str(template)]) == 1
    assert time.process_time() - began < 3
    assert told in capsys.readouterr().err
    assert not mark.exists()


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        ("words * 4", "4); } __attribute__((constructor)) void evil(void) { (0", "nothing opens the ')'"),
        ("words * 4", "words /* ", "'/*' does not belong in one"),
        ("words * 4", r'"words\n#include </etc/passwd>\n"', "'#' does not belong in one"),
        ("free(data);", "free(data); } __attribute__((constructor)) void evil(void) {", "nothing opens the '}'"),
        ("data_type: uint32_t", 'data_type: "int x; void evil(void){} int"', "not a C type"),
        ('#include "fpga.h"', "static void __attribute__((constructor)) evil(void) {}", "includes no header"),
        ("'#include \"fpga.h\"'", "'#include \"/dev/zero\"'", "not a regular file"),
        ("exclude_files", r'constants: {"A\n#include </etc/passwd>": 1}' + "\n  exclude_files", "not a C name"),
        ("int fpgaWait(fpga_t *fpga)", "int fpgaWait(fpga_t *fpga) { } int evil(int a)", "not a C or C++ prototype"),
    ],
)
def test_c_that_goes_on_beyond_its_place_is_refused_at_its_line(
    written: str, instead: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = (Path(str(files("workbench.platform_templates"))) / "nallatech_h101.yaml").read_text()
    assert written in original
    line = original[: original.index(written)].count("\n") + 1
    (tmp_path / "board.yaml").write_text(original.replace(written, instead, 1))
    assert main(["template", "check", str(tmp_path / "board.yaml")]) == 1
    shown = capsys.readouterr().err
    assert f"board.yaml:{line}:" in shown
    assert told in shown


def test_nothing_of_a_template_runs_before_it_is_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its C is read, instrumented and checked; only a run, which asks, would call it."""
    mark = tmp_path / "mark"
    shutil.copytree(TINY, tmp_path, dirs_exist_ok=True)
    original = (Path(str(files("workbench.platform_templates"))) / "nallatech_h101.yaml").read_text()
    call = f'system("touch {mark}")'
    text = original.replace("bytes: words * 4", f"bytes: '({{ int system(const char *); {call}; words * 4; }})'")
    text = text.replace("name: nallatech_h101", "name: hostile").replace(
        "  entries:\n",
        "  entries:\n    - prototype: __attribute__((constructor)) int evil(int a)\n      kind: other\n",
        1,
    )
    assert text.count(call) == original.count("bytes: words * 4")
    (tmp_path / "hostile.yaml").write_text(text)
    project = tmp_path / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("platform: nallatech_h101", "platform: hostile.yaml"))
    for command in (["template", "check", str(tmp_path / "hostile.yaml")], ["scan", str(project)],
                    ["instrument", str(project), "--out", str(tmp_path / "tree")]):  # fmt: skip
        main(command)
        assert "Traceback" not in capsys.readouterr().err
        assert not mark.exists()
    assert (tmp_path / "tree").is_dir()
