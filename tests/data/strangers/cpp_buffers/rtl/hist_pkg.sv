package hist_pkg;
  typedef enum logic [1:0] {IDLE, CLEAR, COUNT, DONE} state_t;
  typedef struct packed {
    logic        valid;
    logic        write;
    logic [15:0] addr;
    logic [31:0] data;
  } request_t;
  localparam int unsigned BINS = 64;
endpackage
