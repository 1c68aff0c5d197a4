"""An image's pixels as an array, and a colour as one of them."""

import numpy as np
from PySide6.QtGui import QColor, QImage

from workbench.pictures.timeline.raster import Image


def rgb(colour: QColor) -> int:
    return int(colour.rgb()) & 0xFFFFFFFF


def pixels_of(image: QImage) -> Image:
    """A copy of an image's pixels, shape (height, width), as 0xFFRRGGBB."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return flat[:, : image.width()].copy()
