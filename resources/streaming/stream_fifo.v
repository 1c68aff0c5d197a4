// A queue on the FPGA: an edge of a streaming application, or the FPGA's part of one. It holds DEPTH elements; the
// element at its head stands at its output. `last` marks the stream's end, which is an element without a value.
module stream_fifo #(
    parameter WIDTH  = 32,
    parameter DEPTH  = 64,
    parameter SIGNED = 0,
    parameter EDGE   = 0,  // its number in the application; -1: it is none of its
    parameter LABEL  = ""
) (
    input                  clk,
    input                  rst,
    input      [WIDTH-1:0] s_tdata,
    input                  s_tlast,
    input                  s_tvalid,
    output                 s_tready,
    output     [WIDTH-1:0] m_tdata,
    output                 m_tlast,
    output                 m_tvalid,
    input                  m_tready,
    output reg [31:0]      count,
    output reg             ended    // the end went in
);
    localparam END_MARK = 1; // tells who counts what passes that no element goes with s_tlast and m_tlast
    localparam PLACE = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam [31:0] LAST = DEPTH - 1;

    reg [WIDTH:0]   elements [0:DEPTH-1];
    reg [PLACE-1:0] head, tail;
    wire push = s_tvalid && s_tready;
    wire pop  = m_tvalid && m_tready;

    assign s_tready = count != DEPTH;
    assign m_tvalid = count != 0;
    assign {m_tlast, m_tdata} = elements[head];

    always @(posedge clk) begin
        if (push) begin
            elements[tail] <= {s_tlast, s_tdata};
            tail <= tail == LAST[PLACE-1:0] ? 0 : tail + 1'b1;
        end
        if (pop) head <= head == LAST[PLACE-1:0] ? 0 : head + 1'b1;
        count <= count + push - pop;
        ended <= ended || (push && s_tlast);
        if (rst) begin
            head  <= 0;
            tail  <= 0;
            count <= 0;
            ended <= 0;
        end
    end

`ifdef RECAP_SIMULATED_CARD
    // A traced run of the simulated card keeps every push and pop (resources/card/card.cpp).
    import "DPI-C" function void rcw_queue(input int number, input int what, input longint bits);
    import "DPI-C" function void rcw_fail(input string message);
    localparam PUSH = 0, POP = 1, BLOCKED = 2, WAITING = 3;
    reg blocked, waiting;
    wire blocks = s_tvalid && !s_tready, waits = m_tready && !m_tvalid;

    always @(posedge clk) begin
        if (!rst && EDGE >= 0) begin
            if (push && !s_tlast) rcw_queue(EDGE, PUSH, {{64-WIDTH{SIGNED != 0 && s_tdata[WIDTH-1]}}, s_tdata});
            if (pop && !m_tlast) rcw_queue(EDGE, POP, 0);
            if (push && ended)
                rcw_fail({"an element came to the edge ", LABEL, " after the end of its stream: give its block a tlast, ",
                          "or a greater streaming.flush_us, for which it is quiet before its stream is taken to end"});
            if (blocks != blocked) rcw_queue(EDGE, BLOCKED, {63'b0, blocks});
            if (waits != waiting) rcw_queue(EDGE, WAITING, {63'b0, waits});
        end
        blocked <= blocks && !rst;
        waiting <= waits && !rst;
    end
`endif
endmodule
