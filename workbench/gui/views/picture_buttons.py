"""The buttons over a picture: to zoom, to fit, and to save it."""

from workbench.gui.views.house_view import ZOOM_STEP, HouseView
from workbench.gui.widgets import IconButton, PanelHeader
from workbench.session.program.keys import with_key


def add_picture_buttons(head: PanelHeader, view: HouseView, picture: str) -> None:
    """Put them into the head of a view, in whose words its picture is a `picture`."""
    for icon_name, tip, do in (
        ("minus", "Zoom out (−)", lambda: view.zoom(1 / ZOOM_STEP)),
        ("plus", "Zoom in (+)", lambda: view.zoom(ZOOM_STEP)),
        ("maximize", with_key("Fit", "view_all"), view.show_all),
        ("download", f"Save the {picture} as an image", view.ask_picture),
    ):
        head.add(IconButton(icon_name, tip, on=do))
