"""Lists the packages: `find_packages` alone would drop the two data folders that are mapped into `workbench`."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(".", include=["workbench", "workbench.*"]),
        *find_packages("plugins", include=["rc_workbench_plugins", "rc_workbench_plugins.*"]),
        "workbench.platform_templates",
        "workbench.resources",
    ],
)
