"""What is wrong with the calls of queues that a template or a project names."""

from collections.abc import Iterator, Sequence

from workbench.api.source.expressions import reaches_out
from workbench.formats.yaml_marks import Marked
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import QueueCall
from workbench.model.prototypes import parse_prototype


def check_queues(queues: Sequence[QueueCall], marked: Marked) -> Iterator[Diagnostic]:
    for index, call in enumerate(queues):
        path = ("host", "queues", index)
        prototype = parse_prototype(call.prototype)
        if prototype is None or not prototype.cpp:
            message = "this is not a C++ prototype with its scope"
            hint = "Write the class before the name: bool Ring::push(int x). Of a function: ::put(Ring &to, int x)."
            yield marked.diagnostic((*path, "prototype"), message, hint)
        elif not (prototype.scope or prototype.parameters or call.queue):
            hint = "Give its place, as in queue: &jobs."
            yield marked.diagnostic((*path, "prototype"), "the queue of this call is unknown", hint)
        for name in ("queue", "elements"):
            if why := reaches_out(getattr(call, name)):
                hint = "Write one expression over the call's arguments, self and result."
                yield marked.diagnostic((*path, name), f"this is not an expression: {why}", hint)
