"""The program's colours, light and dark; the only place that defines any."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from workbench.model.pragma import UNCLASSIFIED, Category


@dataclass(frozen=True)
class Palette:
    """Colours as #RRGGBB. `states` is keyed by category; None is `unclassified`."""

    name: str
    window: str
    panel: str
    sunken: str
    chrome: str
    rule: str
    edge: str  # of controls
    text: str
    second: str
    muted: str
    accent: str
    on_accent: str
    link: str
    selection: str
    chosen_text: str  # the ground of text that is selected, on a row that is selected too
    high: str
    medium: str  # shapes
    medium_text: str
    low: str
    good: str
    within_cap: str
    raised: str
    track: str  # the empty part of a bar
    high_ground: str
    medium_ground: str
    low_ground: str
    good_ground: str
    keyword: str
    comment: str
    pragma: str
    number: str
    string: str
    pattern: str  # lines over a state's colour, with `pattern_opacity`
    pattern_opacity: float
    states: dict[Category | None, str]

    @property
    def dark(self) -> bool:
        return self.name.startswith("dark")

    def colour(self, name: str) -> str:
        """#RRGGBB of a colour's name, or of `state:` and a category's name."""
        if name.startswith("state:"):
            kind = name.removeprefix("state:")
            return self.states[None if kind == UNCLASSIFIED else Category(kind)]
        value: str = getattr(self, name)
        return value

    @property
    def is_strong(self) -> bool:
        """Whether the palette has high contrast."""
        return self.name.endswith("contrast")

    def colours(self) -> dict[str, str]:
        """Every plain colour by its name."""
        return {f.name: value for f in fields(self) if isinstance(value := getattr(self, f.name), str)}


LIGHT = Palette(
    name="light",
    window="#EEF0F3",
    panel="#FFFFFF",
    sunken="#F5F6F8",
    chrome="#F7F8FA",
    rule="#D8DCE2",
    edge="#868F9B",
    text="#15191F",
    second="#454D58",
    muted="#5F6873",
    accent="#3A4BC2",
    on_accent="#FFFFFF",
    link="#3443B0",
    selection="#E3E7F9",
    chosen_text="#B9C2EE",
    high="#B3261E",
    medium="#C77700",
    medium_text="#8F5200",
    low="#3F5B77",
    good="#0B6E4F",
    within_cap="#B9C2EE",
    raised="#FFFFFF",
    track="#E6E9EE",
    high_ground="#F9E8E6",
    medium_ground="#FDF1DC",
    low_ground="#E8EEF4",
    good_ground="#E2F1EA",
    keyword="#7A1FA2",
    comment="#4E6A55",
    pragma="#0B6E4F",
    number="#0B5C8A",
    string="#8A4B00",
    pattern="#FFFFFF",
    pattern_opacity=0.47,
    states={
        Category.WORK: "#009E73",
        Category.OVERHEAD: "#CC79A7",
        Category.SEND: "#0072B2",
        Category.RECV: "#56B4E9",
        Category.WAIT_SEND: "#D55E00",
        Category.WAIT_RECV: "#E69F00",
        None: "#CDD2D9",
    },
)

DARK = Palette(
    name="dark",
    window="#0F1216",
    panel="#1B2027",
    sunken="#14181E",
    chrome="#171B21",
    rule="#333B46",
    edge="#76818F",
    text="#E9ECF0",
    second="#BCC4CE",
    muted="#97A1AD",
    accent="#8E9BFF",
    on_accent="#0F1216",
    link="#A9B4FF",
    selection="#2B3156",
    chosen_text="#4A5596",
    high="#FF8F84",
    medium="#F2B64A",
    medium_text="#F2B64A",
    low="#9DB7D1",
    good="#5AD1A4",
    within_cap="#4A5596",
    raised="#242B34",
    track="#2A313B",
    high_ground="#3A2223",
    medium_ground="#372B18",
    low_ground="#1F2A36",
    good_ground="#173128",
    keyword="#D6A3F0",
    comment="#8FB097",
    pragma="#5AD1A4",
    number="#83C7EE",
    string="#E8B77A",
    pattern="#000000",
    pattern_opacity=0.41,
    states={
        Category.WORK: "#22B585",
        Category.OVERHEAD: "#D58CB6",
        Category.SEND: "#3F97DB",
        Category.RECV: "#86CDF5",
        Category.WAIT_SEND: "#EF7A33",
        Category.WAIT_RECV: "#F0B530",
        None: "#505A67",
    },
)

