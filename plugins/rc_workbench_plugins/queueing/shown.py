"""What a queueing model comes to, for window, page and terminal: figures, stations, tables, and as a JSON document."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rc_workbench_plugins.queueing.distribution import Fit, fits
from rc_workbench_plugins.queueing.network import Model, Network, StationState, network, notes_of
from workbench.api import Answer, Category, Results, Row, percent_text, table, time_text
from workbench.api.model_diagrams import Diagram, DiagramLink, DiagramNode
from workbench.api.predictions import Chart, Curve, PaperTable, PartLine
from workbench.api.unstable import NARROW, prefixed, significant
from workbench.api.views import Figure

_ENDLESS = "∞"
_LOADS, _MOST_LOAD = 60, 4.0  # of the chart by load


def answer(values: Model) -> Answer:
    solved = network(values)
    heads = [("Station", "Arrivals/s", "Service/s", "Utilisation", "Waiting", "Jobs", "Time", "Full")]
    rows = [
        (s.name, _rate(s.arrivals_per_s), _rate(s.service_per_s), _count(s.utilisation), _count(s.waiting),
         _count(s.jobs), _time(s.time_s), "" if s.full is None else _count(s.full))
        for s in solved.stations
    ]  # fmt: skip
    last = (
        f"{solved.busiest} is the busiest and can serve {_rate(solved.most_per_s)} jobs a second from outside "
        f"({_rate(solved.outside_per_s)} come); each is {_time(solved.latency_s)} on its way"
    )
    measured, shapes = _measured(values, solved), _fits(values, solved)
    said = [f"{table(heads + rows)}\n{last}"]
    if measured:
        cells = [(st, field, _count(ours), _count(theirs)) for st, field, ours, theirs, _ in measured]
        said.append(table([("Station", "", "Model", "Measured"), *cells]))
    if shapes:
        fit_rows = [(s.station, significant(s.ks), f"{s.chi_square:.1f} of {s.degrees}", _chance(s)) for s in shapes]
        said.append(table([("Jobs waiting", "KS", "Chi-square", "By chance"), *fit_rows]))
    return Answer(_document(solved, measured, shapes), "\n\n".join(said), notes=notes_of(values, solved))


def _document(
    network: Network, measured: Sequence[tuple[str, str, float, float, str]], shapes: Sequence[Fit]
) -> dict[str, Any]:
    return {
        "stations": [
            {
                "name": s.name,
                "arrivals_per_s": _number(s.arrivals_per_s),
                "service_per_s": _number(s.service_per_s),
                "utilisation": _number(s.utilisation),
                "busy": _number(s.busy),
                "waiting": _number(s.waiting),
                "jobs": _number(s.jobs),
                "time_s": _number(s.time_s),
                "full": None if s.full is None else _number(s.full),
                "lost_per_s": _number(s.lost_per_s),
            }
            for s in network.stations
        ],
        "busiest": network.busiest,
        "utilisation": _number(network.utilisation),
        "jobs": _number(network.jobs),
        "latency_s": _number(network.latency_s),
        "outside_per_s": _number(network.outside_per_s),
        "most_per_s": _number(network.most_per_s),
        "measured": [
            {"station": st, "quantity": field, "predicted": _number(ours), "measured": theirs, "source": source}
            for st, field, ours, theirs, source in measured
        ],
        "distributions": [shape.as_json() for shape in shapes],
    }


def results(values: Model) -> Results:
    """Raises WorkbenchError where the model has no value here."""
    solved = network(values)
    stable, shapes = float(solved.utilisation) < 1, _fits(values, solved)
    return Results(
        figures=(
            Figure("Utilisation", _share(solved.utilisation), f"of {solved.busiest}, the busiest", "lambda / mu"),
            Figure("Most from outside", _rate(solved.most_per_s, "/s"), f"{_rate(solved.outside_per_s, '/s')} come",
                   "rate that the busiest station can serve"),
            Figure("Time in the network", _time(solved.latency_s), "of each job",
                   "of those from outside, by Little: jobs / arrivals"),
            Figure("Jobs in it", _count(solved.jobs), "on average"),
        ),
        point=(
            Figure("Utilisation", _share(solved.utilisation), solved.busiest),
            Figure("Time in the network", _time(solved.latency_s)),
        ),
        parts_title="Utilisation of each station",
        parts=tuple(_line(s) for s in solved.stations),
        said=f"{solved.busiest} is the busiest" if stable else f"{solved.busiest} is unstable",
        tables={"Stations": (_stations(solved),)} | _against(values, solved, shapes),
        charts={
            "Stations": _by_load(values, solved),
            **({"Against measurements": _quantiles(shapes)} if shapes else {}),
        },
        diagrams={"Network": _drawn(values, solved)},
    )  # fmt: skip


def _line(state: StationState) -> PartLine:
    said = f"{_rate(state.arrivals_per_s)}/s over {_rate(state.service_per_s)}/s   {_count(state.waiting)} wait"
    if float(state.lost_per_s) > 0:
        said += f", {_rate(state.lost_per_s)}/s are lost"
    rho = float(state.utilisation)
    category = Category.WAIT_RECV if rho >= 1 else Category.WORK
    return PartLine(state.name, _share(rho), min(rho, 1.0), said, category, rho >= 1)


def _drawn(values: Model, solved: Network) -> Diagram:
    """The network as section 7.3 draws one: what comes from outside, each station, and what goes on to which."""
    nodes, links = list[DiagramNode](), list[DiagramLink]()
    states = {state.name: state for state in solved.stations}
    for n, station in enumerate(values.model.stations):
        state, outside = states[station.name], float(values.of("stations", n, "arrivals_per_s"))
        words = f"busy of {_rate(state.service_per_s, '/s')}"
        second = f"{_count(state.waiting)} waiting, {_time(state.time_s)} each"
        strong = station.name == solved.busiest
        nodes.append(DiagramNode(station.name, station.name, _share(state.utilisation), words, second, "layers", strong,
                                 ("stations", n)))  # fmt: skip
        if outside:
            nodes.append(DiagramNode(f"to {n}", "outside", icon="terminal", field=("stations", n),
                                     part=("stations", n, "arrivals_per_s")))  # fmt: skip
            links.append(DiagramLink(f"to {n}", station.name, _rate(outside, "/s")))
        passed_per_s = float(state.arrivals_per_s) - float(state.lost_per_s)
        for m, route in enumerate(station.to):
            jobs = float(values.of("stations", n, "to", m, "jobs"))
            at = ("stations", n, "to", m)
            links.append(DiagramLink(station.name, route.station, _rate(jobs * passed_per_s, "/s"), field=at))
    note = "jobs a second on each way, and how busy each station is"
    return Diagram("Queueing network", note, tuple(nodes), tuple(links))


_ROWS: tuple[tuple[str, str, Callable[[StationState], str], str], ...] = (
    ("arrivals", "jobs/s", lambda s: _rate(s.arrivals_per_s), "section 7.3"),
    ("service", "jobs/s", lambda s: _rate(s.service_per_s), ""),
    ("utilisation", "", lambda s: _count(s.utilisation), "lambda / mu"),
    ("waiting", "jobs", lambda s: _count(s.waiting), "Pollaczek and Khinchine; rho^2 / (1 - rho) for M/M/1"),
    ("in the station", "jobs", lambda s: _count(s.jobs), "the one being served included"),
    ("time in it", "", lambda s: _time(s.time_s), "Little"),
    ("full", "", lambda s: "–" if s.full is None else _share(s.full), "P[N >= places], or the share lost"),
)


def _stations(network: Network) -> PaperTable:
    rows = tuple(Row(name, unit, tuple(said(s) for s in network.stations), tip=tip) for name, unit, said, tip in _ROWS)
    return PaperTable("Stations", "in their steady state", tuple(s.name for s in network.stations), rows)


def _measured(values: Model, network: Network) -> list[tuple[str, str, float, float, str]]:
    """What was measured: station, quantity, the model's number, the measured one, source of the numbers."""
    states = {state.name: state for state in network.stations}
    return [
        (
            row.station,
            field,
            float(getattr(states[row.station], field)),
            float(values.of("measured", n, field)),
            row.source,
        )
        for n, row in enumerate(values.model.measured)
        for field in ("utilisation", "waiting")
        if getattr(row, field) is not None
    ]


