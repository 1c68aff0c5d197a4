"""How interfaces are told by the names of their signals: for each style, which name ends mean which role.

A style says of each role who drives it: the initiator (who asks: an AXI master, a stream's source) or the target (who
answers). A top module's port of that role then tells by its direction which of the two the design is. A kind of port
names its style (`PortKind.style`); `OTHERS` are told though no kind drives them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """One signal of a style. `ends` are what its name ends in, in lower case, `_` between words.

    `also` are roles of the kind of port that it has too: one address for reading and writing.
    """

    name: str
    ends: tuple[str, ...]
    initiator: bool = True  # who drives it
    one_bit: bool = True
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class PortStyle:
    """One style of interface. `needs` are sets of roles of which at least one must be there whole.

    `inner`: its words are distinctive enough to be told where the port's own name follows them (`awvalid_m0`).
    `everyday`: its words are used for much else, so it is offered only what no other style took.
    `sides`: what the design is called in it, as the target and as the initiator.
    `payload`: what else has the name before `valid` and its direction belongs to it.
    """

    name: str
    title: str
    roles: tuple[Role, ...]
    needs: tuple[frozenset[str], ...]
    inner: bool = False
    everyday: bool = False
    sides: tuple[str, str] = ("slave", "master")
    payload: bool = False
    without: frozenset[str] = frozenset()  # roles that make it another style


def words(spec: str, *, initiator: bool = True, one_bit: bool = True, also: tuple[str, ...] = ()) -> tuple[Role, ...]:
    """`name=end,end` of several roles; without ends the name is the only one."""
    found = []
    for word in spec.split():
        name, _, ends = word.partition("=")
        found.append(Role(name, tuple(ends.split(",")) if ends else (name,), initiator, one_bit, also))
    return tuple(found)


APB = PortStyle(
    "apb",
    "APB",
    (
        *words("psel penable pwrite"),
        *words("paddr pwdata pstrb=pstrb,pwstrb pprot", one_bit=False),
        *words("pready pslverr", initiator=False),
        *words("prdata", initiator=False, one_bit=False),
    ),
    (frozenset({"psel", "penable", "paddr", "pwrite"}),),
    inner=True,
)
WISHBONE = PortStyle(
    "wishbone",
    "Wishbone",
    (
        *words("cyc stb we"),
        *words("adr=adr,addr dat_w=dat_w,dat_mosi,wdata,dat,data sel cti bte", one_bit=False),
        *words("ack err rty stall", initiator=False),
        *words("dat_r=dat_r,dat_miso,rdata,idata,dat,data", initiator=False, one_bit=False),
    ),
    (frozenset({"cyc", "stb", "ack"}),),
)
FIFO_READ = PortStyle(
    "fifo_read",
    "FIFO's reading side",
    (
        *words("read=read,rd_en,rden,pop,ren,rd,re"),
        *words("empty=empty_n,empty", initiator=False),
        *words("data=dout,rd_data,rdata,data,q", initiator=False, one_bit=False),
    ),
    (frozenset({"read", "empty"}),),
    everyday=True,
)
FIFO_WRITE = PortStyle(
    "fifo_write",
    "FIFO's writing side",
    (
        *words("write=write,wr_en,wren,push,wen,wr,we"),
        *words("full=full_n,full", initiator=False),
        *words("data=din,wr_data,wdata,data,d", one_bit=False),
    ),
    (frozenset({"write", "full"}),),
    everyday=True,
)
STREAM = PortStyle(
    "stream",
    "Stream with valid and ready",
    (*words("valid=valid,vld,val,v"), *words("ready=ready,rdy,accept,r", initiator=False)),
    (frozenset({"valid", "ready"}),),
    payload=True,
    everyday=True,
    sides=("in", "out"),
)

#: Told by their names though no kind of port drives them.
OTHERS = (APB, WISHBONE, FIFO_READ, FIFO_WRITE, STREAM)
