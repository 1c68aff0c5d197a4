"""What interfaces consist of: for each style a table of its signals, and the channels by which words pass.

A row says what a signal's name ends in, how wide it is, and who drives it: the initiator (who asks: an AXI master, a
stream's source) or the target (who answers). A top module's port is found by its name, and its direction tells which of
the two the design is. Names, directions and widths of a kind of port come of its style (`workbench.api.table_port`);
`OTHERS` are found though no kind drives them.
"""

from dataclasses import dataclass

WORD, BYTES, ANY = "word", "bytes", "any"  # as wide as a word, a bit for each of its bytes, any width
Width = int | str


@dataclass(frozen=True)
class Role:
    """One signal of a style. `ends` are what its name ends in, in lower case, `_` between words; `bits` its width.

    `also` are roles of the kind of port that it has too: one address for reading and writing. One that is not `driven`
    is told by its name, and no more.
    """

    name: str
    ends: tuple[str, ...]
    initiator: bool = True  # who drives it
    bits: Width = 1
    also: tuple[str, ...] = ()
    driven: bool = True


@dataclass(frozen=True)
class Handshake:
    """Two roles of a style by which words pass: in a cycle in which both say so, one does.

    `valid` and `ready` are low when they say so where `valid_low`, `ready_low`; a name that ends in `_n` turns that
    round. Who drives the role `valid` is the source. `first` and `last` mark a packet's ends.
    """

    valid: str
    ready: str
    valid_low: bool = False
    ready_low: bool = False
    data: tuple[str, ...] = ()  # the roles that pass with it
    first: str = ""
    last: str = ""


@dataclass(frozen=True)
class PortStyle:
    """One style of interface. `needs` are sets of roles of which at least one must be there whole, or it is none;
    `needed` are the roles without which no port can be driven (none: those in all of these sets).

    `inner`: its words are distinctive enough to be told where the port's own name follows them (`awvalid_m0`).
    `glued`: some letters of the port's own name may stand right before them (`mcyc`).
    `everyday`: its words are used for much else, so it is offered only what no other style took.
    `sides`: what the design is called in it, as the target and as the initiator.
    `answers`: roles that may be missing, but not go the way of the rest, as they do at what only watches.
    `payload`: what else has the name before `valid` and its direction belongs to it.
    """

    name: str
    title: str
    roles: tuple[Role, ...]
    needs: tuple[frozenset[str], ...]
    inner: bool = False
    glued: bool = False
    everyday: bool = False
    sides: tuple[str, str] = ("slave", "master")
    answers: frozenset[str] = frozenset()
    payload: bool = False
    without: frozenset[str] = frozenset()  # roles that make it another style
    handshakes: tuple[Handshake, ...] = ()  # by which it is one or several streams
    needed: frozenset[str] = frozenset()


def words(
    spec: str, *, initiator: bool = True, bits: Width = 1, also: tuple[str, ...] = (), driven: bool = True
) -> tuple[Role, ...]:
    """`name=end,end` of several roles; without ends the name is the only one."""
    roles = []
    for word in spec.split():
        name, _, ends = word.partition("=")
        roles.append(Role(name, tuple(ends.split(",")) if ends else (name,), initiator, bits, also, driven))
    return tuple(roles)


APB = PortStyle(
    "apb",
    "APB",
    (
        *words("psel penable pwrite"),
        *words("paddr pwdata pstrb=pstrb,pwstrb pprot", bits=ANY),
        *words("pready pslverr", initiator=False),
        *words("prdata", initiator=False, bits=ANY),
    ),
    (frozenset({"psel", "penable", "paddr", "pwrite"}),),
    inner=True,
)
FIFO_READ = PortStyle(
    "fifo_read",
    "FIFO's reading side",
    (
        *words("read=read,rd_en,rden,pop,ren,rd,re,rinc"),
        *words("empty=empty_n,empty,rempty", initiator=False),
        *words("data=dout,rd_data,rdata,data,q", initiator=False, bits=ANY),
    ),
    (frozenset({"read", "empty"}),),
    everyday=True,
    handshakes=(Handshake("empty", "read", valid_low=True, data=("data",)),),
)
FIFO_WRITE = PortStyle(
    "fifo_write",
    "FIFO's writing side",
    (
        *words("write=write,wr_en,wren,push,wen,wr,we,winc"),
        *words("full=full_n,full,wfull", initiator=False),
        *words("data=din,wr_data,wdata,data,d", bits=ANY),
    ),
    (frozenset({"write", "full"}),),
    everyday=True,
    handshakes=(Handshake("write", "full", ready_low=True, data=("data",)),),
)
STREAM = PortStyle(
    "stream",
    "Stream with valid and ready",
    (*words("valid=valid,vld,val,v,pvld,push"), *words("ready=ready,rdy,accept,r,prdy,yumi,pop", initiator=False)),
    (frozenset({"valid", "ready"}),),
    payload=True,
    everyday=True,
    sides=("in", "out"),
    handshakes=(Handshake("valid", "ready"),),
)
GRANT = PortStyle(
    "grant",
    "Requests that are granted",
    (*words("request=req,request,rd,wr"), *words("grant=gnt,grant,accept", initiator=False)),
    (frozenset({"request", "grant"}),),
    payload=True,
    everyday=True,
    handshakes=(Handshake("request", "grant"),),
)
LOCALLINK = PortStyle(
    "locallink",
    "LocalLink",
    (
        *words("src_rdy=src_rdy_n,src_rdy sof=sof_n,sof eof=eof_n,eof sop=sop_n,sop eop=eop_n,eop"),
        *words("data rem", bits=ANY),
        *words("dst_rdy=dst_rdy_n,dst_rdy", initiator=False),
    ),
    (frozenset({"src_rdy", "dst_rdy"}),),
    sides=("in", "out"),
    handshakes=(Handshake("src_rdy", "dst_rdy", data=("data",)),),
)
REQUEST = PortStyle(
    "request",
    "Requests that are acknowledged",
    (
        *words("request=req,request,stb,cs,en access=valid read=rd,re,rden,rd_en,read,ren"),
        *words(
            "write=we,wr,wen,wren,wr_en,write address=addr,adr,address "
            "write_data=wdata,wr_data,write_data,data mask=wstrb,be,wmask,strb,wr_strb,len",
            bits=ANY,
        ),
        *words("read_data=rdata,rd_data,read_data,data", initiator=False, bits=ANY),
        *words("ack=ack,accept,gnt,grant,ready,rdy wait=wait,stall,busy valid=rvalid,vld", initiator=False),
        *words("error=err,error", initiator=False, bits=ANY),
    ),
    (
        frozenset({"request", "address", "read_data", "ack"}),
        frozenset({"access", "address", "read_data", "ack"}),
        frozenset({"request", "address", "write_data", "ack"}),
        frozenset({"write", "address", "write_data", "ack"}),
        frozenset({"read", "address", "read_data", "ack"}),
    ),
    everyday=True,
    handshakes=(Handshake("request", "ack", data=("address",)), Handshake("access", "ack", data=("address",))),
)

#: Told by their names though no kind of port drives them.
OTHERS = (APB, LOCALLINK, REQUEST, FIFO_READ, FIFO_WRITE, STREAM, GRANT)
