// Takes words from one clock to another: a queue whose places are told across in Gray code, through two registers each.
module agent_cross #(
    parameter ROOM_BITS = 3
) (
    input  wire in_clock,
    input  wire in_reset,
    input  wire in_valid,
    output wire in_ready,
    input  wire in_last,
    input  wire [31:0] in_data,
    input  wire out_clock,
    input  wire out_reset,
    output wire out_valid,
    input  wire out_ready,
    output wire out_last,
    output wire [31:0] out_data
);
    reg [32:0] words [0:(1<<ROOM_BITS)-1];
    reg [ROOM_BITS:0] in_place, out_place;
    (* async_reg = "true" *) reg [ROOM_BITS:0] in_gray, in_gray_1, in_gray_2, out_gray, out_gray_1, out_gray_2;
    wire [ROOM_BITS:0] in_next = in_place + (in_valid & in_ready), out_next = out_place + (out_valid & out_ready);

    assign in_ready = in_gray != {~out_gray_2[ROOM_BITS:ROOM_BITS-1], out_gray_2[ROOM_BITS-2:0]};
    assign out_valid = out_gray != in_gray_2;
    assign {out_last, out_data} = words[out_place[ROOM_BITS-1:0]];

    always @(posedge in_clock) begin
        if (in_valid & in_ready) words[in_place[ROOM_BITS-1:0]] <= {in_last, in_data};
        in_place <= in_reset ? 0 : in_next;
        in_gray <= in_reset ? 0 : in_next ^ in_next >> 1;
        out_gray_1 <= in_reset ? 0 : out_gray;
        out_gray_2 <= in_reset ? 0 : out_gray_1;
    end
    always @(posedge out_clock) begin
        out_place <= out_reset ? 0 : out_next;
        out_gray <= out_reset ? 0 : out_next ^ out_next >> 1;
        in_gray_1 <= out_reset ? 0 : in_gray;
        in_gray_2 <= out_reset ? 0 : in_gray_1;
    end
endmodule
