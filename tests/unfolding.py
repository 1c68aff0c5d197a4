"""The calls behind table `call_order`, one by one."""

from collections.abc import Iterator

from workbench.model.run_tables import Table

Call = tuple[int, int]  # (site, state)


def unfold(table: Table) -> Iterator[Call]:
    """Every call in order (site, state), thread by thread."""
    site, state = table["site"].tolist(), table["state"].tolist()
    return ((site[row], state[row]) for row in rows_of_calls(table))


def calls_of_rows(table: Table) -> list[list[int]]:
    """The calls of each row, by their numbers in order; none of a loop's."""
    found: list[list[int]] = [[] for _ in table["site"]]
    for number, row in enumerate(rows_of_calls(table)):
        found[row].append(number)
    return found


def rows_of_calls(table: Table) -> Iterator[int]:
    """Each call's row, in order."""
    rows = list(zip(table["repeat"].tolist(), table["body"].tolist(), strict=True))

    def calls(begin: int, end: int) -> Iterator[int]:
        while begin < end:
            repeat, body = rows[begin]
            for _ in range(repeat):
                if body:
                    yield from calls(begin + 1, begin + 1 + body)
                else:
                    yield begin
            begin += 1 + body

    return calls(0, len(rows))
