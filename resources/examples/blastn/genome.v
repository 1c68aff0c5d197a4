// The database of stages.x, a base a cycle after a reset; each piece of it begins with 33 cycles without a base.
module genome #(
    parameter [31:0] bases   = 3000,
    parameter [31:0] queries = 16,
    parameter [31:0] seed    = 1
) (
    input             clk,
    input             rst,
    output reg [31:0] at,
    output      [1:0] base,
    output            valid,
    output            ended
);
    localparam EVERY = 701, GAPPED = 48, QUERY = 128;

    reg  [31:0] piece;
    reg   [9:0] offset;         // of the piece
    reg   [5:0] step;           // 0: a piece begins; 1 to 32: divisions, a bit each; 33: its bases
    reg  [31:0] query, first;   // remainders: the query of which the piece has a part, and where that begins
    reg  [31:0] of_query, of_first;
    reg         leaves_out;     // a base in the middle

    wire [31:0] number, other, third;
    mixed query_number (.x(piece + 55 * seed), .y(number));
    mixed first_number (.x(piece + 77 * seed), .y(other));
    mixed leaves_number (.x(piece + 5 * seed), .y(third));
    wire [32:0] next_query = {query, of_query[31]}, next_first = {first, of_first[31]};

    wire  [1:0] copied;
    wire [31:0] changes, background;
    query_base #(.seed(seed)) of_place (.query(query), .base(copied),
                                        .place(first + offset + (leaves_out && offset >= GAPPED / 2)));
    mixed change_number (.x(at + 991 * seed), .y(changes));
    mixed background_number (.x(seed * 32'h20003 + 32'h5000000 + at), .y(background));

    assign ended = at == bases;
    assign valid = step == 33 && !ended;
    assign base  = offset < GAPPED && changes[3:0] != 0 ? copied : background[1:0];

    always @(posedge clk) begin
        if (step == 0) begin
            {query, first} <= 0;
            {of_query, of_first, leaves_out} <= {number, other, third[0]};
            step <= 1;
        end else if (step <= 32) begin
            query <= next_query >= queries ? next_query - queries : next_query;
            first <= next_first >= QUERY - GAPPED - 1 ? next_first - (QUERY - GAPPED - 1) : next_first;
            of_query <= of_query << 1;
            of_first <= of_first << 1;
            step <= step + 1;
        end else if (valid) begin
            at <= at + 1;
            offset <= offset + 1;
            if (offset == EVERY - 1) {piece, offset, step} <= {piece + 32'd1, 16'd0};
        end
        if (rst) {at, piece, offset, step} <= 0;
    end
endmodule
