#include "interpreter/libc/static_results.h"

#include <grp.h>
#include <mntent.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <time.h>
#include <utmp.h>
#include <utmpx.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/host_connection.h"

extern "C" {
void __real_setpwent(void);
void __real_endpwent(void);
void __real_setgrent(void);
void __real_endgrent(void);
void __real_setutent(void);
utmp* __real_getutent(void);
void __real_endutent(void);
void __real_setutxent(void);
utmpx* __real_getutxent(void);
void __real_endutxent(void);
}

namespace {

/// One result and the texts that it points to.
template <class Value>
struct Kept {
  Value value;
  std::vector<char> texts;
};

/// A list that is handed out one by one.
template <class Value>
struct List {
  std::vector<Kept<Value>> all;
  std::size_t next = 0;
  bool isRead = false;

  void rewind() { *this = {}; }
};

struct Results {
  tm local, utc;
  char date[64];  // asctime_r() asks for 26
  char* token = nullptr;
  Kept<passwd> user;
  Kept<group> group_;
  Kept<servent> service;
  Kept<protoent> protocol;
  Kept<hostent> host;
  Kept<mntent> mount;
  List<passwd> users;
  List<group> groups;
  List<utmp> logins;
  List<utmpx> loginsX;
};

// Of all threads.
class AllResults {
 public:
  /// The calling thread's. Throws std::bad_alloc.
  Results& mine() {
    if (!hasKey_) throw std::bad_alloc();
    if (void* const known = ::pthread_getspecific(key_)) return *static_cast<Results*>(known);
    auto* const made = new Results{};
    if (!add(made)) {
      delete made;
      throw std::bad_alloc();
    }
    return *made;
  }

  void freeAll() {
    const multipy::base::Lock lock(mutex_);
    for (Results* each : all_) delete each;
    all_.clear();
  }

 private:
  bool add(Results* made) {
    const multipy::base::Lock lock(mutex_);
    try {
      all_.insert(made);
    } catch (const std::bad_alloc&) {
      return false;
    }
    if (::pthread_setspecific(key_, made) == 0) return true;
    all_.erase(made);
    return false;
  }

  static void ended(void* thread);

  void free(Results* of) {
    const multipy::base::Lock lock(mutex_);
    if (all_.erase(of) == 1) delete of;
  }

  pthread_key_t key_;
  const bool hasKey_ = ::pthread_key_create(&key_, ended) == 0;
  multipy::base::ForkMutex mutex_;
  std::set<Results*> all_ MULTIPY_GUARDED_BY(mutex_);
};

AllResults& allResults() { return multipy::base::neverDestroyed<AllResults>(); }

void AllResults::ended(void* thread) { allResults().free(static_cast<Results*>(thread)); }

/// `get` with this thread's results. C code calls this: no exception may get out.
template <class Get>
auto withMine(Get&& get) -> decltype(get(allResults().mine())) {
  try {
    return get(allResults().mine());
  } catch (const std::exception&) {
    errno = ENOMEM;
    return nullptr;
  }
}

/// Calls a function whose name ends with _r until its texts have room. 0 or an errno value.
template <class Value, class Call>
int callWithRoom(Kept<Value>& kept, Call&& call) {
  if (kept.texts.empty()) kept.texts.resize(1024);
  for (;;) {
    const int error = call(&kept.value, kept.texts.data(), kept.texts.size());
    if (error != ERANGE) return error;
    kept.texts.resize(kept.texts.size() * 2);
  }
}

/// The same of one that says what it has found. Null: nothing, or an error, then in errno.
template <class Value, class Call>
Value* find(Kept<Value>& kept, Call&& call) {
  Value* found = nullptr;
  const int error = callWithRoom(kept, [&](Value* value, char* texts, std::size_t size) {
    return call(value, texts, size, &found);
  });
  if (error) errno = error;
  return found;
}

/// The next entry. `read` puts all of them there, alone in the process.
template <class Value, class Read>
Value* nextOf(List<Value>& list, const Read& read) {
  if (!list.isRead) {
    struct Work {
      List<Value>& list;
      const Read& read;
      std::exception_ptr failure;
    } work{list, read, {}};
    multipy::host()->runExclusive(
        [](void* given) {
          auto& work = *static_cast<Work*>(given);
          try {
            work.read(work.list.all);
          } catch (...) {
            work.failure = std::current_exception();
          }
        },
        &work);
    if (work.failure) std::rethrow_exception(work.failure);
    list.isRead = true;
  }
  return list.next < list.all.size() ? &list.all[list.next++].value : nullptr;
}

template <class Value>
void rewind(List<Value> Results::*list) {
  withMine([list](Results& mine) {
    (mine.*list).rewind();
    return nullptr;
  });
}

/// All that a function like getpwent_r() gives.
template <class Value, class Call>
void readAll(std::vector<Kept<Value>>& all, Call&& call) {
  for (;;) {
    Kept<Value> one;
    if (!find(one, call)) return;
    all.push_back(std::move(one));  // the texts stay where they are
  }
}

template <class Value, class Next>
void copyAll(std::vector<Kept<Value>>& all, Next&& next) {
  while (const Value* const each = next()) all.push_back({*each, {}});
}

}  // namespace

void multipy::freeThreadResults() { allResults().freeAll(); }

