"""The elaborated hierarchy: every instance, every clocked process in it, and the clock that it runs on."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rc_workbench_plugins.vhdl.blocks import SourceBlock
from rc_workbench_plugins.vhdl.clocks import Clocks, Within
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import Node
from rc_workbench_plugins.vhdl.skeleton import marked
from rc_workbench_plugins.vhdl.syntax import plain
from rc_workbench_plugins.vhdl.units import Component, Instantiation, Region
from workbench.api.instrument.port_finder import is_clock
from workbench.hdl.derived import follow_derived
from workbench.hdl.instances import BlockUse, Instance, Key, Loop

_INDEXED = re.compile(r"(.*)\((-?\d+)\)")


def elaborate(design: Design, blocks: Mapping[Key, SourceBlock]) -> tuple[Instance, Clocks] | tuple[None, None]:
    """The tree of instances below the top, with the clocked processes in each, and what follows its names.

    An instance's `module` is its entity, `body` the `Unit` of its architecture (None of a component that is bound to
    nothing, which has no children, but `inputs`), `node` its `Instantiation`. A block's `scope` is the `Region` that it
    stands in.
    """
    if design.tree is None:
        return None, None
    read = _Elaboration(design, blocks)
    top = read.instance(design.tree, design.top.name if design.top else design.tree.name, ("", 0), (), None)
    clocks = Clocks(top, read.parents, read.regions)
    for instance in top.walk():
        for number, use in enumerate(instance.blocks):
            root = clocks.root(instance, use.source.clock, use.loops)
            reset = clocks.reset(instance, use.source.arms)
            instance.blocks[number] = BlockUse(use.path, use.source, use.loops, root, use.scope, reset)
        if instance.body is None and instance.node is not None:
            around, component = read.parents[instance.path], design.component(instance.node)
            connected = list(_associated(instance, component))
            roots = ((formal, clocks.input(around, actual, instance.loops)) for formal, actual in connected)
            instance.inputs = {formal: root for formal, root in roots if root[0]}
            instance.clock_origins = {
                formal: clocks.origin(around, actual, instance.loops)
                for formal, actual in connected
                if formal not in instance.inputs and is_clock(plain(formal))
            }
    follow_derived(top, lambda instance, use: clocks.origin(instance, use.source.clock, use.loops))
    return top, clocks


def _associated(instance: Instance, component: Component | None) -> Iterator[tuple[str, str]]:
    """The names of a component's ports, and what is connected to each."""
    ports = component.interface.ports if component is not None else ()
    for number, one in enumerate(instance.node.associations):
        if one.formal or number < len(ports):
            yield one.formal or ports[number].name, one.actual


@dataclass
class _Elaboration:
    design: Design
    blocks: Mapping[Key, SourceBlock]
    parents: dict[str, Instance] = field(default_factory=dict)
    regions: dict[str, list[Within]] = field(default_factory=lambda: defaultdict(list))

    def instance(self, node: Node, path: str, key: Key, loops: tuple[Loop, ...], use: Instantiation | None) -> Instance:
        """The instance of an "entity" node, or of a component's "instance" without an entity."""
        body = next((one for one in node.inner if one.kind == "arch"), None)
        region = self.region(body) if body is not None else None
        unit = self.design.architecture(region) if region is not None else None
        entity = self.design.entity_of(unit) if unit is not None else None
        module = entity.name if entity is not None else node.name
        ports = len(entity.ports) if entity is not None else 0
        instance = Instance(path, module, key, loops, None, ports, use, unit)
        if body is not None and region is not None:
            self.visit(instance, body, region, path, ())
        return instance

    def region(self, node: Node) -> Region | None:
        """The region that a node is one of, by the process that marks it."""
        for one in node.inner:
            if one.kind == "process" and (place := marked(one.name)):
                return self.design.regions.get(place)
        return None

    def visit(self, instance: Instance, node: Node, region: Region, path: str, loops: tuple[Loop, ...]) -> None:
        self.regions[instance.path].append((region, loops))
        instance.regions.append((region, path, loops))
        for process in region.processes:
            source = self.blocks.get((str(region.file.path), process.start_byte))
            if source is not None:
                instance.blocks.append(BlockUse(f"{path}.{source.label}", source, loops, "", region, None))
        labels = {plain(one.label): one for one in region.instantiations}
        for one in node.inner:
            if one.kind == "instance":
                use = labels.get(plain(one.name))
                if use is not None:
                    bound = next((inner for inner in one.inner if inner.kind == "entity"), Node(use.unit, "instance"))
                    child = self.instance(bound, f"{path}.{use.label}", use.key, loops, use)
                    instance.children.append(child)
                    self.parents[child.path] = instance
            elif one.kind not in ("process", "entity", "arch"):
                inner = self.region(one)
                if inner is None:
                    continue  # an alternative that was not taken
                index = _INDEXED.fullmatch(one.name)
                if inner.kind == "for" and index is not None:
                    number = int(index[2])
                    around = (*loops, Loop(inner.parameter, number))
                    self.visit(instance, one, inner, f"{path}.{inner.label}[{number}]", around)
                else:
                    self.visit(instance, one, inner, f"{path}.{inner.label}", loops)