#: High contrast: texts reach 7:1 on every ground, and rules, edges of controls and frames of bars are as strong; states
#: and bars reach 3:1.
LIGHT_CONTRAST = replace(
    LIGHT, name="light-contrast", window="#FFFFFF", sunken="#FFFFFF", chrome="#FFFFFF", rule="#4A4F57", edge="#000000",
    text="#000000", second="#1C1F24", muted="#2B3038", accent="#1B2A8F", link="#16237F", selection="#D5DBFF",
    chosen_text="#9AA8F5", high="#8C0D06", medium="#8A5000", medium_text="#5C3500", low="#243A50", good="#00452F",
    within_cap="#7385D6", track="#DDE1E8", high_ground="#FFDEDA", medium_ground="#FFEDB8", low_ground="#E0EAF5",
    good_ground="#D6F3E4", keyword="#5C1080", comment="#2C4232", pragma="#00452F", number="#003E61", string="#5C3200",
    pattern_opacity=0.6,
    states=LIGHT.states | {Category.SEND: "#00558A", Category.RECV: "#3A93D0", Category.WAIT_SEND: "#B04A00",
                           Category.WAIT_RECV: "#B87A00", None: "#8A919B"},
)  # fmt: skip
DARK_CONTRAST = replace(
    DARK, name="dark-contrast", window="#000000", panel="#000000", sunken="#000000", chrome="#000000", rule="#A9B2BF",
    edge="#FFFFFF", text="#FFFFFF", second="#E8ECF1", muted="#D3DAE3", accent="#B3BCFF", on_accent="#000000",
    link="#C4CCFF", selection="#2A3170", chosen_text="#3F4FA8", high="#FFB3AB", medium="#FFCB6B", medium_text="#FFCB6B",
    low="#C3D8EC", good="#83E8C2", within_cap="#6474C8", raised="#000000", track="#333A45", high_ground="#45100C",
    medium_ground="#3F2E00", low_ground="#182A3E", good_ground="#073423", keyword="#E6C6FA", comment="#BAD6C1",
    pragma="#83E8C2", number="#B0DEF8", string="#F7D3A6", pattern_opacity=0.55,
)  # fmt: skip
#: Of pictures within a page, whose style defines the colours (`css_colours`), light and dark.
PAGE = Palette(
    name="page",
    **{name: f"var(--{name.replace('_', '-')})" for name in LIGHT.colours() if name != "name"},
    pattern_opacity=LIGHT.pattern_opacity,
    states={category: f"var(--state-{category.value if category else UNCLASSIFIED})" for category in LIGHT.states},
)


def css_colours() -> str:
    """A page's colours as CSS variables: dark on dark screens, light on paper."""
    light, dark = (
        "".join(f"{PAGE.colour(name)[4:-1]}: {one.colour(name)}; " for name in _page_names()) for one in (LIGHT, DARK)
    )
    return (
        f":root {{ color-scheme: light dark; {light}}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
    )


def _page_names() -> Iterator[str]:
    yield from (name for name in LIGHT.colours() if name != "name")
    yield from (f"state:{category.value if category else UNCLASSIFIED}" for category in LIGHT.states)


PALETTES = {one.name: one for one in (LIGHT, DARK, LIGHT_CONTRAST, DARK_CONTRAST)}
