// A core of the optimised form. Control is in hardware: it takes points as they come, and after a batch's last one gives
// its sums to the core beside it, which adds its own. The first point of a batch overwrites the bins: that clears them.
// A point takes 2 cycles and one for each bin.
module pdf2d_core #(
    parameter BITS = 3  // two to this power are the bins along an axis
) (
    input             clk,
    input             rst,
    input             put,       // a point, or the end of the batch
    input             put_end,
    input      [31:0] put_point,
    output            ready,     // to take one
    output            finished,  // the batch's sums wait to be given on
    input             ask,       // one bin of the sums, in order
    input      [47:0] sum_in,    // of the cores before this one
    output reg        answer,
    output reg [47:0] sum_out
);
    localparam [1:0] TAKE = 0, COMPUTE = 1, NEXT = 2, GIVE = 3;
    localparam [2*BITS-1:0] LAST_BIN = {2*BITS{1'b1}};

    reg [1:0]  state;
    reg        full, ends;  // the one word that waits
    reg [31:0] waiting, point;
    reg        first, first_1, first_2, first_3;
    reg [2*BITS-1:0] bin, bin_1, bin_2, bin_3;
    reg        busy_1, busy_2, busy_3;
    reg signed [17:0] dx, dy;
    reg [35:0] dx_squared, dy_squared;
    reg [47:0] weight, sum;

    (* ram_style = "block" *)
    reg [47:0] totals [0:2*(LAST_BIN+1)-1];  // the upper half takes the writes that mean nothing

    wire signed [17:0] dx_now, dy_now;
    wire [47:0] weight_now;
    pdf2d_offset #(.BITS(BITS)) offset_x (.coordinate(point[15:0]), .index(bin[BITS-1:0]), .offset(dx_now));
    pdf2d_offset #(.BITS(BITS)) offset_y (.coordinate(point[31:16]), .index(bin[2*BITS-1:BITS]), .offset(dy_now));
    pdf2d_weight #(.BITS(BITS)) window (.dx_squared(dx_squared), .dy_squared(dy_squared), .weight(weight_now));

    wire [2*BITS-1:0] given = bin + ask;
    assign ready = !full;
    assign finished = state == GIVE;

    always @(posedge clk) begin : ctrl
        // One bin a cycle: offsets, squares, weight, sum.
        dx <= dx_now;
        dy <= dy_now;
        dx_squared <= dx * dx;
        dy_squared <= dy * dy;
        weight <= weight_now;
        {bin_1, bin_2, bin_3} <= {bin, bin_1, bin_2};
        {busy_1, busy_2, busy_3} <= {state == COMPUTE, busy_1, busy_2};
        {first_1, first_2, first_3} <= {first, first_1, first_2};
        sum <= totals[{1'b0, busy_2 ? bin_2 : given}];
        totals[{!busy_3, bin_3}] <= first_3 ? weight : sum + weight;

        full <= put || (full && state != TAKE);
        {ends, waiting} <= put ? {put_end, put_point} : {ends, waiting};
        answer <= ask;
        sum_out <= sum_in + sum;

        if (rst) begin
            state <= TAKE;
            full <= 0;
            first <= 1;
            bin <= 0;
            answer <= 0;
        end else case (state)
            TAKE:
                if (full) begin
                    //pragma recap getPoint recv(data|ctrl, pdf2d_top.distribute, x2|e2)
                    point <= waiting;
                    state <= ends ? GIVE : COMPUTE;
                end else begin
                    //pragma recap waitPoint wait_recv(buffer_empty, pdf2d_top.distribute, x2)
                    state <= TAKE;
                end
            COMPUTE: begin
                //pragma recap compute work()
                bin <= bin + 1'b1;
                state <= (bin == LAST_BIN) ? NEXT : COMPUTE;
            end
            NEXT: begin
                //pragma recap nextPoint overhead(update)
                first <= 0;
                state <= TAKE;
            end
            GIVE:
                if (ask) begin
                    //pragma recap giveBins send(data, pdf2d_top.merge, b1)
                    bin <= given;
                    first <= 1;
                    state <= (bin == LAST_BIN) ? TAKE : GIVE;
                end else begin
                    //pragma recap waitMerge wait_send(barrier, pdf2d_top.merge, b1)
                    state <= GIVE;
                end
        endcase
    end
endmodule
