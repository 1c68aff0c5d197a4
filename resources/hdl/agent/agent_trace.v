// Keeps, over a frame, when something happened (cycles since the frame began) and its value, in two banks of memory:
// while one is filled, the other one is read out. Records for which there is no room are counted. Words: records,
// lost, then each record.
module agent_trace #(
    parameter VALUE_BITS = 1,   // up to 132
    parameter KEY_BITS = VALUE_BITS, // the low bits whose changes are of account, where STATE
    parameter ROOM_BITS = 6,
    parameter VALUE_WORDS = 1,
    parameter STATE = 0         // instead of samples: what a frame begins with, and what differs from the cycle before
) (
    input  wire clock,
    input  wire reset,
    input  wire counts,         // this cycle is there
    input  wire sample,
    input  wire [VALUE_BITS-1:0] value,
    input  wire [31:0] since,
    input  wire frame_end,
    input  wire selected,
    input  wire take,
    output wire ready,
    output wire last,
    input  wire [31:0] word_in, // the words of a group's memories are joined by OR
    output reg  [31:0] word
);
    localparam BITS = 32 + 32 * VALUE_WORDS;
    localparam PART_BITS = VALUE_WORDS > 2 ? 3 : 2;
    localparam ROOM = VALUE_WORDS > 2 ? 256 : 96; // in which a word is looked up
    (* ram_style = "block", no_rw_check *) reg [BITS-1:0] records [0:(2<<ROOM_BITS)-1];
    reg active, first, fetched;
    reg [ROOM_BITS:0] used, held, place;
    reg [31:0] lost, held_lost;
    reg [PART_BITS-1:0] part;    // of a record
    reg [1:0] head;        // 0: the number of records, 1: those lost, 2: records
    reg [BITS-1:0] record;

    reg [KEY_BITS-1:0] earlier;
    wire wanted = ~reset & (STATE ? counts & (first | value[KEY_BITS-1:0] != earlier) : sample);
    wire full = used[ROOM_BITS];
    wire [ROOM_BITS:0] used_now = used + {{ROOM_BITS{1'b0}}, wanted & ~full};
    wire [31:0] lost_now = lost + {31'd0, wanted & full};
    wire taken = selected & take;

    always @(posedge clock) begin
        if (wanted & ~full)
            records[{active, used[ROOM_BITS-1:0]}] <= {{(32 * VALUE_WORDS - VALUE_BITS){1'b0}}, value, since};
        record <= records[{~active, place[ROOM_BITS-1:0]}];
    end
    always @(posedge clock) begin
        if (counts) earlier <= value[KEY_BITS-1:0];
        first <= reset | frame_end | (first & ~counts);
        used <= reset | frame_end ? {(ROOM_BITS + 1){1'b0}} : used_now;
        lost <= reset | frame_end ? 32'd0 : lost_now;
        fetched <= selected & ~take;
        active <= ~reset & (active ^ frame_end);
        if (reset | frame_end) begin
            held <= used_now;
            held_lost <= lost_now;
            place <= 0;
            part <= 0;
            head <= 0;
        end else if (taken) begin
            if (head != 2) head <= head + 1'b1;
            else if (part == VALUE_WORDS) begin
                part <= 0;
                place <= place + 1'b1;
            end else part <= part + 1'b1;
        end
    end

    wire [ROOM_BITS:0] after = place + 1'b1;
    assign ready = fetched;
    assign last = head == 2 ? part == VALUE_WORDS & after == held : head == 1 & held == 0;
    wire [ROOM-1:0] wide = {{(ROOM - BITS){1'b0}}, record};
    always @*
        if (~selected) word = word_in;
        else if (head == 0) word = word_in | {{(31 - ROOM_BITS){1'b0}}, held};
        else if (head == 1) word = word_in | held_lost;
        else word = word_in | wide[32*part +: 32];
endmodule
