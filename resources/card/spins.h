/* Threads that wait in a loop for an atomic or a volatile variable to change. */
#ifndef RCW_SPINS_H
#define RCW_SPINS_H
#include "vcores.h"

/* The caller is about to look at such a variable, from `where`. */
void spin_look(const void *where);

/* It does something at which the others' state matters, and which changes nothing. */
void spin_passed(void);

void spin_forget(vthread *thread);
#endif
