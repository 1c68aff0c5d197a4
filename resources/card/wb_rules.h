/* Rules of changes: what some calls of the host's, or its own code, take in this run. README.md, "Under other rules". */
#ifndef WB_RULES_H
#define WB_RULES_H
#include <stdint.h>

#include "wb.h"
#include "wbcard.h"

extern int wb_rule_count;

/* A line of the configuration that begins with `rule`. */
void wb_read_rule(const char *line);

/* A transfer that the program asks for, whose arguments are right, by the rules of the call that it is within. */
int wb_call_by_rules(const wb_call *call, const void *from, void *to);

/* The calling thread makes another call of the card: what it holds back is sent before. */
void wb_other_call(void);

/* `duration_ps` of a call that is no transfer, by the rules. */
int64_t wb_ruled_ps(int64_t duration_ps);

/* An asynchronous send is done. */
void wb_send_ended(int ticket, int64_t end_ps);

/* How often each rule came into use, a line each. */
void wb_write_rules(const char *path);
#endif
