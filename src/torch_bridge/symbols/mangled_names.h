// Pieces of mangled names that recur in the tables of symbols.
//
// libstdc++ has two classes std::string, and a torch was compiled with one of them. The
// old one's name is an abbreviation, which leaves what comes after it other numbers for
// what has been named before: MULTIPY_BY_STRING(with the new one, with the old one).
#pragma once

#include <string>  // defines _GLIBCXX_USE_CXX11_ABI where the compiler's user has not

#if _GLIBCXX_USE_CXX11_ABI
#define MULTIPY_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define MULTIPY_BY_STRING(withNew, withOld) withNew
#else
#define MULTIPY_STRING "Ss"
#define MULTIPY_BY_STRING(withNew, withOld) withOld
#endif
