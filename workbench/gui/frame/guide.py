"""The Help window: the user guide and the field reference."""

from collections.abc import Iterator
from importlib.resources import files

from PySide6.QtCore import QBuffer, QEvent, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QImageReader,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextOption,
    QTextTable,
)
from PySide6.QtWidgets import QTextBrowser, QWidget

from workbench.gui.look import fonts, theme
from workbench.gui.run.background import Slices
from workbench.gui.widgets.boxes import column_layout

PICTURE_WIDTH_PX = 720
FIRST_PAGE = QUrl("guide.md")
_COLUMNS = {5: (20, 20, 12, 26, 22), 3: (25, 15, 60)}  # shares of the width, by how many columns a table has


class _Browser(QTextBrowser):
    """Shows pages of the program's own resources, with their pictures at the width of the text."""

    def __init__(self, parent: QWidget, slices: Slices) -> None:
        super().__init__(parent)
        self._slices = slices
        self.setAccessibleName("Guide")
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.anchorClicked.connect(self.follow)
        self.sourceChanged.connect(self._arrived)

    def follow(self, link: QUrl) -> None:
        """Go to a page of the program's own, or to anything else with the system's means."""
        if link.scheme():
            QDesktopServices.openUrl(link)
        else:
            self.setSource(link, QTextDocument.ResourceType.MarkdownResource)

    def _arrived(self) -> None:
        self.document().setDocumentMargin(28)
        _space_out(self.document())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            _space_out(self.document())  # the theme's grounds

    def loadResource(self, kind: int, url: QUrl | str) -> object:
        name = QUrl(url)
        if name.scheme():
            return super().loadResource(kind, url)
        data = files("workbench.resources").joinpath("help", name.path()).read_bytes()
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return data.decode("utf-8")
        self._slices.start(self, self._picture(name, data))
        buffer = QBuffer()
        buffer.setData(data)
        return self._blank(QImageReader(buffer).size())

    def _blank(self, size: QSize) -> QImage:
        """What keeps a picture's place until it is read."""
        ratio = self.devicePixelRatioF()
        width = round(PICTURE_WIDTH_PX * ratio)
        blank = QImage(width, width * size.height() // max(size.width(), 1), QImage.Format.Format_ARGB32_Premultiplied)
        blank.setDevicePixelRatio(ratio)
        blank.fill(Qt.GlobalColor.transparent)
        return blank

    def _picture(self, name: QUrl, data: bytes) -> Iterator[None]:
        """Read a picture and put it in its place, in two steps."""
        document = self.document()
        image = QImage.fromData(data)
        yield
        ratio = self.devicePixelRatioF()
        image = image.scaledToWidth(round(PICTURE_WIDTH_PX * ratio), Qt.TransformationMode.SmoothTransformation)
        image.setDevicePixelRatio(ratio)
        if document is self.document():
            document.addResource(QTextDocument.ResourceType.ImageResource, name, image)
            self.viewport().update()
        yield


class GuideWindow(QWidget):
    """The guide as text with pictures. Esc closes it, Alt+Left goes back a page."""

    def __init__(self, parent: QWidget, slices: Slices) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("RC Workbench: guide")
        self.resize(min(840, parent.width()), min(900, max(400, parent.height() - 40)))
        self.browser = _Browser(self, slices)
        self.browser.setSource(FIRST_PAGE, QTextDocument.ResourceType.MarkdownResource)
        column_layout(self.browser, of=self, margins=(0, 0, 0, 0))
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.close)


def _space_out(document: QTextDocument) -> None:
    """Air between paragraphs and above headings, and within tables, which plain Markdown lacks."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        if (table := QTextCursor(block).currentTable()) is not None:
            _dress(table)
            block = table.lastCursorPosition().block().next()
            continue
        form = block.blockFormat()
        _dress_parts(block)
        if _is_code(block):
            _dress_code(block)
            block = block.next()
            continue
        level = form.headingLevel()
        form.setTopMargin((0, 0, 22, 16)[level] if level < 4 else 12)
        form.setBottomMargin(2 if block.textList() and block.next().textList() else 10)
        form.setLineHeight(130, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if "\ufffc" in block.text():  # a picture: its line is as high as it is
            form.setLineHeight(100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        QTextCursor(block).setBlockFormat(form)
        block = block.next()
    cursor.endEditBlock()


def _is_code(block: QTextBlock) -> bool:
    form, named = block.blockFormat(), QTextFormat.Property
    return form.hasProperty(named.BlockCodeLanguage) or form.hasProperty(named.BlockCodeFence)


def _dress_code(block: QTextBlock) -> None:
    """A line of a listing: close to the next one, and set in."""
    form = block.blockFormat()
    form.setTopMargin(0 if _is_code(block.previous()) else 4)
    form.setBottomMargin(0 if _is_code(block.next()) else 14)
    form.setLeftMargin(12)
    form.setLineHeight(20, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    QTextCursor(block).setBlockFormat(form)


def _dress_parts(block: QTextBlock) -> None:
    """What is code in a line, in the bundled font; links in the theme's colour, which Qt takes as it reads a page."""
    code, link = QTextCharFormat(), QTextCharFormat()
    code.setFont(fonts.code_font(12))
    link.setForeground(theme.colour("link"))
    fragments = block.begin()
    places = []
    while not fragments.atEnd():
        part = fragments.fragment()
        form = part.charFormat()
        if form.fontFixedPitch() or "monospace" in (form.fontFamilies() or ()):
            places.append((part.position(), part.position() + part.length(), code))
        elif form.isAnchor():
            places.append((part.position(), part.position() + part.length(), link))
        fragments += 1
    for first, last, dress in places:
        cursor = QTextCursor(block)
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(dress)


def _dress(table: QTextTable) -> None:
    form = table.format()
    form.setBorder(0)
    form.setCellSpacing(0)
    form.setCellPadding(5)
    form.setTopMargin(4)
    form.setBottomMargin(12)
    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    shares = _COLUMNS.get(table.columns(), ())
    form.setColumnWidthConstraints([QTextLength(QTextLength.Type.PercentageLength, share) for share in shares])
    table.setFormat(form)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        head = cell.format()
        head.setBackground(theme.colour("sunken"))
        cell.setFormat(head)
