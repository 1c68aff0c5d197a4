"""Studies: an application's runs over settings, platforms and changes, measured beside predicted."""

from collections.abc import Sequence

from workbench.api import Later, ModelKind, hookimpl

PLACE = __name__
STARTER = """\
projects: [app.workbench.yaml]

vary:
  CORES: [1, 2, 4, 8]
"""


@hookimpl
def workbench_model_kinds() -> Sequence[ModelKind]:
    return [
        ModelKind(
            name="study",
            title="runs of an application over settings, platforms and changes",
            label="study",
            document=Later("workbench.api.studies:StudyModel").load,
            outputs=Later(f"{PLACE}.shown:outputs"),
            goal="least_time_s",
            larger=frozenset({"measured", "speedup"}),
            starter=STARTER,
            check=Later(f"{PLACE}.shown:check"),
            answer=Later(f"{PLACE}.shown:answer"),
            results=Later(f"{PLACE}.shown:results"),
        )
    ]
