#!/bin/sh
# Installs the system packages that the workbench needs and this machine lacks (`system.sh python`: those of the
# environment alone). Debian, as root; elsewhere it says what is missing. Nothing is done where nothing is missing.
set -eu

missing=""
need() { missing="$missing $1"; }
wished="" # without these runs are not confined, the tests that drive the window or draw SVG are skipped, and all else works
wish() { command -v "$1" >/dev/null 2>&1 || wished="$wished $2"; }

library() { # library FILE PACKAGE
    (ldconfig -p 2>/dev/null || /sbin/ldconfig -p) | grep -q "$1" || need "$2"
}
command_() { # command_ NAME PACKAGE
    command -v "$1" >/dev/null 2>&1 || need "$2"
}

command_ "${PYTHON:-python3}" python3
"${PYTHON:-python3}" -c 'import ensurepip' 2>/dev/null || need python3-venv
if [ "${1:-}" != python ]; then
    command_ g++ g++
    command_ make make
    command_ yosys yosys
    [ -e /usr/include/readerwriterqueue/readerwriterqueue.h ] || wished="$wished libreaderwriterqueue-dev"
    library libEGL.so.1 libegl1
    library libGL.so.1 libgl1
    library libxkbcommon.so.0 libxkbcommon0
    library libfontconfig.so.1 libfontconfig1
    library libdbus-1.so.3 libdbus-1-3
    library libglib-2.0.so.0 libglib2.0-0
    library libxcb-cursor.so.0 libxcb-cursor0
    library libxcb-icccm.so.4 libxcb-icccm4
    library libxcb-image.so.0 libxcb-image0
    library libxcb-keysyms.so.1 libxcb-keysyms1
    library libxcb-randr.so.0 libxcb-randr0
    library libxcb-render-util.so.0 libxcb-render-util0
    library libxcb-shape.so.0 libxcb-shape0
    library libxcb-xkb.so.1 libxcb-xkb1
    library libxkbcommon-x11.so.0 libxkbcommon-x11-0
    library libX11-xcb.so.1 libx11-xcb1
    wish bwrap bubblewrap
    wish ghdl ghdl-mcode
    wish Xvfb xvfb
    wish rsvg-convert librsvg2-bin
    wish openbox openbox
    wish xdotool xdotool
    [ -z "${CI:-}" ] || command -v mpicc >/dev/null 2>&1 || wished="$wished openmpi-bin libopenmpi-dev" # tests that start ranks
    wish otf2-print otf2-tools
    [ -z "${CI:-}" ] || [ -x /usr/sbin/sshd ] || wished="$wished openssh-server" # a test's far machine; nobody's own is given a server
fi

[ -n "$missing$wished" ] || exit 0
if [ -z "$missing" ] && { [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; }; then
    echo "Missing here, to confine runs (bubblewrap) and for tests that drive the window or draw SVG:$wished." >&2
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing here, and there is no apt-get to install it:$missing. Please install the equivalents." >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "Missing here:$missing. Please run: sudo apt-get install$missing" >&2
    exit 1
fi
echo "Installing:$missing$wished"
export DEBIAN_FRONTEND=noninteractive
apt_get() { # without fsync after each file: a throw-away machine of CI gains nothing by it
    apt-get -qq ${CI:+-o Dpkg::Options::=--force-unsafe-io} "$@" >/dev/null
}
apt_get update
# shellcheck disable=SC2086
apt_get install -y --no-install-recommends $missing $wished || {
    echo "These could not be had; without bubblewrap runs are not confined, without the others tests are skipped:$wished" >&2
    [ -z "$missing" ] || apt_get install -y --no-install-recommends $missing
}
