#ifndef RCW_OPAE_PROPERTIES_H
#define RCW_OPAE_PROPERTIES_H
#include <opae/types.h>

#ifdef __cplusplus
extern "C" {
#endif
fpga_result fpgaGetProperties(fpga_token token, fpga_properties *prop);
fpga_result fpgaDestroyProperties(fpga_properties *prop);
fpga_result fpgaPropertiesSetObjectType(fpga_properties prop, fpga_objtype objtype);
fpga_result fpgaPropertiesSetGUID(fpga_properties prop, fpga_guid guid);
#ifdef __cplusplus
}
#endif
#endif
