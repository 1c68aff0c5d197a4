"""The open project's file as forms."""
