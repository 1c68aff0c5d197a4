#!/bin/sh
# Installs the system packages that the workbench needs and this machine lacks. Debian, as root; elsewhere it says
# what is missing. Nothing is done where nothing is missing.
set -eu

missing=""
need() { missing="$missing $1"; }

library() { # library FILE PACKAGE
    (ldconfig -p 2>/dev/null || /sbin/ldconfig -p) | grep -q "$1" || need "$2"
}
command_() { # command_ NAME PACKAGE
    command -v "$1" >/dev/null 2>&1 || need "$2"
}

command_ g++ g++
command_ make make
command_ python3 python3
python3 -c 'import ensurepip' 2>/dev/null || need python3-venv
command_ yosys yosys
library libEGL.so.1 libegl1
library libGL.so.1 libgl1
library libxkbcommon.so.0 libxkbcommon0
library libfontconfig.so.1 libfontconfig1
library libdbus-1.so.3 libdbus-1-3
library libglib-2.0.so.0 libglib2.0-0

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing here, and there is no apt-get to install it:$missing. Please install the equivalents." >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "Missing here:$missing. Please run: sudo apt-get install$missing" >&2
    exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
