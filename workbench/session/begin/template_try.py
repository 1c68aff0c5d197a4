"""Tries a platform template on sources without a project: the calls that its entries match, with their places."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.scan import CallSite, HostScan
from workbench.session.open.own_api import own_support, with_header
from workbench.session.open.reading import scanned
from workbench.system.files import real

if TYPE_CHECKING:
    from workbench.api import HostLanguage
    from workbench.api.job import Job
    from workbench.model.platform import Platform
    from workbench.session.program.plugins import Plugins


@dataclass(frozen=True)
class Tried:
    """The matched calls. `unused` are the prototypes that no call matches; `diagnostics` describe code that was not
    understood."""

    calls: tuple[CallSite, ...]
    unused: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def sources_of(files: Sequence[Path], include_dirs: Sequence[Path] = ()) -> tuple[Path, HostSources]:
    """The files as the host sources of a project in the folder returned with them. WorkbenchError if one is missing."""
    for file in files:
        if not os.path.isfile(file):
            raise WorkbenchError(Diagnostic("there is no such source", "Name a C or C++ file.", file=str(file)))
    paths = [real(file) for file in files]
    root = Path(os.path.commonpath([path.parent for path in paths]))
    names = tuple(os.path.relpath(path, root) for path in paths)
    return root, HostSources(sources=names, include_dirs=tuple(str(folder.absolute()) for folder in include_dirs))


def tried(
    platform: Platform,
    template: Path,
    root: Path,
    host: HostSources,
    defines: Mapping[str, str],
    plugins: Plugins,
    job: Job,
) -> Tried:
    """The calls of the template's API in the host sources below `root`."""
    language = plugins.host_languages[host.language]
    host = host.model_copy(update={"include_dirs": (*host.include_dirs, str(template.parent.absolute()))})
    beside = (root / name for name in (*host.include_dirs, *(os.path.dirname(source) for source in host.sources)))
    support = with_header(own_support(platform, template, plugins.platforms), platform, template, beside)
    if support and support.api_dir:
        host = host.model_copy(update={"include_dirs": (*host.include_dirs, str(support.api_dir.absolute()))})
    scan = partial(_scan, language, root, platform, dict(defines), job)
    scan_result = scanned(root, (), host, scan, HostScan(()), job)
    matched = {prototype for call in scan_result.calls for prototype in call.entry.split("; ")}
    calls = (one for one in platform.host.entries if one.prototype)
    texts = dict.fromkeys(one.prototype + (f" [{one.subtype}]" if one.subtype else "") for one in calls)
    return Tried(scan_result.calls, tuple(text for text in texts if text not in matched), scan_result.diagnostics)


def _scan(
    language: HostLanguage, root: Path, platform: Platform, defines: dict[str, str], job: Job, part: HostSources
) -> HostScan:
    return language.scan(root, part, platform, defines, job)
