/* Marks what `workbench predict density MODEL --kernel FILE.c` measures: a region, its inputs, its operations.
 * Compiled without RHO_TRACE, all of it vanishes. Only reads of inputs between begin and end count, element by element:
 * the formalism counts input data, and takes packing and alignment for ideal (Steffen 2007, section 3). */
#ifndef RHO_H
#define RHO_H
#include <stddef.h>

#ifdef RHO_TRACE
void rho_input(const void *start, size_t bytes, size_t element_bytes); /* up to 16 arrays, elements of one size */
void rho_begin(void);
void rho_end(unsigned long long operations); /* how many operations the region did */
#else
#define rho_input(start, bytes, element_bytes) ((void)0)
#define rho_begin() ((void)0)
#define rho_end(operations) ((void)0)
#endif
#endif
