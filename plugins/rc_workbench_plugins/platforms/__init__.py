"""The platform templates that come with the workbench (`platform_templates/`), each with what lies in the folder of its
name beside it: its host API's header, and the sources that stand in for the vendor's library on the simulated card."""

from importlib.resources import files
from pathlib import Path

from workbench.api import PlatformSupport, hookimpl
from workbench.api.source import suffixes

#: The example board of each API that is no board's own.
_BOARDS = {
    "aws_fpga": "registers", "coyote": "streams", "litepcie": "streams",
    "opae": "registers", "opencl_host": "kernel", "sycl_usm": "kernel", "uio_vfio": "registers",
    "xdma": "registers", "xrt_native": "kernel",
}  # fmt: skip


@hookimpl
def workbench_platforms() -> list[PlatformSupport]:
    return [_support(template) for template in sorted(Path(str(files("workbench.platform_templates"))).glob("*.yaml"))]


def _support(template: Path) -> PlatformSupport:
    api = template.with_suffix("")
    sources = tuple(sorted(file for file in api.glob("*") if file.suffix in (*suffixes.C, *suffixes.CPP)))
    board = template.parent / "boards" / f"{_BOARDS[template.stem]}.yaml" if template.stem in _BOARDS else None
    return PlatformSupport(template.stem, template, api if api.is_dir() else None, sources, board)
