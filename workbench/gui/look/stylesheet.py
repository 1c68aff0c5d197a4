"""The style sheet of the whole window, from a palette. Widgets choose by the properties `ground`, `role` and `kind`."""

from string import Template

from workbench.pictures.palette import Palette

_SHEET = Template("""
* { outline: none; }
QMainWindow, QDialog { background: $window; }
QWidget[ground="panel"] { background: $panel; }
QWidget[ground="sunken"] { background: $sunken; }
QWidget[ground="chrome"] { background: $chrome; }
QWidget[ground="window"] { background: $window; }
QWidget[ground="raised"] { background: $raised; }
QWidget[ground="note"] { background: $low_ground; border: 1px solid $rule; border-radius: 5px; }
QWidget[ground="good"] { background: $good_ground; }
QWidget[ground="warned"] { background: $medium_ground; }
QWidget[ground="bad"] { background: $high_ground; }
QWidget[ground="selection"] { background: $selection; }
QWidget[ground="box"] { background: $panel; border: 1px solid $rule; border-radius: 8px; }
QFrame[role="rule"] { background: $rule; border: none; }

QLabel { color: $text; background: transparent; }
QLabel[role="second"] { color: $second; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="small"] { color: $muted; font-size: 12px; }
QLabel[role="smallsecond"] { color: $second; font-size: 12px; }
QLabel[role="axis"] { color: $muted; font-size: 11px; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="said"] { font-weight: 500; }
QLabel[role="title"] { font-size: 14px; font-weight: 600; }
QLabel[role="finding"] { font-size: 17px; font-weight: 600; }
QLabel[role="figure"] { font-size: 24px; font-weight: 700; color: $accent; }
QLabel[role="figureplain"] { font-size: 20px; color: $text; }
QLabel[role="gain"] { font-size: 15px; font-weight: 700; color: $link; }
QLabel[role="hero"] { font-size: 29px; font-weight: 700; }
QLabel[role="good"] { color: $good; }
QLabel[role="high"] { color: $high; }
QLabel[role="medium"] { color: $medium_text; font-weight: 500; }
QLabel[role="smallgood"] { color: $good; font-size: 12px; font-weight: 600; }
QLabel[role="smallaccent"] { color: $link; font-size: 12px; }
QLabel[role="smallmedium"] { color: $medium_text; font-size: 12px; font-weight: 600; }
QLabel[role="tagmedium"], QLabel[role="taggood"] { border-radius: 7px; padding: 1px 8px; font-size: 11px;
  font-weight: 500; background: $medium_ground; color: $medium_text; }
QLabel[role="taggood"] { background: $good_ground; color: $good; }
QLabel[role="code"] { font-family: "JetBrains Mono"; font-size: 12px; }
QLabel[role="codemuted"] { font-family: "JetBrains Mono"; font-size: 12px; color: $muted; }

QToolTip { background: $raised; color: $text; border: 1px solid $edge; border-radius: 5px; padding: 5px 8px;
    font-size: 12px; }

QPushButton { background: $raised; color: $text; border: 1px solid $edge; border-radius: 5px; padding: 0 11px;
    min-height: 26px; font-weight: 500; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton:hover { background: $sunken; }
QPushButton:pressed { background: $track; }
QPushButton:focus { border: 2px solid $accent; padding: 0 10px; min-height: 24px; }
QPushButton:disabled { color: $muted; border-color: $rule; background: $sunken; }
QPushButton[large="true"] { min-height: 34px; padding: 0 16px; }
QPushButton[large="true"]:focus { min-height: 32px; padding: 0 15px; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $link; border-color: $link; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled { background: $track; color: $muted; border-color: $track; }
QPushButton[kind="link"] { background: transparent; color: $link; border: none; padding: 0; font-weight: 600;
    font-size: 12px; min-height: 20px; text-align: left; }
QPushButton[kind="link"]:hover, QPushButton[kind="link"]:focus { text-decoration: underline; border: none; padding: 0; }
QPushButton[kind="pill"] { border-radius: 12px; min-height: 22px; padding: 0 10px; font-size: 12px; font-weight: 500;
    border-color: $edge; color: $second; background: $raised; }
QPushButton[kind="pill"]:checked { background: $selection; color: $link; border-color: $accent; font-weight: 600; }
QPushButton[kind="pill"]:focus { border: 2px solid $accent; padding: 0 9px; min-height: 20px; }
QToolButton { background: transparent; border: none; border-radius: 5px; color: $second; }
QToolButton:hover { background: $selection; }
QToolButton::menu-indicator { image: none; }
QPushButton::menu-indicator { image: url(rcw:chevron-down-$name.svg); width: 16px; height: 16px;
    subcontrol-origin: padding; subcontrol-position: center right; right: 6px; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit[role="field"] { background: $raised; color: $text;
    border: 1px solid $edge; border-radius: 5px; padding: 0 8px; min-height: 26px;
    selection-background-color: $chosen_text; selection-color: $text; placeholder-text-color: $muted; }
QPlainTextEdit[role="field"] { padding: 3px 8px; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit[role="field"]:focus {
    border: 2px solid $accent; padding: 0 7px; min-height: 24px; }
QPlainTextEdit[role="field"]:focus { padding: 2px 7px; }
QLineEdit[problem="true"], QComboBox[problem="true"] { border: 2px solid $high; padding: 0 7px; min-height: 24px; }
QLineEdit:disabled, QComboBox:disabled { color: $muted; background: $sunken; border-color: $rule; }
QLineEdit[fixed="true"], QComboBox[fixed="true"], QPlainTextEdit[fixed="true"] { background: $sunken; color: $second;
    border: 1px $fixed_edge; padding: 0 8px; min-height: 26px; }
QPlainTextEdit[fixed="true"] { padding: 3px 8px; }
QComboBox[fixed="true"]::down-arrow { image: none; }
QLineEdit[role="code"], QComboBox[role="code"] { font-family: "JetBrains Mono"; font-size: 12px; }
QComboBox, QComboBox:focus { padding-right: 0; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: url(rcw:chevron-down-$name.svg); width: 16px; height: 16px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $edge; padding: 4px;
    selection-background-color: $selection; selection-color: $text; outline: none; }
QAbstractSpinBox QLineEdit, QKeySequenceEdit QLineEdit { min-height: 24px; }
QAbstractSpinBox QLineEdit { border: none; background: transparent; padding: 0; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; }
QCheckBox, QRadioButton { spacing: 8px; background: transparent; color: $text; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $edge; border-radius: 3px; background: $raised; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url(rcw:check-$name.svg); }
QCheckBox::indicator:focus { border: 2px solid $accent; }
QRadioButton::indicator { width: 12px; height: 12px; border: 1px solid $edge; border-radius: 7px; background: $raised; }
QRadioButton::indicator:checked { border: 4px solid $accent; width: 6px; height: 6px; }

QTabBar#files { background: $chrome; }
QTabBar#files::tab { background: $chrome; color: $second; border: none; border-right: 1px solid $rule;
    padding: 0 6px 0 12px; height: 36px; border-top: 2px solid transparent; }
QTabBar#files::tab:selected { background: $panel; color: $text; border-top: 2px solid $accent; font-weight: 600; }
QTabBar#files::tab:hover:!selected { background: $sunken; }
QTabBar#parts { background: transparent; }
QTabBar#parts::tab { background: transparent; color: $second; border: none; border-bottom: 2px solid transparent;
    padding: 0 5px; height: 28px; }
QTabBar#parts::tab:first { margin-left: 11px; }
QTabBar#parts::tab:selected { color: $text; border-bottom: 2px solid $accent; font-weight: 600; }
QTabBar#parts::tab:hover:!selected { color: $text; }
QTabBar#parts::tab:focus { color: $link; }
QMenuBar { background: transparent; color: $second; padding: 0; spacing: 0; }
QMenuBar::item { padding: 5px 9px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected { background: $selection; color: $text; }
QMenu { background: $raised; border: 1px solid $edge; padding: 5px; color: $text; menu-scrollable: 1; }
QMenu::item { padding: 6px 28px 6px 26px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $rule; margin: 5px 6px; }
QMenu::indicator { width: 14px; height: 14px; left: 6px; }
QMenu::indicator:checked { image: url(rcw:tick-$name.svg); }

QAbstractItemView { background: $panel; color: $text; border: none; selection-background-color: $selection;
    selection-color: $text; alternate-background-color: $sunken; }
QTreeView[role="field"] { border: 1px solid $edge; border-radius: 5px; background: $raised; }
QTreeView[role="field"]:focus { border: 2px solid $accent; }
QListView#completion { background: $raised; border: 1px solid $edge; }
QTreeView::item, QListView::item { border: none; padding: 0; }
QTreeView::item:hover, QListView::item:hover, QTableView::item:hover { background: $sunken; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: $selection; color: $text; }
QTreeView::branch { background: transparent; }
QTreeView::branch:selected { background: $selection; }
QTreeView::branch:has-children:closed { image: url(rcw:chevron-right-$name.svg); }
QTreeView::branch:has-children:open { image: url(rcw:chevron-down-$name.svg); }
QTableView { gridline-color: $rule; }
QHeaderView { background: $sunken; border: none; }
QHeaderView::section { background: $sunken; color: $second; border: none; border-bottom: 1px solid $rule;
    padding: 0 8px; font-size: 12px; font-weight: 500; min-height: 28px; }
QTableCornerButton::section { background: $sunken; border: none; }

QScrollArea { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $edge; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QMainWindow::separator { background: $rule; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $rule; }
QSplitter::handle:hover { background: $accent; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QDockWidget { color: $text; border: none; }
QStatusBar { background: $chrome; }
QProgressBar { background: $track; border: none; border-radius: 4px; max-height: 8px; min-height: 8px; }
QProgressBar::chunk { background: $accent; border-radius: 4px; }
QPlainTextEdit, QTextEdit { background: $panel; color: $text; border: none; selection-background-color: $chosen_text;
    selection-color: $text; placeholder-text-color: $muted; }
""")


def style_sheet(palette: Palette) -> str:
    colours = palette.colours()
    edge = (
        f"dashed {colours['rule']}" if palette.is_strong else f"solid {colours['sunken']}"
    )  # a ground may not be seen
    return _SHEET.substitute(colours, fixed_edge=edge, name="dark" if palette.dark else "light")
