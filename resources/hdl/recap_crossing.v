// Leads what is asked of all monitors to one of them, whose words are those from FIRST on, and its word back. Where the
// monitor has another clock (FAR) both cross between the clocks:
//
// What is asked is held in `held` while `ask`, which has changed, goes through two registers of the other clock; it acts there
// in one cycle. Eight cycles of that clock later its word is held in `told` while `done`, which follows `ask`, comes back through
// two registers. Nothing is asked before the answer is there, so `held` and `told` change only while nobody looks at them.
//
// Constraints for a board's tools: false paths to ask_1 and done_1; from held and told at most a cycle of the clock that takes
// them, or false paths too: two cycles and more pass before they are looked at.
//
// A clock that stands does not hold the port: after 2**LIMIT_BITS - 1 cycles it is `late`, and its words read 0 until CONTROL is
// written anew and it answers. So the monitor's first own word, which is never 0, tells.
module recap_crossing #(
    parameter FIRST = 0,
    parameter WORDS = 8,
    parameter BITS = 8,        // of a word's number within the monitor; 3 at least
    parameter FAR = 1,
    parameter LIMIT_BITS = 6
) (
    input  wire clock,
    input  wire write_control,
    input  wire write_select,
    input  wire [31:0] write_data,
    output wire [31:0] word,           // 0 where another monitor's is asked for
    output wire frozen,                // of another clock: as its last answer says
    output wire clearing,
    output wire answered,              // the last thing that was asked is done
    input  wire far_clock,             // the monitor's
    output wire far_write_control,
    output wire far_write_select,
    output wire [31:0] far_write_data,
    input  wire [31:0] far_word,
    input  wire far_frozen,
    input  wire far_clearing
);
`ifdef RECAP_UNCOUNTED
    assign word = 0, frozen = 0, clearing = 0, answered = 1, far_write_control = 0, far_write_select = 0, far_write_data = 0;
`else
    // The first monitor's word 0 follows a write to CONTROL; its bit 2 speaks to the counter whose word is selected alone.
    reg chosen;
    initial chosen = FIRST == 0;
    wire [32:0] after = {1'b0, write_data} - FIRST;
    wire mine = after < WORDS;
    wire controls = write_control & (~write_data[2] | chosen);
    wire selects = write_select & mine;
    always @(posedge clock)
        if (write_control) chosen <= FIRST == 0;
        else if (write_select) chosen <= mine;

    generate
        if (!FAR) begin : near
            assign far_write_control = controls;
            assign far_write_select = selects;
            assign far_write_data = write_control ? write_data : after[31:0];
            assign word = chosen ? far_word : 32'd0;
            assign frozen = far_frozen;
            assign clearing = far_clearing;
            assign answered = 1'b1;
        end else begin : far
            reg ask, controlled, late;
            reg [BITS-1:0] held;
            (* async_reg = "true" *) reg done_1, done_2;
            reg [LIMIT_BITS-1:0] waited;
            (* async_reg = "true" *) reg ask_1, ask_2;
            reg ask_3, done;
            reg [6:0] steps;
            reg [33:0] told;
            initial begin
                ask = 0;
                controlled = 0;
                late = 0;
                held = 0;
                done_1 = 0;
                done_2 = 0;
                waited = 0;
                ask_1 = 0;
                ask_2 = 0;
                ask_3 = 0;
                done = 0;
                steps = 0;
                told = 0;
            end

            wire open = ask != done_2;
            wire asks = controls | selects;
            always @(posedge clock) begin
                done_1 <= done;
                done_2 <= done_1;
                if (asks & ~open) begin
                    ask <= ~ask;
                    controlled <= write_control;
                    held <= write_control ? write_data[BITS-1:0] : after[BITS-1:0];
                end
                waited <= open ? waited + 1'b1 : {LIMIT_BITS{1'b0}};
                if (open) late <= late | asks | (&waited);
                else if (controls) late <= 0;
            end
            assign word = chosen & ~open & ~late ? told[31:0] : 32'd0;
            assign frozen = told[32] & ~open & ~late;
            assign clearing = told[33] & ~open & ~late;
            assign answered = ~open | late;

            wire begins = ask_2 != ask_3;
            always @(posedge far_clock) begin
                ask_1 <= ask;
                ask_2 <= ask_1;
                ask_3 <= ask_2;
                steps <= {steps[5:0], begins};
                if (steps[6]) begin
                    told <= {far_clearing, far_frozen, far_word};
                    done <= ask_3;
                end
            end
            assign far_write_control = begins & controlled;
            assign far_write_select = begins & ~controlled;
            assign far_write_data = {{(32 - BITS){1'b0}}, held};
        end
    endgenerate
`endif
endmodule
