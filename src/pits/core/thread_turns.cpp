#include "pits/core/thread_turns.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace pits {
namespace {

constexpr int niceness = 10;
constexpr std::uint64_t short_turn = 100'000;  // ns, the least that Linux takes

// As in linux/sched/types.h, which cannot be included beside sched.h.
struct Attributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

}  // namespace

void name_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

void give_way() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness); }

void take_short_turns() {
  Attributes now{};
  if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER) return;
  now.runtime = short_turn;
  syscall(SYS_sched_setattr, 0, &now, 0);
}

}  // namespace pits
