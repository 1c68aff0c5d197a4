"""What the signals of the built-in kinds of ports are called."""

from __future__ import annotations

from workbench.api import PortStyle, words
from workbench.api.port_styles import Handshake, Role


def _channel(name: str, fields: str, initiator: bool = True) -> tuple[Role, ...]:
    """An AXI channel: `awvalid`, `aw_valid`, and so on; its ready goes the other way."""
    found = [
        Role(name + field, (name + field, f"{name}_{field}"), initiator, field in ("valid", "last", "lock"))
        for field in ("valid", *fields.split())
    ]
    return (*found, Role(name + "ready", (name + "ready", name + "_ready"), not initiator))


_ADDRESS = "addr prot region qos cache user atop"
_AXI = (
    *_channel("aw", f"{_ADDRESS} id len size burst lock"),
    *_channel("w", "data strb last user id"),
    *_channel("b", "resp id user", initiator=False),
    *_channel("ar", f"{_ADDRESS} id len size burst lock"),
    *_channel("r", "data resp last id user", initiator=False),
)
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
)
AXI_LITE = PortStyle(
    "axi_lite",
    "AXI4-Lite",
    _AXI,
    _AXI_NEEDS,
    inner=True,
    without=frozenset({"awlen", "arlen"}),
    handshakes=_AXI_HANDSHAKES,
)
AXI_STREAM = PortStyle(
    "axi_stream",
    "AXI4-Stream",
    (
        *words("tvalid tlast"),
        *words("tdata tkeep tstrb tuser tid tdest", one_bit=False),
        *words("tready", initiator=False),
    ),
    (frozenset({"tvalid", "tready"}), frozenset({"tvalid", "tdata"}), frozenset({"tvalid", "tlast"})),
    inner=True,
    sides=("in", "out"),
    answers=frozenset({"tready"}),
    handshakes=(Handshake("tvalid", "tready", data=("tdata",)),),
)
AVALON_ST = PortStyle(
    "avalon_st",
    "Avalon-ST",
    (
        *words("valid startofpacket=startofpacket,sop endofpacket=endofpacket,eop"),
        *words("data empty", one_bit=False),
        *words("ready", initiator=False),
    ),
    (frozenset({"valid", "startofpacket", "endofpacket"}),),
    inner=True,
    sides=("in", "out"),
    answers=frozenset({"ready"}),
    handshakes=(Handshake("valid", "ready", data=("data",)),),
)
AVALON_MM = PortStyle(
    "avalon_mm",
    "Avalon-MM",
    (
        *words("read write chipselect begintransfer lock"),
        *words("address writedata byteenable burstcount", one_bit=False),
        *words("waitrequest readdatavalid writeresponsevalid", initiator=False),
        *words("readdata response", initiator=False, one_bit=False),
    ),
    (frozenset({"read", "readdata"}), frozenset({"write", "writedata", "address"})),
    inner=True,
)
WISHBONE = PortStyle(
    "wishbone",
    "Wishbone",
    (
        *words("cyc stb we"),
        *words("adr=adr,addr dat_w=dat_w,dat_mosi,wdata,dat,data sel cti bte", one_bit=False),
        *words("ack err rty stall", initiator=False),
        *words("dat_r=dat_r,dat_miso,rdata,idata,rdt,dat,data", initiator=False, one_bit=False),
    ),
    (frozenset({"cyc", "stb", "ack"}), frozenset({"stb", "ack", "adr"})),
    glued=True,
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
            one_bit=False,
        ),
        *words("address=addr,adr,address", one_bit=False, also=("write_address", "read_address")),
        *words("read_data=rdata,rd_data,read_data,readdata,dout,data_r,q,data,do", initiator=False, one_bit=False),
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
