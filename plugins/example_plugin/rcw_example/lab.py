"""A target: a lab's own program takes the instrumented tree, runs it on a card there, and leaves the records."""

import hashlib
import shutil
from collections.abc import Sequence

from workbench.api import Diagnostic, Job, Outcome, Platform, PlatformSupport, Task


class Lab:
    name = "example_lab"
    title = "the lab's cards"
    simulated = False
    steps: Sequence[str] = ("Run in the lab",)

    def lacks(self, platform: Platform, support: PlatformSupport | None) -> Sequence[Diagnostic]:
        if shutil.which("example-lab"):
            return ()
        return (Diagnostic("the program 'example-lab' is not installed", "Install it from the lab's own packages."),)

    def build(self, task: Task, job: Job) -> None:
        """The lab builds what it is given."""

    def run(self, task: Task, built: None, job: Job) -> Outcome:
        with job.step(self.steps[0]):
            command = ["example-lab", str(task.build)]
            ran = job.run(command, cwd=task.root, env={"RCW_RAW": str(task.raw)})
        return Outcome(ran.returncode, ran.stdout, hashlib.sha256(ran.stdout.encode()).hexdigest())
