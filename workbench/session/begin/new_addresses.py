"""Decides from a design's sources whether its memory-style port counts bytes or words: the lowest bits of byte
addresses select nothing within a word."""

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.system.files import read_file

_COMMENT = re.compile(r"//[^\n]*|--[^\n]*|/\*.*?\*/", re.DOTALL)
_ADDRESS = r"(?:\w+\.)*\w*(?:addr|adr)\w*"
_SLICE = re.compile(rf"({_ADDRESS})\s*[\[(]\s*[\w'+-][\w' +-]*(?::|\bdownto\b)\s*(\d+)\s*[\])]", re.IGNORECASE)
_NUMBER = r"(?:\d*'[sS]?[hH][0-9a-fA-F_?xXzZ]+|[xX]\"[0-9a-fA-F_]+\"|\d+(?!\s*'))"
_CASE = re.compile(
    rf"\bcase[xz]?\s*\(?\s*{_ADDRESS}\b[^;]*?(?:\)|\bis\b)(.*?)\b(?:endcase|end\s+case)\b", re.I | re.DOTALL
)
_LABEL = re.compile(
    rf"(?:^|;|\bwhen\b|\bend\b|\bin(?:side)?\b)\s*((?:{_NUMBER}\s*[,|]\s*)*{_NUMBER})\s*(?::(?!:)|=>)",
    re.I | re.MULTILINE,
)
_COMPARED = re.compile(rf"{_ADDRESS}\s*(?:\[[^\]]*:\s*0\s*\])?\s*(?:==|!=|/?=)\s*({_NUMBER})", re.IGNORECASE)
_FEWEST = 3  # addresses at the begin of words, so that it is not accidental


def counts_bytes(root: Path, sources: Sequence[str], word_bytes: int) -> str:
    """The evidence in the sources that addresses count bytes, as text; "" if there is none."""
    shift = word_bytes.bit_length() - 1
    evidence, parts = "", False
    constants: set[int] = set()
    for file in sources:
        text = _COMMENT.sub(
            lambda match: "\n" * match[0].count("\n"), read_file(root / file).decode("utf-8", "replace")
        )
        for match in _SLICE.finditer(text):
            low = int(match[2])
            parts |= low < shift and not match[0].lstrip().startswith("[")
            if low == shift and not evidence:
                evidence = f"{' '.join(match[0].split())} in {file}:{text.count(chr(10), 0, match.start()) + 1}"
        labels = [one for case in _CASE.finditer(text) for one in _LABEL.findall(case[1])]
        constants |= {
            _value(one) for label in (*labels, *_COMPARED.findall(text)) for one in re.findall(_NUMBER, label)
        }
    if evidence and not parts:
        return evidence
    all_multiples = all(value % word_bytes == 0 for value in constants) and len(constants) >= _FEWEST
    return (
        f"addresses are multiples of {word_bytes}: {', '.join(map(hex, sorted(constants)[:_FEWEST]))}"
        if all_multiples
        else ""
    )


def _value(text: str) -> int:
    base = 16 if re.search(r"[hHxX\"]", text) else 10
    digits = re.sub(r"^\d*'[sS]?[hH]|^[xX]|[\"_]", "", text)
    return int(re.sub(r"[?xXzZ]", "0", digits) or "0", base)
