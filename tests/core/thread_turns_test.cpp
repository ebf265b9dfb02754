#include "pits/core/thread_turns.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>

namespace pits {
namespace {

// The bytes of Linux's sched_attr: size, policy (u32), flags (u64), nice, priority (u32), runtime (u64), ...
std::uint64_t turn() {
  std::array<std::uint64_t, 6> bytes{};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, bytes.data(), sizeof bytes, 0), 0);
  return bytes[3];
}

// Older kernels know no turns of ordinary threads: there nothing changes.
TEST(ThreadTurns, AreShortForThisThreadOnly) {
  const std::uint64_t usual = turn();
  std::thread([&] {
    take_short_turns();
    EXPECT_TRUE(turn() == 100'000 || turn() == usual) << turn();
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), getpriority(PRIO_PROCESS, 0));
  }).join();
  EXPECT_EQ(turn(), usual);
}

TEST(ThreadTurns, OthersGoFirst) {
  const int usual = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  std::thread([&] {
    give_way();
    take_short_turns();
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), 10);
  }).join();
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), usual);
}

TEST(ThreadTurns, NamesAreThoseOfTheThread) {
  std::thread([] {
    name_thread("pits test");
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_EQ(std::string(name.data()), "pits test");
  }).join();
}

}  // namespace
}  // namespace pits
