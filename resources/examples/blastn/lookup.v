// Stage 1b in hardware: a word goes on once for each of its places in the query, which all are compared at once;
// they are read again where words of another query follow.
module lookup #(
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
    output reg [63:0] y_tdata,
    output reg        y_tlast,
    output reg        y_tvalid,
    input             y_tready
);
    localparam PLACES = 121;

    reg  [15:0]       words [0:PLACES-1];
    reg  [15:0]       word;
    reg  [PLACES-1:0] left;   // places that are still to be sent
    reg  [46:0]       at;     // of the word whose places these are
    reg  [46:0]       since;  // the place of the message from which silence counts
    reg               due;    // a message without a match is to follow them
    wire              ready;
    wire [7:0]        place;
    wire [1:0]        of_query;
    reg  [14:0]       query;

    wire other = x_tvalid && !x_tlast && x_tdata[62:48] != query;
    wire again = ready && left == 0 && !due && other;

    query_bases #(.seed(seed)) bases (.clk(clk), .rst(rst), .restart(again), .query({17'd0, query}), .base(of_query),
                                      .at(place), .ready(ready));

    reg  [PLACES-1:0] found;
    reg  [15:0]       lowest;
    integer           i;
    always @* begin
        for (i = 0; i < PLACES; i = i + 1) found[i] = words[i] == x_tdata[15:0];
        lowest = 0;
        for (i = PLACES - 1; i >= 0; i = i - 1) if (left[i]) lowest = i[15:0];
    end

    wire        nothing = x_tdata[63];
    wire [46:0] here    = x_tdata[62:16];
    wire        sends   = nothing || found != 0;
    wire        silent  = here - (sends && algorithm == 3 ? here : since) >= {15'd0, interval};
    wire        free    = !y_tvalid || y_tready;

    assign x_tready = ready && !other && free && left == 0 && !due;

    always @(posedge clk) begin
        if (y_tready) y_tvalid <= 0;
        if (!ready) begin
            word <= {word[13:0], of_query};
            if (place >= 7) words[place - 7] <= {word[13:0], of_query};
        end
        if (again) query <= x_tdata[62:48];
        if (free && left != 0) begin
            y_tdata  <= {1'b0, at, lowest};
            y_tvalid <= 1;
            left     <= left & (left - 1);
        end else if (free && due) begin
            y_tdata  <= {1'b1, at, 16'd0};
            y_tvalid <= 1;
            due      <= 0;
        end
        if (x_tvalid && x_tready) begin
            {y_tlast, y_tdata} <= {x_tlast, x_tdata};
            y_tvalid <= x_tlast || nothing;
            if (!x_tlast) begin
                left <= nothing ? 0 : found;
                at   <= here;
                due  <= algorithm == 1 ? !sends : algorithm >= 2 && silent;
                if ((algorithm >= 2 && silent) || (sends && algorithm == 3)) since <= here;
            end
        end
        if (rst) begin
            word <= 0;
            query <= 0;
            left <= 0;
            since <= 0;
            {due, y_tvalid} <= 0;
        end
    end
endmodule
