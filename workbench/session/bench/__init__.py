"""Transfer tables measured by a project that does nothing else."""
