/* The libraries of a torch that lacks what multipy needs; unlisted_torch.cmake. */
#ifdef LIBTORCH_PYTHON
extern void _ZN3c1015SetSomethingNewEv(void); /* c10::SetSomethingNew() */
void initModule(void) { _ZN3c1015SetSomethingNewEv(); }
#else
/* By this the build knows which std::string a torch speaks of. */
const char abi[] = "St7__cxx1112basic_string";
#endif
