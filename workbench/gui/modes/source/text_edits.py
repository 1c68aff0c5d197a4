"""Edits of a text in an editor: the least that makes another text of it, a new line, lines moved to and fro."""

from PySide6.QtGui import QTextCursor

from workbench.gui.modes.source.lines_moved import common_ends

STEP = "    "
#: What a line ends with whose next one is deeper, in C and Verilog.
_OPENS = ("{", "(", "begin")
_CLOSES = ("}", ")", "end")
#: What is typed last of what ends a block.
CLOSING = tuple(word[-1] for word in _CLOSES)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def new_line(cursor: QTextCursor) -> None:
    """Begin a line at the cursor, in place of what is selected."""
    block = cursor.document().findBlock(cursor.selectionStart())
    before = block.text()[: cursor.selectionStart() - block.position()]
    deeper = STEP if before.rstrip().endswith(_OPENS) else ""
    cursor.beginEditBlock()
    cursor.insertText(f"\n{_indent(before)}{deeper}")
    rest = cursor.block().text()[cursor.positionInBlock() :]
    if before.strip() and rest.startswith(
        (" ", "\t")
    ):  # the blanks after the cursor are no indentation of the new line
        end = cursor.position() + len(rest) - len(rest.lstrip())
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
    cursor.endEditBlock()


def close_block(cursor: QTextCursor) -> None:
    """Where a line holds nothing but what ends a block, move it out to where that began."""
    line = cursor.block()
    before = line.previous()
    while before.isValid() and not before.text().strip():
        before = before.previous()
    if line.text().strip() not in _CLOSES or not before.isValid():
        return
    wanted = _indent(before.text())
    if not before.text().rstrip().endswith(_OPENS):
        wanted = wanted[1:] if wanted.startswith("\t") else wanted[len(STEP) :]
    if len(_indent(line.text())) > len(wanted):
        edit = QTextCursor(line)
        edit.setPosition(line.position() + len(_indent(line.text())), QTextCursor.MoveMode.KeepAnchor)
        edit.insertText(wanted)


def shift_lines(cursor: QTextCursor, deeper: bool) -> None:
    """Move the lines that are selected, or the one of the cursor, by one step; empty ones stay."""
    first, last = cursor.selectionStart(), cursor.selectionEnd()
    block, end = cursor.document().findBlock(first), cursor.document().findBlock(last)
    if block != end and end.position() == last:  # a line of which nothing is selected
        end = end.previous()
    edit = QTextCursor(cursor)  # where it is, undo puts the cursor
    edit.beginEditBlock()
    while True:
        text = block.text()
        edit.setPosition(block.position())
        if deeper and text.strip():
            edit.insertText(STEP)
        elif not deeper:
            gone = 1 if text.startswith("\t") else min(len(STEP), len(text) - len(text.lstrip(" ")))
            edit.setPosition(block.position() + gone, QTextCursor.MoveMode.KeepAnchor)
            edit.removeSelectedText()
        if block == end:
            break
        block = block.next()
    edit.endEditBlock()


def put_difference(cursor: QTextCursor, old: str, new: str) -> None:
    """Make the old text the new one by one step that can be undone, touching only the lines that differ."""
    start, end, replacement = _difference(old, new)
    cursor.setPosition(_units(old[:start]))
    cursor.beginEditBlock()  # where it begins, undo puts the cursor
    cursor.setPosition(_units(old[:end]), QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(replacement)
    cursor.endEditBlock()


def _units(text: str) -> int:
    """A text's length as Qt counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _difference(old: str, new: str) -> tuple[int, int, str]:
    """The one stretch of `old` to replace, and with what: common beginning and end, by lines, stay."""
    first, second = old.split("\n"), new.split("\n")
    head, tail = common_ends(first, second)
    start = sum(len(line) + 1 for line in first[:head])
    end = len(old) - sum(len(line) + 1 for line in (first[len(first) - tail :]))
    middle = second[head : len(second) - tail]
    if tail:
        return start, max(start, end + 1), "".join(line + "\n" for line in middle)
    if head:
        return start - 1, len(old), "".join("\n" + line for line in middle)
    return 0, len(old), new
