// The encoding that Python calls "locale": what `site` reads .pth files with, and what
// open(..., encoding="locale") and locale.getencoding() mean.
//
// CPython's own executable calls setlocale(LC_CTYPE, "") first, and takes UTF-8 where
// that leaves the locale "C" (PEP 538, PEP 540). An interpreter leaves the process's
// locale alone, and a C++ program that has not set one has "C": ASCII. Then it is UTF-8
// here as well. A locale that the program has set is answered as it is.
#include <langinfo.h>

#include <cstring>

extern "C" {

char* __real_nl_langinfo(nl_item item);

char* __wrap_nl_langinfo(nl_item item) {
  static char utf8[] = "UTF-8";
  char* const answer = __real_nl_langinfo(item);
  const bool isAscii = item == CODESET && std::strcmp(answer, "ANSI_X3.4-1968") == 0;
  return isAscii ? utf8 : answer;
}
}
