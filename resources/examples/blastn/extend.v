// Stage 2a in hardware: a match is extended to both sides, a base a cycle, once the bases around it are there. A message of
// nothing goes on at the end of each pass of the database.
module extend #(
    parameter [31:0] seed = 1
) (
    input             clk,
    input             rst,
    input      [63:0] hits_tdata,
    input             hits_tlast,
    input             hits_tvalid,
    output            hits_tready,
    input      [63:0] db_tdata,
    input             db_tlast,
    input             db_tvalid,
    output            db_tready,
    output reg [63:0] y_tdata,
    output reg        y_tlast,
    output reg        y_tvalid,
    input             y_tready
);
    localparam WORD = 8, REACH = 16, LEAST = 14, QUERY = 128;
    localparam IDLE = 0, RIGHT = 1, LEFT = 2, SCORED = 3;

    reg [54:0] waiting [0:4095]; // matches: at, place in the query. More cannot be between two bases of the database
    reg [11:0] first, behind;
    reg  [1:0] seen [0:63];      // the latest bases
    reg [46:0] newest;           // the place of the latest
    reg [47:0] complete;         // all matches before this place are there
    reg        any, pass_ended, hits_ended, db_ended;

    reg  [1:0] state;
    reg  [5:0] count;
    reg signed [7:0] score, best;
    reg  [7:0] both;

    wire [54:0] head  = waiting[first];
    wire [46:0] at    = head[54:8];
    wire  [7:0] place = head[7:0];
    wire        there = any && at[46:32] == newest[46:32] && (at[31:0] + REACH <= newest[31:0] || pass_ended);
    wire        due   = first != behind && (there || db_ended);
    wire        free  = !y_tvalid || y_tready;

    wire [46:0] offered = db_tdata[48:2];
    wire        known   = hits_ended || complete > {1'b0, offered};
    wire        between = state == IDLE && !due && !pass_ended && !db_ended;

    assign db_tready   = between && (db_tlast || known);
    assign hits_tready = !hits_ended && (db_ended || (between && db_tvalid && !db_tlast && !known))
                         && behind + 12'd1 != first;

    // the pair of bases that is compared
    wire signed [9:0] offset = state == RIGHT ? WORD + count : -1 - $signed({4'd0, count});
    wire signed [9:0] asked  = $signed({2'd0, place}) + offset;
    wire [31:0] from   = at[31:0] + 1 - WORD;
    wire signed [32:0] held = $signed({1'b0, from}) + offset;
    wire        beyond = count == REACH || asked < 0 || asked >= QUERY || held < 0 || held > $signed({1'b0, newest[31:0]});
    wire  [1:0] base;
    query_base #(.seed(seed)) of_query (.query({17'd0, at[46:32]}), .place({22'd0, asked}), .base(base));
    wire signed [7:0] next = base == seen[held[5:0]] ? score + 8'sd1 : score - 8'sd3;

    always @(posedge clk) begin
        if (y_tready) y_tvalid <= 0;
        if (hits_tvalid && hits_tready) begin
            if (hits_tlast) hits_ended <= 1;
            else begin
                complete <= {1'b0, hits_tdata[62:16]} + {47'd0, hits_tdata[63]};
                if (!hits_tdata[63]) begin
                    waiting[behind] <= {hits_tdata[62:16], hits_tdata[7:0]};
                    behind <= behind + 1;
                end
            end
        end
        if (db_tvalid && db_tready) begin
            if (db_tlast) db_ended <= 1;
            else begin
                seen[db_tdata[7:2]] <= db_tdata[1:0];
                newest <= offered;
                pass_ended <= db_tdata[63];
                any <= 1;
            end
        end
        case (state)
            IDLE:
                if (due) begin
                    state <= RIGHT;
                    {count, score, best, both} <= {22'd0, 8'd8};
                end else if (pass_ended && free) begin
                    y_tdata <= {1'b1, newest, 16'd0};
                    y_tvalid <= 1;
                    pass_ended <= 0;
                end else if (db_ended && hits_ended && free) begin
                    y_tlast <= 1;
                    y_tvalid <= !y_tlast;
                end
            SCORED:
                if (free) begin
                    y_tdata <= {1'b0, at, both, place};
                    y_tvalid <= both >= LEAST;
                    first <= first + 1;
                    state <= IDLE;
                end
            default:
                if (beyond) begin
                    both <= both + best;
                    {count, score, best} <= 22'd0;
                    state <= state + 1;
                end else begin
                    count <= count + 1;
                    score <= next;
                    if (next > best) best <= next;
                end
        endcase
        if (rst) begin
            {first, behind, complete, newest} <= 0;
            {any, pass_ended, hits_ended, db_ended, y_tvalid, y_tlast} <= 0;
            state <= IDLE;
        end
    end
endmodule
