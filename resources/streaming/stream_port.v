// The edges between processor and FPGA, behind a memory-style port of 32-bit words (the host's side is card.hpp).
// Element i of an edge is ceil(WIDTH / 32) consecutive words of its window, the low word first.

// Into the FPGA: words written to the window become elements. The host asks for the room before it writes.
module stream_in #(
    parameter WIDTH = 32
) (
    input              clk,
    input              rst,
    input              write,     // a word to the window
    input              close,     // the stream ends
    input      [31:0]  written,
    output [WIDTH-1:0] m_tdata,
    output             m_tlast,
    output             m_tvalid   // for one cycle
);
    localparam WORDS = (WIDTH + 31) / 32;
    wire [32*WORDS-1:0] element;
    wire complete;

    generate
        if (WORDS == 1) begin : one
            assign element  = written;
            assign complete = write;
        end else begin : two
            reg [31:0] low;
            reg        half;
            assign element  = {written, low};
            assign complete = write && half;
            always @(posedge clk) begin
                if (write) {half, low} <= {!half, half ? low : written};
                if (rst) half <= 0;
            end
        end
    endgenerate
    assign m_tdata  = element[WIDTH-1:0];
    assign m_tlast  = close;
    assign m_tvalid = complete || close;
endmodule

// Out of the FPGA: words read from the window take the elements. `wanted` tells that the host had better look.
module stream_out #(
    parameter WIDTH = 32,
    parameter BULK  = 256,  // elements
    parameter FLUSH = 20000 // cycles that an element waits for others
) (
    input              clk,
    input              rst,
    input  [WIDTH-1:0] s_tdata,
    output             s_tready,
    input      [31:0]  count,
    input              ended,
    input              read,      // a word of the window
    input              looked,    // the host reads what is there
    output     [31:0]  word,
    output     [31:0]  there,     // elements, and in bit 31 whether no more come
    output             wanted
);
    localparam WORDS = (WIDTH + 31) / 32;
    wire [32*WORDS-1:0] element = {{32*WORDS-WIDTH{1'b0}}, s_tdata};
    reg [31:0] waited;
    reg        told;

    generate
        if (WORDS == 1) begin : one
            assign word     = element;
            assign s_tready = read;
        end else begin : two
            reg half;
            assign word     = half ? element[63:32] : element[31:0];
            assign s_tready = read && half;
            always @(posedge clk) half <= !rst && (half ^ read);
        end
    endgenerate

    wire [30:0] elements = count[30:0] - ended;  // its mark stays in the queue
    assign there  = {ended, elements};
    assign wanted = elements >= BULK || waited >= FLUSH || (ended && !told);
    always @(posedge clk) begin
        waited <= elements == 0 || read ? 0 : waited + (waited < FLUSH);
        told   <= told || (looked && ended && elements == 0);
        if (rst) begin
            waited <= 0;
            told   <= 0;
        end
    end
endmodule

// The end of what a block gives that does not tell it: the end has come on all ways into it, and since then nothing came
// out for a while.
module stream_end #(
    parameter QUIET = 20000 // cycles
) (
    input  clk,
    input  rst,
    input  over, // all that goes in
    input  made, // an element comes out
    output ends
);
    reg [31:0] quiet;
    assign ends = quiet == QUIET;
    always @(posedge clk) quiet <= rst || !over || made ? 0 : quiet + !ends;
endmodule
