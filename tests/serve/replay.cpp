// Compares the state of a log that is opened, as a service opens it, with that of a learner that follows its events.
//
//   log_replay DIRECTORY [FILE]
//
// The learner starts at the first event or, where FILE is given, in the state that an earlier call has kept there, and
// the new state is kept. Exits with 1 where a byte differs.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits {
namespace {

Snapshot kept_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Snapshot state;
  if (!in.read(reinterpret_cast<char*>(&state.number), sizeof state.number)) return {};
  state.bytes.assign(std::istreambuf_iterator<char>(in), {});
  return state;
}

void keep(const std::string& file, const Snapshot& state) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&state.number), sizeof state.number);
  out << state.bytes;
  if (!out.flush()) throw failed("cannot write '{}'", file);
}

int compare(const std::string& directory, const std::string& file) {
  {
    auto store = std::make_unique<SqliteStore>(directory);
    if (store->last() == 0) return 0;  // killed before it was created
    LiveBandit live(std::move(store));
    live.catch_up();  // opening reserves ids: with that event learned, closing keeps a snapshot
  }
  // What it keeps at its end: windows that close meanwhile change the state until then.
  const SqliteStore store(directory, Access::read);
  const std::vector<Snapshot> kept = store.snapshots();
  if (kept.empty()) throw failed("no snapshot was kept");
  const Snapshot recovered = store.snapshot(kept.back().number);
  const Snapshot before = file.empty() ? Snapshot{} : kept_in(file);
  Learner learner = before.bytes.empty() ? Learner(store) : Learner(store, before);
  learner.follow(recovered.number);
  const Snapshot state{.number = learner.number(), .bytes = learner.saved()};
  if (state.bytes != recovered.bytes)
    throw failed("the recovered state differs from the replay of {} events", state.number);
  if (!file.empty()) keep(file, state);
  fmt::print("the same after {} events, {} of them replayed\n", state.number, state.number - before.number);
  return 0;
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw pits::bad_usage("log_replay DIRECTORY [FILE]");
    return pits::compare(argv[1], argc > 2 ? argv[2] : "");
  } catch (const std::exception& e) {
    fmt::print("log_replay: {}\n", e.what());
    return 1;
  }
}
