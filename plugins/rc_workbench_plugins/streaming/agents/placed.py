"""What the agents of one of several FPGAs counted, under the names that the run has for it."""

from dataclasses import replace

from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.measures import Measure, MeasureResult
from workbench.api.unstable import as_target


def placed(answers: Answers, place: str, fpga: str) -> Answers:
    """The answers of the `fpga` in which names begin with `place`; each statement's label says of what it is."""

    def measure_of(one: Measure) -> Measure:
        within = one.within and replace(one.within, block=place + one.within.block)
        return replace(one, edges=tuple(as_target(place + edge) for edge in one.edges), within=within)

    def result(one: MeasureResult) -> MeasureResult:
        measure = measure_of(one.measure)
        return replace(one, measure=replace(measure, label=f"{measure.label}[{measure.where}]"))

    measures = map(result, answers.measures)
    asserts = (
        replace(
            one,
            asserted=replace(one.asserted, label=f"{one.asserted.label}[{fpga}]"),
            compared=tuple((measure_of(side), worth) for side, worth in one.compared),
        )
        for one in answers.asserts
    )
    return replace(answers, measures=tuple(measures), asserts=tuple(asserts))
