"""The timeline as a picture: its rows, its scale of time, its bars as pixels, and its drawing."""
