int function_that_nobody_has(void);
int asks_for_more(void) { return function_that_nobody_has(); }
