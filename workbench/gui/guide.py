"""Help: the user guide, in a window of its own beside the work."""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QKeySequence, QShortcut, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

PICTURE_WIDTH_PX = 720


class _Browser(QTextBrowser):
    """Shows the guide; its pictures come from the program's own resources, at the width of the text."""

    def loadResource(self, kind: int, url: QUrl | str) -> object:
        name = QUrl(url)
        if kind != QTextDocument.ResourceType.ImageResource.value or name.scheme():
            return super().loadResource(kind, url)
        picture = files("workbench.resources").joinpath("help", name.toString())
        image = QImage.fromData(picture.read_bytes())
        ratio = self.devicePixelRatioF()
        image = image.scaledToWidth(round(PICTURE_WIDTH_PX * ratio), Qt.TransformationMode.SmoothTransformation)
        image.setDevicePixelRatio(ratio)
        return image


class GuideWindow(QWidget):
    """The guide as text with pictures. Esc closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("RC Workbench: guide")
        self.resize(840, 900)
        self.browser = _Browser(self)
        self.browser.setOpenExternalLinks(True)
        self.browser.document().setDocumentMargin(28)
        self.browser.setMarkdown(files("workbench.resources").joinpath("help", "guide.md").read_text("utf-8"))
        _space_out(self.browser.document())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.browser)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.close)


def _space_out(document: QTextDocument) -> None:
    """Air between paragraphs and above headings, which plain Markdown lacks."""
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        level = form.headingLevel()
        form.setTopMargin((0, 0, 22, 16)[level] if level < 4 else 12)
        form.setBottomMargin(2 if block.textList() else 10)
        form.setLineHeight(130, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if "\ufffc" in block.text():  # a picture: its line is as high as it is
            form.setLineHeight(100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        QTextCursor(block).setBlockFormat(form)
        block = block.next()
