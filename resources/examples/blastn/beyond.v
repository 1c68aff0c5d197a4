// Stage 2b in hardware: a match is extended to both sides, a base a cycle, until its score has fallen by DROP below the
// best one. Only what then scores LEAST goes on. The database is in a memory, which is filled after a reset.
module beyond #(
    parameter [31:0] bases   = 3000,
    parameter [31:0] queries = 16,
    parameter [31:0] seed    = 1
) (
    input             clk,
    input             rst,
    input      [63:0] x_tdata,
    input             x_tlast,
    input             x_tvalid,
    output            x_tready,
    output reg [63:0] y_tdata,
    output reg        y_tlast,
    output reg        y_tvalid,
    input             y_tready
);
    localparam WORD = 8, QUERY = 128, DROP = 6, LEAST = 24;
    localparam IDLE = 0, RIGHT = 1, LEFT = 2, SCORED = 3;

    reg  [1:0] database [0:bases-1];
    wire [31:0] filled;
    wire  [1:0] filling;
    wire fills, full;
    genome #(.bases(bases), .queries(queries), .seed(seed)) content (.clk(clk), .rst(rst), .at(filled), .base(filling),
                                                                     .valid(fills), .ended(full));

    reg  [1:0] state;
    reg [14:0] query;
    reg [31:0] last;      // base of the word, in the database
    reg  [7:0] place;     // of the word, in the query
    reg  [7:0] count;     // bases of this side that were asked for
    reg        read;      // the pair of bases is there of which this one is the latest,
    reg        outside;   // or one of them would be beyond an end
    reg  [1:0] held, asked;
    reg signed [8:0] score, best;
    reg  [7:0] both;

    wire signed [9:0]  offset   = state == RIGHT ? WORD + count : -1 - $signed({2'd0, count});
    wire signed [9:0]  of_query = $signed({2'd0, place}) + offset;
    wire        [31:0] from     = last + 1 - WORD;
    wire signed [32:0] of_base  = $signed({1'b0, from}) + offset;
    wire  [1:0] base;
    query_base #(.seed(seed)) of_place (.query({17'd0, query}), .place({22'd0, of_query}), .base(base));
    wire signed [8:0] next = held == asked ? score + 9'sd1 : score - 9'sd3;

    wire walks = state == RIGHT || state == LEFT;
    wire ends  = read && (outside || score <= best - DROP);
    wire free  = !y_tvalid || y_tready;

    assign x_tready = full && state == IDLE && free;

    always @(posedge clk) begin
        if (fills) database[filled] <= filling;
        held    <= database[of_base[31:0]];
        asked   <= base;
        outside <= of_query < 0 || of_query >= QUERY || of_base < 0 || of_base >= $signed({1'b0, bases});
        read    <= walks && !ends;
        if (y_tready) y_tvalid <= 0;
        if (x_tvalid && x_tready) begin
            {y_tlast, y_tdata} <= {x_tlast, x_tdata};
            y_tvalid <= x_tlast || x_tdata[63];
            {query, last, place} <= {x_tdata[62:16], x_tdata[7:0]};
            {count, score, best, both} <= {26'd0, 8'd8};
            if (!x_tlast && !x_tdata[63]) state <= RIGHT;
        end
        if (walks) count <= count + 1;
        if (ends) begin
            both <= both + best[7:0];
            {count, score, best} <= 0;
            state <= state + 1;
        end else if (read) begin
            score <= next;
            if (next > best) best <= next;
        end
        if (state == SCORED) begin
            y_tdata[15:8] <= both;
            y_tvalid <= both >= LEAST;
            state <= IDLE;
        end
        if (rst) begin
            {read, y_tvalid, y_tlast} <= 0;
            state <= IDLE;
        end
    end
endmodule
