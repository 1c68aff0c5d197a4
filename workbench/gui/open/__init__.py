"""Opening, beginning and saving: what is asked and shown then."""
