`include "widths.vh"
module copy_engine #(parameter DEPTH = 64, parameter NAME = "copy") (
    input clock, input resetn, input [9:0] avs_address, input avs_write, input [`W-1:0] avs_writedata,
    input avs_read, output reg [`W-1:0] avs_readdata, output reg avs_irq);
    reg [`W-1:0] store [0:DEPTH-1];
    always @(posedge clock)
        if (!resetn) avs_irq <= 0;
        else if (avs_write && avs_address < 10'd64) store[avs_address[5:0]] <= avs_writedata;
        else if (avs_read) avs_readdata <= store[avs_address[5:0]];
endmodule
