"""Finds the tree of each rank's program, if ranks of several projects ran under one launcher (`mpirun a : b`).

For example, rank 0 ran a program of tree `a`, ranks 1 and 2 one of tree `b`. Each has an FPGA, and the run has the
FPGAs `rank[0].`, `rank[1].` and `rank[2].`; names of source files begin with their project's name.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import HostBuild
from workbench.api.host_units import read_units
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import listed
from workbench.run.cards import manifest_of_ranks
from workbench.run.rank_programs import check_one_program
from workbench.run.ranks import recorded
from workbench.session.make.tree import Tree


def trees_of_ranks(trees: Sequence[Tree], folders: Sequence[Path], shown: Path) -> list[Tree]:
    """The tree of each rank's program: the one with the program's call sites. A program without ranks counts as one
    rank, and a rank that recorded nothing has the first tree.

    `folders` are the ranks' records, and errors name them in `shown`. Raises WorkbenchError if a program is of none of
    the trees, or the trees cannot form one run.
    """
    if len(trees) == 1:
        if trees[0].id:
            check_one_program(recorded(folders), shown)
        return list(trees) * max(len(folders), 1)
    _check_together(trees)
    of_ranks = []
    for number, folder in enumerate(folders):
        units = read_units(folder)
        matching = [tree for tree in trees if units and tree.manifest.sites == units.sites]
        if units and not matching:
            hint = "Name the trees of all programs: workbench collect TREE TREE ... RECORDS."
            names = listed([str(tree.path) for tree in trees])
            message = f"rank {number} ran a program of none of the trees {names}"
            raise WorkbenchError(Diagnostic(message, hint, file=str(shown / folder.name)))
        of_ranks.append(matching[0] if matching else trees[0])
    return of_ranks


def of_programs(of_ranks: Sequence[Tree]) -> Tree:
    """One tree for a run, from the trees of its ranks' programs. It has the FPGAs of all ranks, and the host and the
    names of the first tree. With several ranks, names of FPGAs begin with their rank's."""
    if len(of_ranks) < 2:
        return of_ranks[0]
    places = tuple(f"rank[{rank}]." for rank in range(len(of_ranks)))
    fpgas = tuple(
        replace(one, place=place + one.place)
        for place, tree in zip(places, of_ranks, strict=True) for one in tree.fpgas
    )  # fmt: skip
    return replace(of_ranks[0], manifest=manifest_of_ranks([tree.manifest for tree in of_ranks], places), fpgas=fpgas)


def _check_together(trees: Sequence[Tree]) -> None:
    """Raise WorkbenchError if programs of these trees cannot be ranks of one run."""
    first = trees[0]
    for tree in trees:
        if not tree.id:
            hint = "Give one project with the sources of all programs that `workbench cc` compiled."
            message = "only trees that `instrument` wrote can be collected together"
            raise WorkbenchError(Diagnostic(message, hint, file=str(tree.path)))
        if tree.platform_path.read_bytes() != first.platform_path.read_bytes():
            hint = "Use one template, which has the API of each program (`apis:`), in all projects."
            message = f"this tree's platform is not the one of {first.path}"
            raise WorkbenchError(Diagnostic(message, hint, file=str(tree.platform_path)))
        if tree.composed:
            hint = "Collect its records alone."
            message = "an application of composed blocks cannot be collected with other programs"
            raise WorkbenchError(Diagnostic(message, hint, file=str(tree.path)))


def host_of_ranks(of_ranks: Sequence[Tree], raw: Path) -> HostBuild:
    """The host of all programs together, with sites and states as the joined records in `raw` number them. With several
    trees, names of files begin with their project's."""
    units, names = read_units(raw), project_names(of_ranks)
    if len(names) == 1 or units is None:
        return of_ranks[0].host
    trees = {tree.path: tree for tree in of_ranks}
    sites = [replace(site, file=f"{name}/{site.file}")
             for path, name in names.items() for site in trees[path].manifest.sites]  # fmt: skip
    return replace(of_ranks[0].host, blocks=(units.block,), sites=tuple(sites))


def project_names(of_ranks: Sequence[Tree]) -> dict[Path, str]:
    """The names of the trees' projects, by the trees' folders. If several have one name, all but the first get a
    number, such as `sums (2)`."""
    names = {tree.path: tree.manifest.name for tree in of_ranks}
    uses = Counter[str]()
    for path, name in names.items():
        uses[name] += 1
        names[path] = name if uses[name] == 1 else f"{name} ({uses[name]})"
    return names
