"""Who is late when the host waits: whom its waits name, or who the critical path is in."""

from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Spent, small_run

from workbench.analysis import analyse, load_knowledge
from workbench.model.pragma import Category
from workbench.model.prediction import Bottleneck


def test_the_critical_path_says_who_is_late() -> None:
    """The host names b, which works less than a; the path is in b after all, and then in c."""
    wait = Spent("wait", Category.WAIT_RECV, 0.8, ("late_sender",), "top.b", "x")
    works = {
        f"top.{name}": [Spent("run", Category.WORK, time_s)] for name, time_s in (("a", 0.6), ("b", 0.3), ("c", 0.2))
    }
    run = small_run(1.0, [wait], works)
    knowledge, _ = load_knowledge([file.path for file in workbench_rules()], METRICS)

    def late(*path: Bottleneck) -> tuple[str, list[str]]:
        finding = next(f for f in analyse(run, None, knowledge, path=path).findings if f.rule == "late sender")
        return finding.culprit, list(map(str, finding.advice[0].changes))

    assert late() == ("top.b", ["state block=top.b state=run factor=0.5"])
    path = Bottleneck("top.c", "run", 0.4, 0.4), Bottleneck("host.main", "work", 0.6, 0.6)
    assert late(*path) == ("top.c", ["state block=top.c state=run factor=0.5"])
