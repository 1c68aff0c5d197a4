#ifndef DEV_H
#define DEV_H
#include <stdint.h>

typedef struct dev *mdev_t;

mdev_t dev_open(int slot);
int dev_write(mdev_t d, uint32_t addr, const void *data, uint32_t nbytes);
int dev_read(mdev_t d, uint32_t addr, void *data, uint32_t nbytes);
int dev_write_reg(mdev_t d, uint32_t reg, uint32_t value);
int dev_read_reg(mdev_t d, uint32_t reg, uint32_t *value);
void dev_close(mdev_t d);
#endif
