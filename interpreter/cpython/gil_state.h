// What can be asked of CPython's GIL by a thread that does not hold it.
//
// Threads: both functions from any thread, between initialisation and finalisation.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// 1 if no thread held this interpreter's GIL just now, else 0.
int multipyGilIsFree(void);
/// Sets after how many microseconds a thread that waits for the GIL asks its holder to
/// give it up (sys.setswitchinterval), for those that begin to wait from now on.
/// Returns what it was before.
unsigned long multipySetSwitchInterval(unsigned long microseconds);

#ifdef __cplusplus
}
#endif
