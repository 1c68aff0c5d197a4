// Counts, over a frame, in how many cycles or for how many events a value lay in each bin, in two banks of memory:
// while one counts, the other one is read out, and cleared word by word.
//
// A bin's count is read in the cycle of its sample, and written back one larger in the next. Where the same bin
// follows, what is being written is taken instead of what was read. So every sample is counted, whatever bins follow
// one another.
module agent_histogram #(
    parameter BIN_BITS = 4,
    parameter BINS = 16
) (
    input  wire clock,
    input  wire reset,
    input  wire sample,
    input  wire [BIN_BITS-1:0] bin,
    input  wire frame_end,
    input  wire selected,       // its words are wanted
    input  wire take,           // and this one is taken
    output wire ready,
    output wire last,
    input  wire [31:0] word_in, // the words of a group's memories are joined by OR
    output wire [31:0] word
);
    (* ram_style = "block", no_rw_check *) reg [31:0] bank_0 [0:(1<<BIN_BITS)-1];
    (* ram_style = "block", no_rw_check *) reg [31:0] bank_1 [0:(1<<BIN_BITS)-1];
    localparam LAST = BINS - 1;
    integer i;
    initial
        for (i = 0; i < 1 << BIN_BITS; i = i + 1) begin
            bank_0[i] = 0;
            bank_1[i] = 0;
        end

    reg active, pending, pending_bank, written, written_bank, fetched;
    reg [BIN_BITS-1:0] pending_bin, written_bin, place;
    reg [31:0] read_0, read_1, written_count;

    wire again = written & written_bank == pending_bank & written_bin == pending_bin;
    wire [31:0] count = (again ? written_count : pending_bank ? read_1 : read_0) + 1'b1;
    wire clear = selected & take;
    wire write_0 = (pending & ~pending_bank) | (clear & active);
    wire write_1 = (pending & pending_bank) | (clear & ~active);
    wire [BIN_BITS-1:0] to_0 = pending & ~pending_bank ? pending_bin : place;
    wire [BIN_BITS-1:0] to_1 = pending & pending_bank ? pending_bin : place;

    always @(posedge clock) begin
        read_0 <= bank_0[active ? place : bin];
        if (write_0) bank_0[to_0] <= pending & ~pending_bank ? count : 32'd0;
    end
    always @(posedge clock) begin
        read_1 <= bank_1[active ? bin : place];
        if (write_1) bank_1[to_1] <= pending & pending_bank ? count : 32'd0;
    end
    always @(posedge clock) begin
        pending <= sample & ~reset;
        pending_bin <= bin;
        pending_bank <= active;
        written <= pending;
        written_bin <= pending_bin;
        written_bank <= pending_bank;
        written_count <= count;
        active <= ~reset & (active ^ frame_end);
        fetched <= selected & ~take;
        if (reset | frame_end) place <= 0;
        else if (clear) place <= place + 1'b1;
    end

    assign ready = fetched;
    assign last = place == LAST[BIN_BITS-1:0];
    assign word = word_in | (~selected ? 32'd0 : active ? read_0 : read_1);
endmodule
