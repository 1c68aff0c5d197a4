"""How the window looks: palette and style sheet, fonts, icons, text that is painted."""
