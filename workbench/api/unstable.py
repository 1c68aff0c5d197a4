"""What the built-in plugins need beyond `workbench.api`. Nothing is promised of it: it changes with any version."""

from typing import TYPE_CHECKING

from workbench.api.lazy import loads

if TYPE_CHECKING:
    from workbench.api.queries import Curve, Curves
    from workbench.api.waveforms import scopes_of, state_changes, state_texts, write_states_vcd
    from workbench.model.application import STREAM_TOP, StreamSignals, VhdlStandard
    from workbench.model.blocks import as_target, below_top, fpga_of, rank_of
    from workbench.model.changes import Depth, ScaleHost, ScaleState
    from workbench.model.custom import MOST_VALUE_BITS, ValueType
    from workbench.model.cycles import cycle_start_ps, cycle_starts_ps, faster_hz, period_ps, trillionths
    from workbench.model.diagnostic import OfProject, OfTemplate, did_you_mean, unknown_name
    from workbench.model.exits import exit_words, signal_words
    from workbench.model.hardware import PortDirection
    from workbench.model.kernel_board import KernelBoard
    from workbench.model.links import link_words
    from workbench.model.messages import Message, call_messages, rank_messages
    from workbench.model.network import BY_PAIRS, OF_NODES, Network, nodes_described, unequal_lists
    from workbench.model.opened import opened, opened_names
    from workbench.model.platform import EXPRESSIONS, NO_DATA_MOVES, Host, QueueEntry, TransferTable
    from workbench.model.pragma import COMMUNICATION, CPU, WAITS
    from workbench.model.prediction import Prediction, Trust
    from workbench.model.prototypes import (
        HandleTypes,
        handle_of,
        handle_types,
        handles,
        is_plain,
        object_class,
        pointed_type,
        type_of,
        without_card,
        words_of_calls,
    )
    from workbench.model.read_out import WATCH, Access, Act, AgentSettings, Marks, MonitorWords, ReadOut, ReadOutPlan
    from workbench.model.run import Cores
    from workbench.model.run_tables import MOST_AMOUNT
    from workbench.model.scan import ApiFunction, ApiHeader, StateRegister, StateValue, Term, WrongExpression
    from workbench.model.simulation import Simulation
    from workbench.model.streaming import MOST_DEPTH, MOST_THREADS, Streaming
    from workbench.model.streams import Fifo, Stream, StreamWait
    from workbench.model.text import (
        NARROW,
        attribute_text,
        duration_text,
        prefixed,
        scientific,
        significant,
        thousands,
        times,
        value_text,
    )
    from workbench.model.topology import (
        ANY_CORE,
        CARD,
        CLOCKS,
        DEFAULT_DEPTH,
        GENERATED,
        MAIN,
        RESETS,
        RUNS,
        TYPE_BYTES,
        At,
        BlockKind,
        Config,
        End,
        Implementation,
        Language,
        MappedTo,
        Resource,
        StreamBlock,
        StreamEdge,
        Topology,
        TypedPort,
        Value,
        Way,
    )
    from workbench.model.transfer_time import table_points_ps, transfer_s
    from workbench.system.cache import cache_dir
    from workbench.system.confine import ANY_NAME, Confinement, confine, read_only, reads_only
    from workbench.system.files import SOURCE_LIMIT, read_file, read_regular, real, replace_file, sha256, write_files
    from workbench.system.process import ENGLISH, ProcessResult, Supervised, run_program
    from workbench.system.toolchain import (
        VERILATOR_SOUND,
        Tool,
        clang_command,
        find_clang,
        find_compiler,
        find_ghdl,
        find_verilator,
        find_yosys,
        symbols,
        verilator_environment,
        versions,
    )
else:
    __getattr__ = loads(__name__, __file__)
