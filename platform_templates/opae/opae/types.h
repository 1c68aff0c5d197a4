#ifndef RCW_OPAE_TYPES_H
#define RCW_OPAE_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <opae/types_enum.h>

typedef void *fpga_properties;
typedef void *fpga_token;
typedef void *fpga_handle;
typedef void *fpga_event_handle;
typedef uint8_t fpga_guid[16];
#endif
