#ifndef RCW_OPAE_TYPES_ENUM_H
#define RCW_OPAE_TYPES_ENUM_H
typedef enum {
    FPGA_OK,
    FPGA_INVALID_PARAM,
    FPGA_BUSY,
    FPGA_EXCEPTION,
    FPGA_NOT_FOUND,
    FPGA_NO_MEMORY,
    FPGA_NOT_SUPPORTED,
    FPGA_NO_DRIVER,
    FPGA_NO_DAEMON,
    FPGA_NO_ACCESS,
    FPGA_RECONF_ERROR
} fpga_result;
typedef enum { FPGA_DEVICE, FPGA_ACCELERATOR } fpga_objtype;
enum fpga_buffer_flags { FPGA_BUF_PREALLOCATED = 1, FPGA_BUF_QUIET = 2, FPGA_BUF_READ_ONLY = 4 };
enum fpga_open_flags { FPGA_OPEN_SHARED = 1, FPGA_OPEN_HAS_PARENT_AFU = 2 };
enum fpga_reconf_flags { FPGA_RECONF_FORCE = 1, FPGA_RECONF_SKIP_USRCLK = 2 };
#endif
