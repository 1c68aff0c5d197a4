#ifndef __OPENCL_H
#define __OPENCL_H
#include "CL/cl.h"
#endif