def _fits(values: Model, network: Network) -> tuple[Fit, ...]:
    return fits(values, {state.name: state for state in network.stations})


def _against(values: Model, network: Network, shapes: Sequence[Fit]) -> dict[str, tuple[PaperTable, ...]]:
    """Predictions beside measurements, with the difference as Table 7.2 gives it: absolute, without a sign."""
    rows = tuple(
        Row(f"{field}, {station}", "", (_count(ours), _count(theirs), _apart(ours, theirs)), tip=source)
        for station, field, ours, theirs, source in _measured(values, network)
    )
    columns = ("model", "measured", "difference")
    tables = [PaperTable("Measured", "", columns, rows)] if rows else []
    if shapes:
        fit_tables = tuple(
            Row(s.station, "", (significant(s.ks), f"{s.chi_square:.1f}", str(s.degrees), _chance(s)), tip=s.source)
            for s in shapes
        )
        note = "chance: how often the model itself would be so far off"
        tables.append(PaperTable("How many wait", note, ("KS", "chi²", "degrees", "chance"), fit_tables))
    return {"Against measurements": tuple(tables)} if tables else {}


def _apart(ours: float, theirs: float) -> str:
    return "0" if _count(ours) == _count(theirs) else _count(abs(ours - theirs))


def _chance(shape: Fit) -> str:
    if shape.chance is None:
        return "too little observed"
    return "below 0.1 %" if shape.chance < 0.001 else percent_text(shape.chance)


