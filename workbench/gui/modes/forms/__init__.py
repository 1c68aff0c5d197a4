"""The base of Platform, Project and Predict mode: a YAML document as a list of parts with a form for each."""
