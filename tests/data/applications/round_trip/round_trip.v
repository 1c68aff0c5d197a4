// Words go round: from a feeder on the bus clock through a FIFO to an adder on a faster clock, and back through another.
// The feeder gives all of its words before it takes any: more than both FIFOs hold is more than it can give.
module async_fifo #(parameter WIDTH = 32, parameter LOG = 2) (
    input wire rst_n,
    input wire in_clk, input wire in_valid, output wire in_ready, input wire [WIDTH-1:0] in_data,
    input wire out_clk, output wire out_valid, input wire out_ready, output wire [WIDTH-1:0] out_data
);
    reg [WIDTH-1:0] words [0:(1 << LOG)-1];
    reg [LOG:0] written, read, write_gray, read_gray, write_seen [0:1], read_seen [0:1];
    wire [LOG:0] more = written + 1, next = read + 1;
    assign in_ready = write_gray != {~read_seen[1][LOG:LOG-1], read_seen[1][LOG-2:0]};
    assign out_valid = read_gray != write_seen[1];
    assign out_data = words[read[LOG-1:0]];
    always @(posedge in_clk)
        if (!rst_n) begin
            written <= 0;
            write_gray <= 0;
            read_seen[0] <= 0;
            read_seen[1] <= 0;
        end else begin
            read_seen[0] <= read_gray;
            read_seen[1] <= read_seen[0];
            if (in_valid && in_ready) begin
                words[written[LOG-1:0]] <= in_data;
                written <= more;
                write_gray <= more ^ (more >> 1);
            end
        end
    always @(posedge out_clk)
        if (!rst_n) begin
            read <= 0;
            read_gray <= 0;
            write_seen[0] <= 0;
            write_seen[1] <= 0;
        end else begin
            write_seen[0] <= write_gray;
            write_seen[1] <= write_seen[0];
            if (out_valid && out_ready) begin
                read <= next;
                read_gray <= next ^ (next >> 1);
            end
        end
endmodule

module feeder (
    input wire clk, input wire rst_n, input wire start, input wire [31:0] count, output reg [31:0] sum, output wire done,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata
);
    reg [31:0] wanted, given, taken;
    assign m_axis_tvalid = given != wanted;
    assign m_axis_tdata = given;
    assign s_axis_tready = given == wanted && taken != wanted;
    assign done = wanted != 0 && taken == wanted;
    always @(posedge clk)
        if (!rst_n || start) begin
            wanted <= rst_n ? count : 0;
            given <= 0;
            taken <= 0;
            sum <= 0;
        end else begin
            if (m_axis_tvalid && m_axis_tready) given <= given + 1;
            if (s_axis_tvalid && s_axis_tready) begin
                taken <= taken + 1;
                sum <= sum + s_axis_tdata;
            end
        end
endmodule

module adder #(parameter PACE = 9) (
    input wire clk, input wire rst_n,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata,
    output wire m_axis_tvalid, input wire m_axis_tready, output reg [31:0] m_axis_tdata
);
    reg busy;
    reg [7:0] left;
    assign s_axis_tready = !busy;
    assign m_axis_tvalid = busy && left == 0;
    always @(posedge clk)
        if (!rst_n) begin
            busy <= 0;
        end else if (!busy) begin
            busy <= s_axis_tvalid;
            left <= PACE;
            m_axis_tdata <= s_axis_tdata + 1;
        end else if (left != 0) begin
            left <= left - 1;
        end else begin
            busy <= !m_axis_tready;
        end
endmodule

module round_trip (
    input wire clk, input wire rst_n, input wire fast, output reg irq,
    input wire awvalid, output wire awready, input wire [7:0] awaddr,
    input wire wvalid, output wire wready, input wire [31:0] wdata, input wire [3:0] wstrb,
    output reg bvalid, input wire bready, output wire [1:0] bresp,
    input wire arvalid, output wire arready, input wire [7:0] araddr,
    output reg rvalid, input wire rready, output reg [31:0] rdata, output wire [1:0] rresp
);
    reg [31:0] count;
    reg start;
    wire write = awvalid && wvalid && !bvalid;
    wire read = arvalid && !rvalid;
    wire done;
    wire [31:0] sum;
    assign awready = write, wready = write, arready = read, bresp = 2'b00, rresp = 2'b00;
    always @(posedge clk) begin : registers
        start <= 0;
        irq <= done;
        if (!rst_n) begin
            bvalid <= 1'b0;
            rvalid <= 1'b0;
            count <= 0;
        end else begin
            if (bready) bvalid <= 1'b0;
            if (rready) rvalid <= 1'b0;
            if (write) begin
                //pragma recap takeCount recv(ctrl, $CPU, n)
                bvalid <= 1'b1;
                count <= wdata;
                start <= 1;
            end else if (read) begin
                //pragma recap giveSum send(ctrl, $CPU, sum)
                rvalid <= 1'b1;
                rdata <= done ? sum : 0;
            end
        end
    end
    wire there_valid, there_ready, before_valid, before_ready, after_valid, after_ready, back_valid, back_ready;
    wire [31:0] there_data, before_data, after_data, back_data;
    feeder feeder (.clk(clk), .rst_n(rst_n), .start(start), .count(count), .sum(sum), .done(done),
                   .m_axis_tvalid(there_valid), .m_axis_tready(there_ready), .m_axis_tdata(there_data),
                   .s_axis_tvalid(back_valid), .s_axis_tready(back_ready), .s_axis_tdata(back_data));
    async_fifo there (.rst_n(rst_n), .in_clk(clk), .in_valid(there_valid), .in_ready(there_ready), .in_data(there_data),
                      .out_clk(fast), .out_valid(before_valid), .out_ready(before_ready), .out_data(before_data));
    adder adder (.clk(fast), .rst_n(rst_n),
                 .s_axis_tvalid(before_valid), .s_axis_tready(before_ready), .s_axis_tdata(before_data),
                 .m_axis_tvalid(after_valid), .m_axis_tready(after_ready), .m_axis_tdata(after_data));
    async_fifo back (.rst_n(rst_n), .in_clk(fast), .in_valid(after_valid), .in_ready(after_ready), .in_data(after_data),
                     .out_clk(clk), .out_valid(back_valid), .out_ready(back_ready), .out_data(back_data));
endmodule
