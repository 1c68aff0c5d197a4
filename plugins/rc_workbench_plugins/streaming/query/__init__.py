"""The query language (Lancaster 2011, section 3.4): what is measured of a streaming application, and where.

measures   what a query asks for and what answers it, as plain data
read       the grammar (Fig. 3.4, and what the dissertation's examples use); text to statements, every error's place
resolve    statements to measures of a topology's edges, which `targets` finds by their names
evaluate   measures of a trace of a run, which is what every agent's answer is checked against
frames     how long a frame is, as people write it
limits     what limits the throughput, asked in the language itself
words      answers as people read them
counted    what agents answered while the application ran, for the window
command    `workbench query`; `window` is the same for the window
"""
