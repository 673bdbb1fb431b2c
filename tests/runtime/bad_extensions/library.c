// A library that others need: FUNCTION is what it has, CALLS what it wants itself.
#ifdef CALLS
extern void CALLS(void);
#endif

__attribute__((visibility("default"))) void FUNCTION(void) {
#ifdef CALLS
  CALLS();
#endif
}
