"""What an object of a class is made of: whose constructors and destructors are called where it begins and ends."""

from clang.cindex import Cursor, CursorKind, Type, TypeKind

from rc_workbench_plugins.c.clang_parse import children
from rc_workbench_plugins.c.cpp_entries import Entries

K = CursorKind
_OF_POINTERS = {"unique_ptr", "shared_ptr", "weak_ptr", "default_delete"}  # make nothing of what they point to
BY_ITSELF, BY_POINTER, BY_LIBRARY = range(3)  # who calls a constructor or destructor; by pointer: a std::unique_ptr


class Held:
    """The template's constructors and destructors that a type leads to."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self._known: dict[str, dict[str, int]] = {}

    def of(self, kind: Type) -> dict[str, int]:
        """The constructors and destructors that are called where an object begins or ends: its own destructor, and
        those of what it is made of; and by whom: those of a template's arguments by the template."""
        kind = kind.get_canonical()
        if kind.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
            return self.of(kind.element_type)
        if kind.kind is not TypeKind.RECORD:
            return {}
        if kind.spelling not in self._known:
            called = self._known[kind.spelling] = {}
            head = kind.get_declaration()
            parts = [field.type for field in kind.get_fields()]
            parts += [part.type for part in children(head) if part.kind is K.CXX_BASE_SPECIFIER]
            for part in parts if not kind.spelling.startswith("std::") else ():
                begun = self.entries.constructors(part.get_canonical().get_declaration())
                called |= dict.fromkeys((key for key in begun if _is_plain(self.entries.declared[key])), BY_ITSELF)
                called |= {key: max(by, called.get(key, by)) for key, by in self.of(part).items()}
            if head.spelling not in _OF_POINTERS:
                of_library = [key for part in arguments(kind) for key in self.of(part)]
                of_library += [key for part in arguments(kind) for key in self.constructors(part)]
                called |= dict.fromkeys(of_library, BY_LIBRARY)
            elif given := arguments(kind):
                plain = (
                    head.spelling == "unique_ptr" and given[-1].spelling == f"std::default_delete<{given[0].spelling}>"
                )
                of_pointer = self.entries.destructor(given[0].get_declaration()) if plain else None
                called |= {key: BY_POINTER if key == of_pointer else BY_LIBRARY for key in self.of(given[0])}
            if own := self.entries.destructor(head):
                called[own] = max(called.get(own, BY_ITSELF), BY_ITSELF)
        return self._known[kind.spelling]

    def constructors(self, kind: Type) -> list[str]:
        return self.entries.constructors(kind.get_declaration())


def _is_plain(constructor: Cursor) -> bool:
    """One that a class's own constructor calls without being told."""
    return (
        constructor.is_default_constructor() or constructor.is_copy_constructor() or constructor.is_move_constructor()
    )


def arguments(kind: Type) -> list[Type]:
    """The types among a class template's arguments."""
    given = (kind.get_template_argument_type(n).get_canonical() for n in range(kind.get_num_template_arguments()))
    return [one for one in given if one.kind is TypeKind.RECORD]
