module hist_core
  import hist_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_ni,
    input  request_t     req_i,
    output logic [31:0]  rdata_o
);
  logic [31:0] pixels [1024];
  logic [31:0] hist   [BINS];
  logic [10:0] count_q, index_q;
  logic [1:0]  lane_q;
  logic [31:0] word_q;
  state_t state_q, state_d;
  logic start;

  assign start = req_i.valid && req_i.write && req_i.addr == 16'h2000 && req_i.data[0];

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      IDLE:    if (start) state_d = CLEAR;
      CLEAR:   if (index_q == 11'(BINS - 1)) state_d = COUNT;
      COUNT:   if (index_q == count_q) state_d = DONE;
      DONE:    if (start) state_d = CLEAR;
      default: state_d = IDLE;
    endcase
  end

  logic [7:0] lane_byte;
  assign word_q = pixels[index_q[9:0]];
  assign lane_byte = word_q[lane_q*8 +: 8];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      index_q <= '0;
      lane_q  <= '0;
    end else begin
      state_q <= state_d;
      case (state_q)
        CLEAR: begin
          hist[index_q[5:0]] <= '0;
          index_q <= (state_d == COUNT) ? '0 : index_q + 1'b1;
        end
        COUNT:
            if (index_q != count_q) begin
          hist[lane_byte[7:2]] <= hist[lane_byte[7:2]] + 1;
          lane_q <= lane_q + 1'b1;
          if (&lane_q) index_q <= index_q + 1'b1;
        end
        default: begin index_q <= '0; lane_q <= '0; end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin : bus
    if (req_i.valid && req_i.write) begin
      if (req_i.addr < 16'h1000) pixels[req_i.addr[11:2]] <= req_i.data;
      else if (req_i.addr == 16'h2008) count_q <= req_i.data[10:0];
    end else if (req_i.valid) begin
      unique casez (req_i.addr)
        16'h1???: rdata_o <= hist[req_i.addr[7:2]];
        16'h2004: rdata_o <= {31'b0, state_q == DONE};
        default:  rdata_o <= '0;
      endcase
    end
  end
endmodule
