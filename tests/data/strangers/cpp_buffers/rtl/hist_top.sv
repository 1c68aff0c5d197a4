module hist_top
  import hist_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    input  logic        we_i,
    input  logic [15:0] addr_i,
    input  logic [31:0] wdata_i,
    output logic [31:0] rdata_o
);
  request_t req;
  assign req = '{valid: valid_i, write: we_i, addr: addr_i, data: wdata_i};
  hist_core u_core (.clk_i, .rst_ni, .req_i(req), .rdata_o);
endmodule
