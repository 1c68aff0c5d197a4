"""A YAML document as a list of parts and a form for each: what Platform and Predict mode are made of."""
