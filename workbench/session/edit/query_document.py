"""A query in the editor: statements about streams of runs, with the file that holds them."""

from pathlib import Path

from workbench.session.edit.documents import Document


class QueryFile(Document):
    """A UTF-8 text whose file may not exist yet."""

    kind = "streams"

    def decode(self, data: bytes) -> str:
        return data.decode("utf-8-sig", "replace")

    def encode(self, text: str) -> bytes:
        return text.encode()

    def replace(self, label: str, text: str) -> None:
        self.type(text)  # its editor follows, with an undo of its own

    def begin(self, path: Path) -> None:
        """The file, or an empty text that is saved there. Raises WorkbenchError if the file cannot be read."""
        if path.is_file():
            self.open(path)
        else:
            self._take(path, None, "")
