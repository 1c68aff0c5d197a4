"""A run's manifest as JSON text: versions, and whether what it says fits together."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workbench.formats.json_text import JsonError, read_json
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import SCHEMA_VERSION, Manifest

Document = dict[str, Any]
#: From a version to the function that turns a manifest of that version into one of the next.
Migrations = Mapping[int, Callable[[Document], Document]]


def _with_clocks(document: Document) -> Document:
    """Version 1 had one clock without a name; blocks gave the signal by which their module knows it."""
    frequency_hz, cycles = document.pop("clock_hz", 0.0), document.pop("cycles", 0)
    blocks = [block for block in document.get("blocks") or () if isinstance(block, dict)]
    name = next((block["clock"] for block in blocks if block.get("clock")), "clock")
    for block in blocks:
        if block.pop("clock_hz", None) or block.get("clock"):
            block["clock"] = name
    clock = {"name": name, "frequency_hz": frequency_hz, "cycles": cycles}
    return {**document, "clocks": [clock] if frequency_hz else []}


MIGRATIONS: Migrations = {1: _with_clocks}

_ADAPTER = TypeAdapter(Manifest)


def manifest_text(manifest: Manifest) -> str:
    return json.dumps(_ADAPTER.dump_python(manifest, mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_manifest(text: str | bytes, file: str, migrations: Migrations = MIGRATIONS) -> Manifest:
    """A manifest of this or an earlier version. Raises WorkbenchError where the text is none."""
    try:
        document = read_json(text)
    except JsonError as error:
        message, hint = f"the manifest is not JSON: {error.message}", "The folder is damaged; run again."
        raise WorkbenchError(Diagnostic(message, hint, file=file, line=error.line, column=error.column)) from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise WorkbenchError(Diagnostic("the manifest has no schema_version", "Is this a run's manifest?", file=file))
    if version > SCHEMA_VERSION:
        raise WorkbenchError(
            Diagnostic(f"this run has format version {version}; this workbench reads up to {SCHEMA_VERSION}",
                       "Open it with a newer RC Workbench.", file=file)
        )  # fmt: skip
    while version < SCHEMA_VERSION:
        if version not in migrations:
            raise WorkbenchError(
                Diagnostic(f"runs of version {version} can no longer be read", "Run again.", file=file)
            )
        document = {**migrations[version](document), "schema_version": version + 1}
        version += 1
    try:
        manifest = _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WorkbenchError(_damaged(where, first["msg"], file)) from None
    if why := next(_misfits(manifest), None):
        raise WorkbenchError(_damaged(*why, file))
    return manifest


def _damaged(where: str, why: str, file: str) -> Diagnostic:
    return Diagnostic(f"the manifest's {where} is wrong: {why}", "It is damaged; run again.", file=file)


def _misfits(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What its lists say of each other that cannot be: the place, and why."""
    clocks = [clock.name for clock in manifest.clocks]
    for number, block in enumerate(manifest.blocks):
        if block.clock and block.clock not in clocks:
            yield f"blocks.{number}.clock", f"there is no clock '{block.clock}'"
        for index, state in enumerate(block.states):
            if state.index != index:
                yield f"blocks.{number}.states.{index}", f"its index is {state.index}"
    for number, site in enumerate(manifest.sites):
        if site.block >= len(manifest.blocks):
            yield f"sites.{number}.block", f"there are {len(manifest.blocks)} blocks"
