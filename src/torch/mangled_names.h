// Pieces of mangled names that recur in the tables of symbols.
#pragma once

#define MULTIPY_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