// What private libraries call, and CPython under its other name.
#define MULTIPY_REPLACES(type, name, ...)                                              \
  extern "C" __attribute__((visibility("default"))) type multipy_##name(__VA_ARGS__);  \
  extern "C" __attribute__((alias("multipy_" #name))) type __wrap_##name(__VA_ARGS__); \
  extern "C" type multipy_##name(__VA_ARGS__)

// --- time

MULTIPY_REPLACES(tm*, localtime, const time_t* time) {
  return withMine([&](Results& mine) { return ::localtime_r(time, &mine.local); });
}
MULTIPY_REPLACES(tm*, gmtime, const time_t* time) {
  return withMine([&](Results& mine) { return ::gmtime_r(time, &mine.utc); });
}
MULTIPY_REPLACES(char*, asctime, const tm* time) {
  return withMine([&](Results& mine) { return ::asctime_r(time, mine.date); });
}
MULTIPY_REPLACES(char*, ctime, const time_t* time) {
  return withMine([&](Results& mine) {
    const tm* const local = ::localtime_r(time, &mine.local);
    return local ? ::asctime_r(local, mine.date) : nullptr;
  });
}

// --- texts

MULTIPY_REPLACES(char*, strtok, char* text, const char* delimiters) {
  return withMine([&](Results& mine) { return ::strtok_r(text, delimiters, &mine.token); });
}

// --- users and groups

MULTIPY_REPLACES(passwd*, getpwnam, const char* name) {
  return withMine([&](Results& mine) {
    return find(mine.user, [&](auto... out) { return ::getpwnam_r(name, out...); });
  });
}
MULTIPY_REPLACES(passwd*, getpwuid, uid_t user) {
  return withMine([&](Results& mine) {
    return find(mine.user, [&](auto... out) { return ::getpwuid_r(user, out...); });
  });
}
MULTIPY_REPLACES(group*, getgrnam, const char* name) {
  return withMine([&](Results& mine) {
    return find(mine.group_, [&](auto... out) { return ::getgrnam_r(name, out...); });
  });
}
MULTIPY_REPLACES(group*, getgrgid, gid_t group) {
  return withMine([&](Results& mine) {
    return find(mine.group_, [&](auto... out) { return ::getgrgid_r(group, out...); });
  });
}

MULTIPY_REPLACES(void, setpwent, ) { rewind(&Results::users); }
MULTIPY_REPLACES(void, endpwent, ) { rewind(&Results::users); }
MULTIPY_REPLACES(void, setgrent, ) { rewind(&Results::groups); }
MULTIPY_REPLACES(void, endgrent, ) { rewind(&Results::groups); }
MULTIPY_REPLACES(passwd*, getpwent, ) {
  return withMine([](Results& mine) {
    return nextOf(mine.users, [](std::vector<Kept<passwd>>& all) {
      __real_setpwent();
      readAll(all, [](auto... out) { return ::getpwent_r(out...); });
      __real_endpwent();
    });
  });
}
MULTIPY_REPLACES(group*, getgrent, ) {
  return withMine([](Results& mine) {
    return nextOf(mine.groups, [](std::vector<Kept<group>>& all) {
      __real_setgrent();
      readAll(all, [](auto... out) { return ::getgrent_r(out...); });
      __real_endgrent();
    });
  });
}

// --- names of the network

MULTIPY_REPLACES(servent*, getservbyname, const char* name, const char* protocol) {
  return withMine([&](Results& mine) {
    return find(mine.service,
                [&](auto... out) { return ::getservbyname_r(name, protocol, out...); });
  });
}
MULTIPY_REPLACES(servent*, getservbyport, int port, const char* protocol) {
  return withMine([&](Results& mine) {
    return find(mine.service,
                [&](auto... out) { return ::getservbyport_r(port, protocol, out...); });
  });
}
MULTIPY_REPLACES(protoent*, getprotobyname, const char* name) {
  return withMine([&](Results& mine) {
    return find(mine.protocol, [&](auto... out) { return ::getprotobyname_r(name, out...); });
  });
}
MULTIPY_REPLACES(protoent*, getprotobynumber, int number) {
  return withMine([&](Results& mine) {
    return find(mine.protocol, [&](auto... out) { return ::getprotobynumber_r(number, out...); });
  });
}
MULTIPY_REPLACES(hostent*, gethostbyname, const char* name) {
  return withMine([&](Results& mine) {
    return find(mine.host, [&](auto... out) { return ::gethostbyname_r(name, out..., &h_errno); });
  });
}
MULTIPY_REPLACES(hostent*, gethostbyaddr, const void* address, socklen_t length, int type) {
  return withMine([&](Results& mine) {
    return find(mine.host, [&](auto... out) {
      return ::gethostbyaddr_r(address, length, type, out..., &h_errno);
    });
  });
}

// --- what is mounted, and who is logged in

MULTIPY_REPLACES(mntent*, getmntent, FILE* file) {
  return withMine([&](Results& mine) {
    mine.mount.texts.resize(std::size_t{16} << 10);  // longer lines are cut off
    return ::getmntent_r(file, &mine.mount.value, mine.mount.texts.data(),
                         static_cast<int>(mine.mount.texts.size()));
  });
}

MULTIPY_REPLACES(void, setutent, ) { rewind(&Results::logins); }
MULTIPY_REPLACES(void, endutent, ) { rewind(&Results::logins); }
MULTIPY_REPLACES(void, setutxent, ) { rewind(&Results::loginsX); }
MULTIPY_REPLACES(void, endutxent, ) { rewind(&Results::loginsX); }
MULTIPY_REPLACES(utmp*, getutent, ) {
  return withMine([](Results& mine) {
    return nextOf(mine.logins, [](std::vector<Kept<utmp>>& all) {
      __real_setutent();
      copyAll(all, __real_getutent);
      __real_endutent();
    });
  });
}
MULTIPY_REPLACES(utmpx*, getutxent, ) {
  return withMine([](Results& mine) {
    return nextOf(mine.loginsX, [](std::vector<Kept<utmpx>>& all) {
      __real_setutxent();
      copyAll(all, __real_getutxent);
      __real_endutxent();
    });
  });
}
