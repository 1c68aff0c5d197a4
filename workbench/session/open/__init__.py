"""Opens a project: its documents, its sources read in children, and the user's trust."""
