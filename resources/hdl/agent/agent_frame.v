// Where the frames of a group end: after so many cycles, or so many elements, or where it is asked. A frame whose end
// comes while the frame before is still being read out goes on to the next such end, so that nothing is left
// uncounted.
module agent_frame #(
    parameter ELEMENTS = 0      // after so many of these, not of cycles
) (
    input  wire clock,
    input  wire reset,
    input  wire counts,         // this cycle is there
    input  wire element,        // one passed in it
    input  wire [31:0] length,  // of frames from the reset on, or from when it changes
    input  wire finish,         // the host asks for what there is
    input  wire set_length,     // frames' length from the next end on
    input  wire [31:0] new_length,
    input  wire free,
    input  wire [47:0] next,    // how many cycles there were with this one
    output wire frame_end,      // this cycle is the frame's last
    output reg  [31:0] number,
    output reg  [47:0] start,   // of the frame that ended last
    output reg  [47:0] stop,
    output reg  [31:0] since    // cycles that this frame lasts so far
);
    reg [31:0] place, limit, length_1;
    reg asked;
    reg [47:0] began;
    wire steps = ELEMENTS != 0 ? element : counts;
    wire due = steps & place >= limit - 1'b1;
    assign frame_end = ~reset & free & (due | asked);

    always @(posedge clock) length_1 <= length;
    always @(posedge clock)
        if (reset) begin
            place <= 0;
            limit <= length;
            asked <= 0;
            began <= 0;
            number <= 0;
            since <= 0;
        end else begin
            if (due) place <= 0;
            else if (steps) place <= place + 1'b1;
            if (set_length & ELEMENTS == 0) limit <= new_length;
            else if (length != length_1) limit <= length;
            asked <= finish | (asked & ~frame_end);
            since <= frame_end ? 32'd0 : since + {31'd0, counts};
            if (frame_end) begin
                number <= number + 1'b1;
                start <= began;
                stop <= next;
                began <= next;
            end
        end
endmodule
