"""What the signals of the built-in kinds of ports are called."""

from workbench.api import Handshake, PortStyle, Role, words


def _axi(channel: str, fields: str, *, initiator: bool = True) -> tuple[Role, ...]:
    """Signals of an AXI channel (`awvalid`, `aw_valid`), each with its width; one without a width is recognised by its
    name alone."""
    rows = (field.partition(":") for field in fields.split())
    return tuple(
        Role(channel + name, (channel + name, f"{channel}_{name}"), initiator,
             int(bits) if bits.isdigit() else bits or "any", driven=bool(bits))
        for name, _, bits in rows
    )  # fmt: skip


_REQUEST = "addr:any valid:1 len:any size:3 burst:2 id:any prot:3 lock:any cache:4 qos:4 region:4 user atop"
_AXI = (
    *_axi("aw", _REQUEST),
    *_axi("ar", _REQUEST),
    *_axi("w", "data:word strb:bytes last:1 valid:1 user id"),
    *_axi("b", "ready:1"),
    *_axi("r", "ready:1"),
    *(role for channel in ("aw", "ar", "w") for role in _axi(channel, "ready:1", initiator=False)),
    *_axi("b", "id:any resp:2 valid:1 user", initiator=False),
    *_axi("r", "id:any data:word resp:2 last:1 valid:1 user", initiator=False),
)
#: What only a design that is asked knows of a request.
AXI_TARGET = frozenset(way + field for way in ("aw", "ar") for field in ("prot", "lock", "cache", "qos", "region"))
_AXI_HANDSHAKES = tuple(
    Handshake(f"{name}valid", f"{name}ready", data=(data,))
    for name, data in (("aw", "awaddr"), ("w", "wdata"), ("b", "bresp"), ("ar", "araddr"), ("r", "rdata"))
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
    handshakes=_AXI_HANDSHAKES,
    needed=_AXI_NEEDS[0] | _AXI_NEEDS[1] | {"awlen", "arlen", "wlast", "rlast"},
)
AXI_LITE = PortStyle(
    "axi_lite",
    "AXI4-Lite",
    _AXI,
    _AXI_NEEDS,
    inner=True,
    without=frozenset({"awlen", "arlen"}),
    handshakes=_AXI_HANDSHAKES,
    needed=_AXI_NEEDS[0] | _AXI_NEEDS[1],
)
AXI_STREAM = PortStyle(
    "axi_stream",
    "AXI4-Stream",
    (
        *words("tdata", bits="word"),
        *words("tvalid"),
        *words("tready", initiator=False),
        *words("tlast"),
        *words("tkeep tstrb", bits="bytes"),
        *words("tuser tid tdest", bits="any", driven=False),
    ),
    (frozenset({"tvalid", "tready"}), frozenset({"tvalid", "tdata"}), frozenset({"tvalid", "tlast"})),
    inner=True,
    sides=("in", "out"),
    answers=frozenset({"tready"}),
    handshakes=(Handshake("tvalid", "tready", data=("tdata",), last="tlast"),),
    needed=frozenset({"tdata", "tvalid"}),
)
AVALON_ST = PortStyle(
    "avalon_st",
    "Avalon-ST",
    (
        *words("data", bits="word"),
        *words("valid"),
        *words("ready", initiator=False),
        *words("startofpacket=startofpacket,sop endofpacket=endofpacket,eop"),
        *words("empty", bits="any"),
    ),
    (frozenset({"valid", "startofpacket", "endofpacket"}),),
    inner=True,
    sides=("in", "out"),
    answers=frozenset({"ready"}),
    handshakes=(Handshake("valid", "ready", data=("data",), first="startofpacket", last="endofpacket"),),
    needed=frozenset({"data", "valid"}),
)
AVALON_MM = PortStyle(
    "avalon_mm",
    "Avalon-MM",
    (
        *words("address", bits="any"),
        *words("read write"),
        *words("writedata", bits="word"),
        *words("readdata", initiator=False, bits="word"),
        *words("byteenable", bits="bytes"),
        *words("burstcount", bits="any"),
        *words("waitrequest readdatavalid", initiator=False),
        *words("chipselect begintransfer lock", driven=False),
        *words("writeresponsevalid", initiator=False, driven=False),
        *words("response", initiator=False, bits="any", driven=False),
    ),
    (frozenset({"read", "readdata"}), frozenset({"write", "writedata", "address"})),
    inner=True,
    needed=frozenset({"address", "read", "write", "writedata", "readdata"}),
)
WISHBONE = PortStyle(
    "wishbone",
    "Wishbone",
    (
        *words("cyc stb we"),
        *words("adr=adr,addr", bits="any"),
        *words("dat_w=dat_w,dat_mosi,wdata,dat,data", bits="word"),
        *words("sel", bits="bytes"),
        *words("cti", bits=3),
        *words("bte", bits=2),
        *words("dat_r=dat_r,dat_miso,rdata,idata,rdt,dat,data", initiator=False, bits="word"),
        *words("ack err rty stall", initiator=False),
    ),
    (frozenset({"cyc", "stb", "ack"}), frozenset({"stb", "ack", "adr"})),
    glued=True,
    needed=frozenset({"stb", "we", "adr", "dat_w", "dat_r", "ack"}),
)
MEMORY = PortStyle(
    "memory",
    "Memory",
    (
        *words(
            "read_enable=re,ren,rd,rden,read,read_en,read_enable,rd_en,rd_enable,rd_valid,rd_strobe,rd_stb "
            "enable=en,ce,cs,req,sel,select,chip_select,stb,strobe,valid"
        ),
        *words(
            "write_enable=we,wen,wr,wren,write,write_en,write_enable,wr_en,wr_enable,wr_valid,wr_strobe,wr_stb "
            "write_address=waddr,wr_addr,write_addr,write_address,wr_address,wa "
            "read_address=raddr,rd_addr,read_addr,read_address,rd_address,ra "
            "write_data=wdata,wr_data,write_data,writedata,din,data_w,data,di mask=wmask,be,wstrb,wben,wr_strb",
            bits="any",
        ),
        *words("address=addr,adr,address", bits="any", also=("write_address", "read_address")),
        *words("read_data=rdata,rd_data,read_data,readdata,dout,data_r,q,data,do", initiator=False, bits="any"),
        *words("read_valid=rvalid,rdata_valid,read_data_valid", initiator=False),
    ),
    (
        frozenset({"write_enable", "address", "write_data"}),
        frozenset({"write_enable", "write_address", "write_data"}),
        frozenset({"read_enable", "address", "read_data"}),
        frozenset({"read_enable", "read_address", "read_data"}),
    ),
    everyday=True,
)
#: Told by no name: a link's ends, and a plain memory port of the design's own.
LINK = PortStyle(
    "link",
    "Link",
    (
        *words("valid"),
        *words("ready", initiator=False),
        *words("data", bits="any"),
        *words("last"),
    ),
    (frozenset({"valid", "ready", "data"}),),
    handshakes=(Handshake("valid", "ready", data=("data",), last="last"),),
)
MEMORY_MASTER = PortStyle(
    "memory_master",
    "Memory",
    (
        *words("enable"),
        *words("address", bits="any"),
        *words("write_enable"),
        *words("byte_enable", bits="bytes"),
        *words("write_data", bits="word"),
        *words("read_data", initiator=False, bits="word"),
        *words("grant valid", initiator=False),
    ),
    (frozenset({"enable", "address"}),),
)
