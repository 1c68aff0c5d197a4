"""The timeline as a picture: its rows, its scale of time, bars as pixels, what is drawn where."""
