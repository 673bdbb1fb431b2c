// C functions whose result lies in one variable of the process, called by interpreters at
// once (interpreter/libc/static_results.h).
#include <grp.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>

#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import ctypes, os, tempfile, threading

libc = ctypes.CDLL(None)

class Tm(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in 'sec min hour mday mon year wday yday isdst'.split()]

class Mount(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in 'fsname dir type opts'.split()]

libc.gmtime.restype = ctypes.POINTER(Tm)
libc.asctime.restype = libc.strtok.restype = ctypes.c_char_p
libc.asctime.argtypes = [ctypes.POINTER(Tm)]
libc.strtok.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
libc.setmntent.restype = ctypes.c_void_p
libc.getmntent.argtypes = libc.endmntent.argtypes = [ctypes.c_void_p]
libc.getmntent.restype = ctypes.POINTER(Mount)

def year(seconds): return 1900 + libc.gmtime(ctypes.byref(ctypes.c_long(seconds)))[0].year

def lists(users, groups):
    import grp, pwd
    for _ in range(300):
        assert [user.pw_name for user in pwd.getpwall()] == users
        assert [group.gr_name for group in grp.getgrall()] == groups

def ports(services):
    import socket
    for _ in range(300):
        for name, port in services:
            assert socket.getservbyname(name, 'tcp') == port
            assert socket.getservbyport(port, 'tcp') == name

def times(which):
    for _ in range(3000):
        assert year(which * 366 * 86400) == 1970 + which
        text = libc.asctime(libc.gmtime(ctypes.byref(ctypes.c_long(which * 366 * 86400))))
        assert text.endswith(b'%d\n' % (1970 + which)), text

def tokens(which):
    words = [b'%d-%d' % (which, i) for i in range(20)]
    for _ in range(300):
        text = ctypes.create_string_buffer(b','.join(words))
        assert libc.strtok(text, b',') == words[0]
        for word in words[1:]:
            assert libc.strtok(None, b',') == word
        assert libc.strtok(None, b',') is None

def mounts(which):
    with tempfile.NamedTemporaryFile() as table:
        expected = [b'/mounted/%d/%d' % (which, i) for i in range(40)]
        for folder in expected:
            table.write(b'tmpfs %s tmpfs rw 0 0\n' % folder)
        table.flush()
        for _ in range(100):
            file = libc.setmntent(os.fsencode(table.name), b'r')
            found = []
            while entry := libc.getmntent(file):
                found.append(entry[0].dir)
            libc.endmntent(file)
            assert found == expected, found

def of_threads():
    """Whose results of two threads are each one's own."""
    first = libc.gmtime(ctypes.byref(ctypes.c_long(0)))
    other = threading.Thread(target=year, args=(1_000_000_000,))
    other.start()
    other.join()
    assert first[0].year == 70
    year(1_000_000_000)
    assert first[0].year == 101
)py";

class ThreadResults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(4);
    manager->registerModuleSource("results_test", kModule);
  }
  static void TearDownTestSuite() { delete manager; }

  /// `function(arguments(number of the interpreter))` in all interpreters at once.
  template <typename Arguments>
  static void inAll(const char* function, Arguments&& arguments) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        try {
          const auto I = manager->allInstances()[i].acquireSession();
          std::vector<Obj> all;
          for (const at::IValue& each : std::vector<at::IValue>(arguments(i)))
            all.push_back(I.fromIValue(each));
          I.global("results_test", function)(all);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    for (std::thread& each : threads) each.join();
  }

  inline static InterpreterManager* manager = nullptr;
};

using Values = std::vector<at::IValue>;

TEST_F(ThreadResults, UsersAndGroupsAreListedWhole) {
  c10::List<std::string> users, groups;
  ::setpwent();
  while (const passwd* const each = ::getpwent()) users.push_back(each->pw_name);
  ::endpwent();
  ::setgrent();
  while (const group* const each = ::getgrent()) groups.push_back(each->gr_name);
  ::endgrent();
  ASSERT_FALSE(users.empty());
  inAll("lists", [&](int) { return Values{users, groups}; });
}

// (A system without Debian's netbase knows none: then nothing is asked for.)
TEST_F(ThreadResults, ServicesAreThoseAskedFor) {
  std::vector<at::IValue> services;
  for (const char* name : {"http", "https", "ssh", "smtp", "domain"}) {
    if (const servent* const found = ::getservbyname(name, "tcp"))
      services.push_back(
          c10::ivalue::Tuple::create(std::string(name), int64_t{ntohs(found->s_port)}));
  }
  c10::impl::GenericList all(c10::AnyType::get());
  for (const at::IValue& each : services) all.push_back(each);
  inAll("ports", [&](int) { return Values{all}; });
}

TEST_F(ThreadResults, TimesAreThoseAskedFor) {
  inAll("times", [](int i) { return Values{i}; });
}

TEST_F(ThreadResults, TextsAreCutWhereTheyWereBefore) {
  inAll("tokens", [](int i) { return Values{i}; });
}

TEST_F(ThreadResults, MountsAreThoseOfTheFile) {
  inAll("mounts", [](int i) { return Values{i}; });
}

TEST_F(ThreadResults, OfThreadsOfOneInterpreter) {
  inAll("of_threads", [](int) { return Values{}; });
}

}  // namespace
}  // namespace multipy::runtime
