/* Points before the accesses of a program whose time is measured; atomics.c. */
#ifndef RCW_ATOMICS_H
#define RCW_ATOMICS_H

void rcw_access(void);        /* called before each; where the program has but one thread, nothing */
void rcw_access_always(void); /* the same in any case, so that what it takes can be measured */
#endif
