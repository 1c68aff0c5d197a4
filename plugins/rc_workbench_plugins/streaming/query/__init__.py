"""The query language (Lancaster 2011, section 3.4): what is measured of a streaming application, and where.

measures   what a query asks for and what answers it, as plain data
grammar    the language's grammar (Fig. 3.4, and what the dissertation's examples use)
read       text to statements, with the place of every error
resolve    statements to measures of a topology's edges
evaluate   measures of a trace of a run, which is what every agent's answer is checked against
"""
