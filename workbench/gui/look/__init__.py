"""The window's look: palette, style sheet, fonts, icons, painted text."""
