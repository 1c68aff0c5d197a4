"""How interfaces are told by the names of their signals: for each style, which name ends mean which role.

A style says of each role who drives it: the initiator (who asks: an AXI master, a stream's source) or the target (who
answers). A top module's port of that role then tells by its direction which of the two the design is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """One signal of a style. `ends` are what its name ends in, in lower case, `_` between words."""

    name: str
    ends: tuple[str, ...]
    initiator: bool = True  # who drives it
    one_bit: bool = True


@dataclass(frozen=True)
class PortStyle:
    """One style of interface. `needs` are sets of roles of which at least one must be there whole.

    `inner`: its words are distinctive enough to be told where the port's own name follows them (`awvalid_m0`).
    `kinds`: the kinds of ports that drive it, where the design is the target and where it is the initiator.
    `payload`: what else has the name before `valid` and its direction belongs to it.
    """

    name: str
    title: str
    roles: tuple[Role, ...]
    needs: tuple[frozenset[str], ...]
    inner: bool = False
    kinds: tuple[str, str] = ("", "")
    payload: bool = False
    without: frozenset[str] = frozenset()  # roles that make it another style


def _channel(name: str, fields: str, initiator: bool = True) -> tuple[Role, ...]:
    """An AXI channel: `awvalid`, `aw_valid`, and so on; its ready goes the other way."""
    found = [
        Role(name + field, (name + field, f"{name}_{field}"), initiator, field in ("valid", "last", "lock"))
        for field in ("valid", *fields.split())
    ]
    return (*found, Role(name + "ready", (name + "ready", name + "_ready"), not initiator))


def _words(spec: str, *, initiator: bool = True, one_bit: bool = True) -> tuple[Role, ...]:
    """`name=end,end` of several roles; without ends the name is the only one."""
    found = []
    for word in spec.split():
        name, _, ends = word.partition("=")
        found.append(Role(name, tuple(ends.split(",")) if ends else (name,), initiator, one_bit))
    return tuple(found)


_ADDRESS = "addr prot region qos cache user atop"
_AXI = (
    *_channel("aw", f"{_ADDRESS} id len size burst lock"),
    *_channel("w", "data strb last user id"),
    *_channel("b", "resp id user", initiator=False),
    *_channel("ar", f"{_ADDRESS} id len size burst lock"),
    *_channel("r", "data resp last id user", initiator=False),
)
_AXI_NEEDS = (
    frozenset({"awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "bvalid", "bready"}),
    frozenset({"arvalid", "arready", "araddr", "rvalid", "rready", "rdata"}),
)

AXI4 = PortStyle(
    "axi4",
    "AXI4",
    _AXI,
    (_AXI_NEEDS[0] | {"awlen"}, _AXI_NEEDS[1] | {"arlen"}),
    inner=True,
    kinds=("axi", "axi_master"),
)
AXI_LITE = PortStyle(
    "axi_lite",
    "AXI4-Lite",
    _AXI,
    _AXI_NEEDS,
    inner=True,
    kinds=("axi_lite", ""),
    without=frozenset({"awlen", "arlen"}),
)
AXI_STREAM = PortStyle(
    "axi_stream",
    "AXI4-Stream",
    (
        *_words("tvalid tlast"),
        *_words("tdata tkeep tstrb tuser tid tdest", one_bit=False),
        *_words("tready", initiator=False),
    ),
    (frozenset({"tvalid", "tready"}),),
    inner=True,
    kinds=("stream_in", "stream_out"),
)
APB = PortStyle(
    "apb",
    "APB",
    (
        *_words("psel penable pwrite"),
        *_words("paddr pwdata pstrb=pstrb,pwstrb pprot", one_bit=False),
        *_words("pready pslverr", initiator=False),
        *_words("prdata", initiator=False, one_bit=False),
    ),
    (frozenset({"psel", "penable", "paddr", "pwrite"}),),
    inner=True,
)
WISHBONE = PortStyle(
    "wishbone",
    "Wishbone",
    (
        *_words("cyc stb we"),
        *_words("adr=adr,addr dat_w=dat_w,dat_mosi,wdata,dat,data sel cti bte", one_bit=False),
        *_words("ack err rty stall", initiator=False),
        *_words("dat_r=dat_r,dat_miso,rdata,idata,dat,data", initiator=False, one_bit=False),
    ),
    (frozenset({"cyc", "stb", "ack"}),),
)
AVALON_MM = PortStyle(
    "avalon_mm",
    "Avalon-MM",
    (
        *_words("read write chipselect begintransfer lock"),
        *_words("address writedata byteenable burstcount", one_bit=False),
        *_words("waitrequest readdatavalid writeresponsevalid", initiator=False),
        *_words("readdata response", initiator=False, one_bit=False),
    ),
    (frozenset({"read", "readdata"}), frozenset({"write", "writedata", "address"})),
    inner=True,
    kinds=("avalon", ""),
)
FIFO_READ = PortStyle(
    "fifo_read",
    "FIFO's reading side",
    (
        *_words("read=read,rd_en,rden,pop,ren,rd,re"),
        *_words("empty=empty_n,empty", initiator=False),
        *_words("data=dout,rd_data,rdata,data,q", initiator=False, one_bit=False),
    ),
    (frozenset({"read", "empty"}),),
)
FIFO_WRITE = PortStyle(
    "fifo_write",
    "FIFO's writing side",
    (
        *_words("write=write,wr_en,wren,push,wen,wr,we"),
        *_words("full=full_n,full", initiator=False),
        *_words("data=din,wr_data,wdata,data,d", one_bit=False),
    ),
    (frozenset({"write", "full"}),),
)
MEMORY = PortStyle(
    "memory",
    "Memory",
    (
        *_words(
            "write_enable=we,wen,wr,wren,write,write_en,write_enable,wr_en,wr_enable,wr_valid,wr_strobe,wr_stb "
            "read_enable=re,ren,rd,rden,read,read_en,read_enable,rd_en,rd_enable,rd_valid,rd_strobe,rd_stb "
            "enable=en,ce,cs,req"
        ),
        *_words(
            "address=addr,adr,address write_address=waddr,wr_addr,write_addr,write_address,wr_address "
            "read_address=raddr,rd_addr,read_addr,read_address,rd_address "
            "write_data=wdata,wr_data,write_data,din,data_w,data mask=wmask,be,wstrb,wben",
            one_bit=False,
        ),
        *_words("read_data=rdata,rd_data,read_data,dout,data_r,q,data", initiator=False, one_bit=False),
        *_words("read_valid=rvalid,rdata_valid,read_data_valid", initiator=False),
    ),
    (
        frozenset({"write_enable", "address", "write_data"}),
        frozenset({"write_enable", "write_address", "write_data"}),
        frozenset({"read_enable", "address", "read_data"}),
        frozenset({"read_enable", "read_address", "read_data"}),
    ),
    kinds=("memory", ""),
)
STREAM = PortStyle(
    "stream",
    "Stream with valid and ready",
    (*_words("valid=valid,vld,val,v"), *_words("ready=ready,rdy,accept,r", initiator=False)),
    (frozenset({"valid", "ready"}),),
    payload=True,
)

#: In the order in which a top's signals are offered to them: what is more distinctive goes first.
STYLES = (AXI4, AXI_LITE, AXI_STREAM, APB, WISHBONE, AVALON_MM, FIFO_READ, FIFO_WRITE, MEMORY, STREAM)
