/* Prototypes of enjoy-digital/litepcie (software/user/liblitepcie). */
#ifndef RCW_LITEPCIE_HELPERS_H
#define RCW_LITEPCIE_HELPERS_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
int64_t get_time_ms(void);
uint32_t litepcie_readl(int fd, uint32_t addr);
void litepcie_writel(int fd, uint32_t addr, uint32_t val);
#ifdef __cplusplus
}
#endif
#endif
