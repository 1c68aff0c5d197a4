"""Calls of one function are told apart by what their descriptor, handle or pointer was opened as."""

import pytest
import yaml

from workbench.formats.platform_file import parse_platform
from workbench.model.platform import Platform

TEMPLATE = """
schema_version: 2
name: posix
host:
  include_lines: ['#include <fcntl.h>', '#include <unistd.h>', '#include <sys/mman.h>']
  entries:
    - {prototype: 'int open(const char *path, int flags, ...)', kind: acquire, subtype: to the card, opens: h2c,
       condition: 'like(path, "*/card0_h2c_*")', fpga: '3'}
    - {prototype: 'int open(const char *path, int flags, ...)', kind: acquire, subtype: from the card, opens: c2h,
       condition: 'like(path, "*/card0_c2h_*")', fpga: '4'}
    - {prototype: 'int dup(int fd)', kind: other, of: h2c, opens: h2c}
    - {prototype: 'ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t at)', kind: send, of: h2c,
       bytes: bytes, address: at}
    - {prototype: 'ssize_t read(int fd, void *buffer, size_t bytes)', kind: receive, of: fd is h2c|c2h, bytes: bytes}
    - {prototype: 'int close(int fd)', kind: release, of: h2c|c2h}
"""
PROGRAM = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static long put(int fd, int bytes) { static char buffer[64]; return pwrite(fd, buffer, bytes, 16); }
int main(void)
{
    char buffer[8];
    int log = open("log", O_CREAT | O_RDWR, 0600), card = open("./card0_h2c_0", O_CREAT | O_RDWR, 0600);
    int back = open("./card0_c2h_0", O_CREAT | O_RDWR, 0600);
    put(log, 1);
    put(card, 2);
    put(back, 3);                       /* not opened for that */
    int again = dup(card), plain = dup(log);
    put(again, 4);
    put(plain, 5);
    read(card, buffer, 6);
    read(back, buffer, 7);
    read(log, buffer, 1);
    close(card);
    int other = open("log", O_RDWR);
    printf("%d ", other == card);
    put(other, 8);                      /* the card's number, another file */
    put(again, 9);
    int absent = open("./card0_h2c_/none", O_RDWR);
    printf("%d\\n", absent);
    put(absent, 10);
    close(log);
    close(again);
    return 0;
}
"""


def test_descriptors_are_followed_from_where_they_were_opened(project, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    project.platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    project.file("main.c", PROGRAM)
    ran = project.run(project.instrument())
    assert ran.stdout == b"1 -1\n"
    found = [(ran.build.sites[c["site"]].callee, int(c["bytes"]), int(c["fpga"])) for c in ran.calls]
    assert found == [
        ("open", -1, 3), ("open", -1, 4), ("pwrite", 2, 3), ("dup", -1, 3), ("pwrite", 4, 3), ("read", 6, 3),
        ("read", 7, 4), ("close", -1, 3), ("pwrite", 9, 3), ("open", -1, 3), ("close", -1, 3),
    ]  # fmt: skip


def test_what_nothing_opens_is_told_at_its_first_call(project) -> None:
    project.platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    project.file(
        "main.c", "#include <unistd.h>\nint main(void)\n{\n    char c;\n    read(0, &c, 1);\n    return dup(0);\n}\n"
    )
    told = [(problem.line, problem.message) for problem in project.scan().diagnostics]
    assert told == [
        (5, "calls of read are not recorded: no call in the sources opens h2c or c2h (see `opens` in the template)"),
        (6, "calls of dup are not recorded: no call in the sources opens h2c (see `opens` in the template)"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "said", "hint"),
    [
        ("of: h2c, opens", "of: h2x, opens", "no entry opens 'h2x'", "Did you mean 'h2c'?"),
        ("of: fd is h2c|c2h", "of: fd is", "'fd is' names nothing", "Write a name"),
        ("of: h2c,\n       bytes", "mapped_bytes: '4',\n       bytes", "the mapping has no name", "Add opens: NAME."),
        ("prototype: 'int dup(int fd)', kind: other", "access: read, kind: receive", "'h2c' is not a mapping",
         "Give its size"),
        ("prototype: 'int dup(int fd)', kind: other, of: h2c, opens: h2c", "access: read, kind: receive",
         "these accesses name no mapping", "Name the mapping"),
        ("prototype: 'int dup(int fd)'", "prototype: 'int dup(int fd)', access: read", "accesses are not calls",
         "Remove"),
    ],
)  # fmt: skip
def test_what_a_template_says_of_them_is_checked(before, after, said, hint) -> None:
    assert before in TEMPLATE
    _, problems = parse_platform(TEMPLATE.replace(before, after), "posix.yaml")
    assert any(said in problem.message and hint in problem.hint for problem in problems), problems
