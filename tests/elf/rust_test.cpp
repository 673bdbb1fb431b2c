// A library that rustc makes: a runtime of its own, thread-locals with
// destructors, version script, no C++.
#include <gtest/gtest.h>

#include <thread>

#include "tools.h"

namespace multipy::elf::testing {
namespace {

TEST(Rust, LibrariesHaveCopies) {
  const Workshop shop;
  const auto source = shop.write("counter.rs", R"(
      use std::cell::Cell;
      use std::sync::Mutex;
      static COUNTER: Mutex<i32> = Mutex::new(0);
      thread_local! { static COUNT: Cell<i32> = Cell::new(0); }
      #[no_mangle] pub extern "C" fn next() -> i32 {
          let mut counter = COUNTER.lock().unwrap();
          *counter += 1;
          format!("{}", *counter).parse().unwrap()
      }
      #[no_mangle] pub extern "C" fn next_of_thread() -> i32 {
          COUNT.with(|c| { c.set(c.get() + 1); c.get() })
      }
      #[no_mangle] pub extern "C" fn caught_panic() -> i32 {
          std::panic::set_hook(Box::new(|_| {}));
          std::panic::catch_unwind(|| { panic!("no") }).is_err() as i32
      })");
  const auto original = shop / "libcounter.so";
  run(std::string(rustc) + " --edition 2021 --crate-type cdylib -C opt-level=1 -o " +
      original.string() + " " + source.string());
  const Loaded plain(original), a(shop.copy(original, "a.so")), b(shop.copy(original, "b.so"));
  for (const Loaded* library : {&plain, &a, &b}) {
    EXPECT_EQ(library->call("next"), 1);
    EXPECT_EQ(library->call("next"), 2);
    EXPECT_EQ(library->call("next_of_thread"), 1);
    std::thread([&] { EXPECT_EQ(library->call("next_of_thread"), 1); }).join();
    EXPECT_EQ(library->call("next_of_thread"), 2);
    EXPECT_EQ(library->call("caught_panic"), 1);
  }
}

}  // namespace
}  // namespace multipy::elf::testing
