#ifndef RCW_LIBLITEPCIE_H
#define RCW_LIBLITEPCIE_H
#include "litepcie_dma.h"
#include "litepcie_helpers.h"
#endif
