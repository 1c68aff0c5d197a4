// Adds up the words written to 0x000..0x0FF once 1 is written to 0x200; 0x200 tells when it is done, 0x201 the sum.
module summer (
    input             clk,
    input             reset,
    input      [31:0] bus_addr,
    input             bus_write,
    input      [31:0] bus_in,
    input             bus_read,
    output reg [31:0] bus_out
);
    reg [31:0] memory [0:255];
    reg [31:0] sum;
    reg [8:0]  next;
    reg        done;

    always @(posedge clk) begin : port
        if (bus_write && bus_addr < 32'h100)
            memory[bus_addr[7:0]] <= bus_in;
        else if (bus_read)
            bus_out <= (bus_addr == 32'h200) ? {31'b0, done} : sum;
    end

    always @(posedge clk) begin : adder
        if (reset) begin
            sum  <= 0;
            next <= 256;
            done <= 0;
        end else if (bus_write && bus_addr == 32'h200) begin
            next <= 0;
            done <= 0;
        end else if (next < 256) begin
            sum  <= sum + memory[next[7:0]];
            next <= next + 1;
        end else
            done <= 1;
    end
endmodule
