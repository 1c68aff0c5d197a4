// A core of the original form. The host leads it by the hand: it clears the bins, fills the buffer, writes the start,
// asks until the core is done, writes the stop and reads the bins. While a core computes it takes nothing.
//
// Words of a core, by address: 0x000 points (y in the upper half, x in the lower), 0x200 bins, 0x300 control and done.
// A point takes 2 cycles and one for each bin.
module pdf2d_core #(
    parameter BITS   = 3,    // two to this power are the bins along an axis, at most 4
    parameter POINTS = 512   // in a batch: what the 2 KB buffer holds
) (
    input             clk,
    input             rst,
    input             write,
    input      [9:0]  write_address,
    input      [31:0] write_data,
    input             read,          // one of this core's bins
    input      [7:0]  read_address,
    output            done,
    output reg [47:0] sum            // of the bin asked for a cycle before
);
    localparam [1:0] IDLE = 0, FETCH = 1, COMPUTE = 2, DONE = 3;
    localparam [2*BITS-1:0] LAST_BIN = {2*BITS{1'b1}};

    reg [1:0]  state;
    reg [31:0] buffer [0:POINTS-1];
    reg [8:0]  index;
    reg        fetched;
    reg [31:0] stored, point;
    reg [2*BITS-1:0] bin, bin_1, bin_2, bin_3;
    reg        busy_1, busy_2, busy_3;
    reg signed [17:0] dx, dy;
    reg [35:0] dx_squared, dy_squared;
    reg [47:0] weight;

    (* ram_style = "block" *)
    reg [47:0] totals [0:2*(LAST_BIN+1)-1];  // the upper half takes the writes that mean nothing

    wire signed [17:0] dx_now, dy_now;
    wire [47:0] weight_now;
    pdf2d_offset #(.BITS(BITS)) offset_x (.coordinate(point[15:0]), .index(bin[BITS-1:0]), .offset(dx_now));
    pdf2d_offset #(.BITS(BITS)) offset_y (.coordinate(point[31:16]), .index(bin[2*BITS-1:BITS]), .offset(dy_now));
    pdf2d_weight #(.BITS(BITS)) window (.dx_squared(dx_squared), .dy_squared(dy_squared), .weight(weight_now));

    wire to_buffer  = write && !write_address[9] && state == IDLE;
    wire to_bins    = write && write_address[9:8] == 2'b10 && state == IDLE;
    wire start      = write && write_address[9:8] == 2'b11 && write_data[0];
    wire stop       = write && write_address[9:8] == 2'b11 && !write_data[0];
    wire [2*BITS:0] place = busy_3 ? {1'b0, bin_3} : {!to_bins, write_address[2*BITS-1:0]};
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
        sum <= totals[{1'b0, busy_2 ? bin_2 : read_address[2*BITS-1:0]}];
        totals[place] <= busy_3 ? sum + weight : {16'b0, write_data};
        stored <= buffer[index];
        if (to_buffer)
            buffer[write_address[8:0]] <= write_data;

        if (rst) begin
            state <= IDLE;
            index <= 0;
            bin <= 0;
            fetched <= 0;
        end else case (state)
            IDLE:
                if (to_buffer) begin
                    //pragma recap getPoints recv(data, $CPU, x1)
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
                state <= (bin != LAST_BIN) ? COMPUTE : (index == 0) ? DONE : FETCH;
            end
            DONE: begin
                //pragma recap waitStop wait_recv(late_sender, $CPU, s1)
                state <= stop ? IDLE : DONE;
            end
        endcase
    end
endmodule
