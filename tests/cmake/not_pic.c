// An absolute 32-bit address: cannot be part of a shared library.
int counter;
int* address_of_counter(void) { return &counter; }
