import cffi

ffi = cffi.FFI()
ffi.cdef("""
    int snprintf(char *, size_t, const char *, ...);
    void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
    int Py_IsInitialized(void);
""")
libc = ffi.dlopen(None)
buffer = ffi.new("char[]", 40)
libc.snprintf(buffer, 40, b"%d and %s", ffi.cast("int", 7), ffi.new("char[]", b"text"))
print(ffi.string(buffer))
values = ffi.new("int[]", [5, 3, 9, 1])


@ffi.callback("int(const void *, const void *)")
def compare(a, b):
    return ffi.cast("const int *", a)[0] - ffi.cast("const int *", b)[0]


libc.qsort(values, 4, ffi.sizeof("int"), compare)
print(list(values))
print(libc.Py_IsInitialized())  # dlopen(None) is this interpreter
