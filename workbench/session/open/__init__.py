"""Opening a project: its documents, its sources read in children, what it is trusted with."""
