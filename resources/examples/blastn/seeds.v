// Stage 1a in hardware: a word goes on if both its places in a Bloom filter of the query's words are set; each base
// goes on to stage 2a. The filter is filled in the first 128 cycles, and again where a pass for another query begins.
module seeds #(
    parameter [31:0] algorithm = 3,
    parameter [31:0] interval  = 100,
    parameter [31:0] seed      = 1
) (
    input             clk,
    input             rst,
    input      [63:0] x_tdata,
    input             x_tlast,
    input             x_tvalid,
    output            x_tready,
    output reg [63:0] words_tdata,
    output reg        words_tlast,
    output reg        words_tvalid,
    input             words_tready,
    output reg [63:0] db_tdata,
    output reg        db_tlast,
    output reg        db_tvalid,
    input             db_tready
);
    reg  [4095:0] filter;
    reg  [15:0]   word;
    reg  [60:0]   since; // the place of the message from which silence counts
    reg           both;  // a message without a match is still to follow
    wire          ready;
    wire [7:0]    place;
    wire [1:0]    of_query;
    reg  [28:0]   query;

    wire [60:0] at    = x_tdata[62:2];
    wire        last  = x_tdata[63]; // of its pass
    wire        other = x_tvalid && !x_tlast && x_tdata[62:34] != query;
    wire        again = ready && !both && other;

    query_bases #(.seed(seed)) bases (.clk(clk), .rst(rst), .restart(again), .query({3'd0, query}), .base(of_query),
                                      .at(place), .ready(ready));

    wire [15:0] next   = {word[13:0], ready ? x_tdata[1:0] : of_query};
    wire [11:0] first  = next[11:0] ^ next[15:4];
    wire [31:0] fifth  = {16'd0, next} * 5 + {23'd0, next[15:7]};
    wire [11:0] second = fifth[11:0];
    wire        passes = x_tdata[33:2] >= 7 && filter[first] && filter[second];
    wire        long   = at - (passes && algorithm == 3 ? at : since) >= {29'd0, interval};
    wire        silent = algorithm == 1 ? !passes : algorithm >= 2 && long;
    wire        due    = silent || last;
    wire        taken  = x_tvalid && x_tready;

    assign x_tready = ready && !other && !both && (!words_tvalid || words_tready) && (!db_tvalid || db_tready);

    always @(posedge clk) begin
        if (words_tready) words_tvalid <= 0;
        if (db_tready) db_tvalid <= 0;
        if (!ready) begin
            word <= next;
            if (place >= 7) begin
                filter[first]  <= 1;
                filter[second] <= 1;
            end
        end
        if (again) begin
            query  <= x_tdata[62:34];
            filter <= 0;
        end
        if (both && (!words_tvalid || words_tready)) begin
            words_tdata  <= {1'b1, db_tdata[48:2], 16'd0};
            words_tvalid <= 1;
            both <= 0;
        end
        if (taken) begin
            {db_tlast, db_tdata} <= {x_tlast, x_tdata};
            db_tvalid <= 1;
            words_tlast <= x_tlast;
            words_tdata <= passes ? {1'b0, at[46:0], next} : {1'b1, at[46:0], 16'd0};
            words_tvalid <= x_tlast || passes || due;
            if (!x_tlast) begin
                word <= next;
                both <= passes && due;
                if (silent || (passes && algorithm == 3)) since <= at;
            end
        end
        if (rst) begin
            filter <= 0;
            query <= 0;
            word <= 0;
            since <= 0;
            {both, words_tvalid, db_tvalid} <= 0;
        end
    end
endmodule
