/* OPAE's C API as far as there is a stand-in for it: the prototypes and values of OFS/opae-sdk (include/opae, 2.x). */
#ifndef RCW_OPAE_FPGA_H
#define RCW_OPAE_FPGA_H
#include <opae/access.h>
#include <opae/buffer.h>
#include <opae/enum.h>
#include <opae/event.h>
#include <opae/manage.h>
#include <opae/mmio.h>
#include <opae/properties.h>
#include <opae/types.h>
#include <opae/utils.h>
#endif
