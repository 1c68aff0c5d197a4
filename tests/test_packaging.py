"""What is handed out: an sdist and a wheel that work without the source tree, and what is said about them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from workbench import __version__

ROOT = Path(__file__).parents[1]
NOT_SOURCES = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "demo", "runs")
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


def build(kind: str, source: Path, out: Path) -> Path:
    """Build as a packager's front end does, by the build backend, in the folder of the sources."""
    done = subprocess.run([sys.executable, "-c", BUILD, kind, out], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist of the source tree, and the wheel that is built from that sdist alone."""
    work = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, work / "source", ignore=NOT_SOURCES)
    sdist = build("sdist", work / "source", work)
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "unpacked", filter="data")
    return sdist, build("wheel", next((work / "unpacked").iterdir()), work)


@pytest.fixture(scope="module")
def clean(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel installed; only the libraries it depends on are shared with this one."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet", built[1]],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    libraries = [p for p in sys.path if p.endswith("site-packages")]
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "libraries.pth").write_text("\n".join(libraries))
    return folder


def run(clean: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A program of the clean environment, in a folder and with a home that hold nothing."""
    program = clean / "bin" / arguments[0]
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden and not key.startswith("RCW_")}
    environment |= {"HOME": str(home), "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    return subprocess.run([program, *arguments[1:]], cwd=home, env=environment, capture_output=True, text=True)


def test_the_installed_wheel_works_on_its_own(clean: Path, tmp_path: Path) -> None:
    where = run(clean, "python", "-c", "import workbench; print(workbench.__file__)", home=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(clean), where.stderr
    assert run(clean, "workbench", "--version", home=tmp_path).stdout == f"RC Workbench {__version__}\n"
    plugins = json.loads(run(clean, "workbench", "plugins", "--json", home=tmp_path).stdout)["plugins"]
    ours = {e.name for e in entry_points(group="rc_workbench.plugins") if e.value.startswith("rc_workbench_plugins.")}
    assert ours <= {plugin["name"] for plugin in plugins}
    assert not [plugin for plugin in plugins if plugin["error"]]
    templates = json.loads(run(clean, "workbench", "template", "list", "--json", home=tmp_path).stdout)["templates"]
    assert {p.stem for p in (ROOT / "platform_templates").glob("*.yaml")} <= {t["name"] for t in templates}
    assert [t["name"] for t in templates if t["simulated"]] == ["nallatech_h101"]
    assert all(Path(t["file"]).is_relative_to(clean) for t in templates)
    doctor = run(clean, "workbench", "doctor", "--json", home=tmp_path)
    assert json.loads(doctor.stdout)["ready"], doctor.stdout
    assert all(json.loads(doctor.stdout)["libraries"].values())
    predicted = run(clean, "workbench", "predict", "ratss", "pdf2d", "--json", home=tmp_path)
    assert predicted.returncode == 0, predicted.stderr


def test_every_file_that_the_program_reads_at_run_time_is_in_the_wheel(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    missing = [name for name in run_time_files() if name not in packed]
    assert missing == []
    assert not [name for name in packed if name.startswith(("tests/", "docs/"))]


def run_time_files() -> Iterator[str]:
    """The paths in a wheel of all that the packages' folders hold."""
    places = {
        "resources": "workbench/resources",
        "platform_templates": "workbench/platform_templates",
        "workbench": "workbench",
        "plugins/rc_workbench_plugins": "rc_workbench_plugins",
    }
    for folder, target in places.items():
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{target}/{path.relative_to(ROOT / folder).as_posix()}"


def test_the_sdist_holds_what_its_tests_and_readers_need(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    for name in ("LICENSE", "CITATION.cff", "SECURITY.md", "README.md", "Makefile", "docs/architecture.md"):
        assert name in held
    assert {f"tests/{p.name}" for p in (ROOT / "tests").glob("test_*.py")} <= held


def test_the_packages_metadata_is_whole(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
        licences = [n for n in archive.namelist() if "/licenses/" in n]
        (licence,) = (n for n in licences if n.endswith("/LICENSE") and "icons" not in n)
        assert archive.read(licence).decode() == (ROOT / "LICENSE").read_text()
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"].split(" AND ")[0] == "Apache-2.0"
    assert metadata["Author"] == "The RC Workbench developers"
    assert len(licences) == 4, "our own, both fonts', the icons'"
    assert "Operating System :: POSIX :: Linux" in metadata.get_all("Classifier", [])


def test_the_licence_is_apache_2_in_full() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    for number in range(1, 10):
        assert f"\n   {number}. " in text


def test_the_citation_names_this_version_and_the_five_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == "Apache-2.0"
    papers = {(paper["authors"][0]["family-names"], paper["year"]) for paper in citation["references"]}
    assert papers == {("Koehler", 2011), ("Holland", 2011), ("Steffen", 2007), ("Lancaster", 2011), ("Wang", 2016)}