def _by_load(values: Model, solved: Network) -> Chart:
    """How the stations fill as more comes from outside, up to where the busiest has no steady state."""
    endless = [
        float(state.utilisation)
        for state, station in zip(solved.stations, values.model.stations, strict=True)
        if not station.limited
    ]
    most = min(0.99 / max(endless, default=0.0), _MOST_LOAD) if any(endless) else _MOST_LOAD
    loads = most * (1 - (1 - np.linspace(0, 1, _LOADS + 1)[1:]) ** 2)  # closer where the curves rise
    curves = []
    for now, state in zip(solved.stations, network(values, loads).stations, strict=True):
        if math.isfinite(float(now.jobs)):
            curves.append(Curve(now.name, (1.0,), (float(now.jobs),)))
        y = tuple(np.broadcast_to(state.jobs, loads.shape).tolist())
        curves.append(Curve(now.name, tuple(loads.tolist()), y, plain=True, beside=now.name))
    return Chart(
        "jobs in each station as more or fewer come", "arrivals from outside, of those now", "jobs", tuple(curves), True
    )


def _quantiles(shapes: Sequence[Fit]) -> Chart:
    """Quantile against quantile: on the diagonal where the model's distribution is that of the run."""
    most = max(int(shape.quantiles.max()) for shape in shapes)
    curves = [Curve("alike", (0.0, float(most)), (0.0, float(most)), plain=True)]
    for shape in shapes:
        pairs = dict.fromkeys(map(tuple, shape.quantiles.tolist()))
        model, measured = zip(*pairs, strict=True)
        curves.append(Curve(shape.station, tuple(map(float, model)), tuple(map(float, measured))))
    axes = "those of the model", "measured percentiles (jobs waiting)"
    return Chart("quantile against quantile", *axes, tuple(curves))


def _number(value: Any) -> float | None:
    """A number for JSON, which has none without end."""
    return float(value) if math.isfinite(float(value)) else None


def _count(value: Any) -> str:
    return significant(float(value)) if math.isfinite(float(value)) else _ENDLESS


def _share(value: Any) -> str:
    return percent_text(float(value)) if float(value) < 1 else f"{significant(float(value) * 100)}{NARROW}%"


def _rate(value: Any, unit: str = "") -> str:
    return prefixed(float(value), unit) if math.isfinite(float(value)) else _ENDLESS


def _time(value: Any) -> str:
    return time_text(float(value)) if math.isfinite(float(value)) else _ENDLESS
