// A core of the 2-D PDF, step by step (see steps.c). From step 1 on it controls itself: the first point of a batch
// overwrites the bins, the last one starts it. It has two halves of bins (step 2) and of points (step 3), in turn.
module pdf2d_core #(
    parameter STEP = 0,
    parameter BITS = 3    // two to this power are the bins along an axis, at most 4
) (
    input             clk,
    input             rst,
    input             write,
    input      [9:0]  write_address,
    input             write_half,    // of the points
    input      [31:0] write_data,
    input             read,          // one of this core's bins
    input      [7:0]  read_address,
    input             read_half,
    output            done,          // step 0: until it is stopped
    output reg [15:0] batches,       // done so far
    output reg [47:0] answer         // the bin asked for a cycle before
);
    localparam [1:0] IDLE = 0, FETCH = 1, COMPUTE = 2, DONE = 3;
    localparam [2*BITS-1:0] LAST_BIN = {2*BITS{1'b1}};

    reg [1:0]  state;
    reg [31:0] buffer [0:1023];
    reg [8:0]  index;
    reg        fetched;
    reg [31:0] stored, point;
    reg [2*BITS-1:0] bin, bin_1, bin_2, bin_3;
    reg        busy_1, busy_2, busy_3;
    reg        first, first_1, first_2, first_3;
    reg        half_1, half_2, half_3;
    reg [1:0]  filled;               // halves whose points are all there
    reg signed [17:0] dx, dy;
    reg [35:0] dx_squared, dy_squared;
    reg [47:0] weight, sum;

    (* ram_style = "block" *)
    reg [47:0] totals [0:4*(LAST_BIN+1)-1];  // the upper half takes the writes that mean nothing

    wire signed [17:0] dx_now, dy_now;
    wire [47:0] weight_now;
    pdf2d_offset #(.BITS(BITS)) offset_x (.coordinate(point[15:0]), .index(bin[BITS-1:0]), .offset(dx_now));
    pdf2d_offset #(.BITS(BITS)) offset_y (.coordinate(point[31:16]), .index(bin[2*BITS-1:BITS]), .offset(dy_now));
    pdf2d_weight #(.BITS(BITS)) window (.dx_squared(dx_squared), .dy_squared(dy_squared), .weight(weight_now));

    wire points    = write && !write_address[9];
    wire to_buffer = points && (state == IDLE || STEP >= 3);
    wire to_bins   = write && write_address[9:8] == 2'b10 && state == IDLE;
    wire start     = write && write_address[9:8] == 2'b11 && write_data[0];
    wire stop      = write && write_address[9:8] == 2'b11 && !write_data[0];
    wire last      = STEP >= 1 && to_buffer && write_address[8:0] == 9'h1ff;
    wire half      = STEP >= 2 && batches[0];
    wire from_half = STEP >= 3 && batches[0];
    wire [2*BITS+1:0] place = busy_3 ? {1'b0, half_3, bin_3} : {!to_bins, 1'b0, write_address[2*BITS-1:0]};
    assign done = state == DONE;

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
        {half_1, half_2, half_3} <= {half, half_1, half_2};
        sum <= totals[{1'b0, half_2, bin_2}];
        answer <= totals[{1'b0, read_half, read_address[2*BITS-1:0]}];
        totals[place] <= !busy_3 ? {16'b0, write_data} : first_3 ? weight : sum + weight;
        stored <= buffer[{from_half, index}];
        if (to_buffer)
            buffer[{write_half, write_address[8:0]}] <= write_data;
        if (last)
            filled[write_half] <= 1;

        if (rst) begin
            state <= IDLE;
            index <= 0;
            bin <= 0;
            fetched <= 0;
            first <= STEP >= 1;
            filled <= 0;
            batches <= 0;
        end else case (state)
            IDLE:
                if (to_buffer) begin
                    //pragma recap getPoints recv(data, $CPU, x1)
                    state <= last ? FETCH : IDLE;
                    index <= 0;
                end else if (write) begin
                    //pragma recap takeControl recv(ctrl, $CPU, c1|g1)
                    state <= start ? FETCH : IDLE;
                    index <= 0;
                end else if (read) begin
                    //pragma recap giveBins send(data, $CPU, p1)
                    index <= 0;
                end else begin
                    //pragma recap waitHost wait_recv(late_sender, $CPU, c1|x1|g1)
                    index <= 0;
                end
            FETCH: begin
                //pragma recap nextPoint overhead(update)
                fetched <= !fetched;
                point <= stored;
                index <= index + fetched;
                state <= fetched ? COMPUTE : FETCH;
            end
            COMPUTE: begin
                //pragma recap compute work()
                bin <= bin + 1'b1;
                if (bin == LAST_BIN) begin
                    first <= STEP >= 1 && index == 0;
                    state <= FETCH;
                    if (index == 0) begin
                        batches <= batches + 1'b1;
                        filled[from_half] <= 0;
                        state <= DONE;
                    end
                end
            end
            DONE:
                if (STEP == 0) begin
                    //pragma recap waitStop wait_recv(late_sender, $CPU, s1)
                    state <= stop ? IDLE : DONE;
                end else begin
                    //pragma recap endBatch overhead(finalize)
                    state <= last || (STEP >= 3 && filled[from_half]) ? FETCH : IDLE;
                end
        endcase
    end
endmodule
