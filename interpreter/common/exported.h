// What libinterpreter.so shows to private libraries, which find it by name.
#pragma once

#define MULTIPY_EXPORT __attribute__((visibility("default")))
