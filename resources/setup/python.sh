#!/bin/sh
# Says which Python the environment is made with: the system's own if it is new enough and its packages are there or can be
# installed, else the first on the PATH.
set -eu

own=/usr/bin/python3
"$own" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || own=python3
{ [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; } || "$own" -c 'import ensurepip' 2>/dev/null || own=python3
echo "$own"
