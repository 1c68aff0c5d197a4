"""The form for a platform template, and the transfer-time curve."""
