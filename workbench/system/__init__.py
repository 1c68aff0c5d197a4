"""What the machine offers, to the workbench and to plugins alike:

files       files read within bounds, and written whole or not at all
folders     the user's folders for preferences, state and cache
process     programs under a supervisor of their own (`supervise`), which outlive nothing
toolchain   the tools that build and run, wherever they are
confine     a program kept from the network and from the user's files
"""
