// Kills a service with SIGKILL at random moments, again and again, and checks what its log holds.
//
//   log_crash KILLS SEED [RULE]
//
// A kill comes after a number of answered rewards, 0 to 999, so that a busy machine makes the test longer and not
// emptier; every third one comes within 20 ms and meets the creation of the log, its opening and recovery.
//
// The service has 8 clients. Their rewards come late, out of order, twice, for decisions of killed processes, or never;
// every tenth decision is not written. Rewards bring the records of their decisions, as tokens do. Each client writes
// down what it was told, after it was told. After every kill:
//   - every accepted reward is in the log once, with its value; its decision has settled once, as the rule says, or as
//   lost where its record came back; none is unknown
//   - every decision that was flushed is in the log, with its action; no id was given twice
//   - trainings end once, or are cut by the kill and start again
//   - the recovered state is, bit for bit, that of a learner that has followed the log from its first event without a
//   pause
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "log/crash_notes.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

constexpr int clients = 8;
constexpr double window = 0.4;  // seconds: some rewards come too late

LiveSetup setup_of(unsigned seed, RewardRule rule) {
  const std::string agents[] = {"lin-ts", "pi-ts:fast,hidden=6,particles=5,train_every=40,train_steps=300"};
  return {.agent = agents[seed % 2],
          .context_size = 3,
          .actions = {"a", "b", "c", "d"},
          .seed = seed,
          .config = {.propensity_draws = 5, .rewards = rule, .window = window}};
}

// The value says which decision it is for.
float value_of(DecisionId id) { return static_cast<float>(id % 97) / 97.0F; }

void run_client(LiveBandit& live, const fs::path& directory, int client, unsigned seed) {
  std::mt19937 random(seed);
  std::map<DecisionId, std::string> tokens = last_tokens(notes_of(directory, client), 50);
  std::vector<DecisionId> waiting;
  for (const auto& [id, token] : tokens) waiting.push_back(id);
  Notes notes(notes_of(directory, client));
  notes.add("start");
  for (unsigned n = 0;; ++n) {
    std::vector<float> x(3);
    for (float& v : x) v = static_cast<float>(random() % 1000) / 500.0F - 1.0F;
    Restored made;
    static_cast<Decided&>(made) = live.make(x);
    made.utc = system_clock().utc();
    const bool written = random() % 10 != 0;
    if (written) live.write(Decided(made));
    tokens[made.id] = letters_of(made);
    notes.add(written ? "decided" : "lost", made.id, made.action, tokens[made.id]);
    if (random() % 5 != 0) waiting.push_back(made.id);  // else its reward never comes
    if (random() % 8 == 0) {
      live.flush();
      notes.add("flushed");
    }
    while (waiting.size() > random() % 40) {
      const std::size_t which = random() % waiting.size();
      const DecisionId id = waiting[which];
      const std::string key = "k" + std::to_string(random() % 3);
      const Answer answer = live.reward({id, value_of(id), key, record_in(tokens.at(id))});
      notes.add("reward", id, key, format_value(answer));
      ++answered();
      if (random() % 3 != 0) waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(which));  // else once more
    }
  }
}

[[noreturn]] void serve(const fs::path& directory, unsigned seed, RewardRule rule, unsigned start) {
  auto store = std::make_unique<SqliteStore>(directory / "log");
  if (store->last() == 0) LiveBandit::create(*store, setup_of(seed, rule));
  // Little memory, so that pages and tallies come and go.
  LiveBandit live(std::move(store), system_clock(), {.index_pages = 4, .tallies = 20, .recovery_events = 500});
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c) {
    threads.emplace_back([&, c] { run_client(live, directory, c, start * 100 + static_cast<unsigned>(c)); });
  }
  for (std::thread& thread : threads) thread.join();
  std::abort();  // clients never end
}

// What the log says of every decision, from its events alone; grows with the log.
struct Story {
  std::optional<Action> action;
  bool restored = false;
  std::map<std::string, int> rewards;  // by key
  int settled = 0;
  float value = 0.0F;
  SettleReason reason = SettleReason::reward;
};

class Witness {
 public:
  Witness(const fs::path& directory, RewardRule rule) : directory_(directory), rule_(rule) {
    for (int c = 0; c < clients; ++c) notes_.emplace_back(notes_of(directory, c));
  }

  std::size_t rewards() const { return accepted_; }
  std::size_t decisions() const { return stories_.size(); }
  std::size_t restored() const { return restored_; }
  EventNumber events() const { return last_; }
  std::size_t trainings() const { return trainings_; }
  std::size_t cut_trainings() const { return cut_; }

  void check_after_kill() {
    if (!fs::exists(directory_ / "log" / "events.db")) return;
    {
      auto store = std::make_unique<SqliteStore>(directory_ / "log");
      killed_at_ = store->last();
      if (killed_at_ == 0) return;  // killed before it was created
      LiveBandit live(std::move(store));
      live.saved();  // after a training that was cut, too
    }
    // What it keeps at its end: windows that close meanwhile change the state until then.
    const SqliteStore store(directory_ / "log", Access::read);
    const Snapshot recovered = store.snapshot(store.snapshots().back().number);
    read_events(store);
    // The witness' own state after the kill before, and all events since. (An open learner would keep the file open,
    // and SQLite would have nothing to recover.)
    Learner learner = state_.bytes.empty() ? Learner(store) : Learner(store, state_);
    learner.follow(recovered.number);
    state_ = {.number = learner.number(), .bytes = learner.saved()};
    if (state_.bytes != recovered.bytes) throw failed("the recovered state differs from the replay");
    check_notes();
  }
  // All of it once more, from the first event and the first note.
  void check_all() const {
    const SqliteStore store(directory_ / "log", Access::read);
    Learner learner(store);
    learner.follow(state_.number);
    if (learner.saved() != state_.bytes) throw failed("the replay of all events differs");
    Witness again(directory_, rule_);
    again.read_events(store);
    again.check_notes();
    if (again.last_ != last_ || again.accepted_ != accepted_) throw failed("the log has changed");
  }

 private:
  void read_events(const Store& store) {
    if (store.last() < last_) throw failed("the log had {} events and has {}", last_, store.last());
    while (const auto group = store.group_holding(last_ + 1)) {
      for (; last_ < group->last(); ++last_) {
        const Event event = group->event(last_ + 1);
        read(event);
        read_training(last_ + 1, event);
      }
    }
  }
  void read(const Event& event) {
    if (const Decided* d = decision_in(event)) {
      if (stories_[d->id].action) throw failed("decision {} is in the log twice", d->id);
      stories_[d->id].action = d->action;
      stories_[d->id].restored = std::holds_alternative<Restored>(event);
      restored_ += stories_[d->id].restored ? 1U : 0U;
    } else if (const auto* r = std::get_if<Rewarded>(&event)) {
      Story& story = stories_[r->id];
      if (!story.action || story.settled > 0) throw failed("decision {} has a reward when it must not", r->id);
      if (r->value != value_of(r->id)) throw failed("decision {} has another's reward", r->id);
      if (++story.rewards[r->key] > 1) throw failed("decision {} has reward {} twice", r->id, r->key);
    } else if (const auto* s = std::get_if<Settled>(&event)) {
      Story& story = stories_[s->id];
      if (++story.settled > 1) throw failed("decision {} has settled twice", s->id);
      check_settled(*s, story);
    }
  }
  void read_training(EventNumber number, const Event& event) {
    if (std::holds_alternative<TrainingBegan>(event)) {
      if (training_ != 0) throw failed("the training of event {} has not ended", training_);
      training_ = number;
    } else if (const auto* adopted = std::get_if<TrainingAdopted>(&event)) {
      if (adopted->began != training_) throw failed("event {} adopts another training", number);
      ++trainings_;
      if (training_ <= killed_at_ && number > killed_at_) ++cut_;
      training_ = 0;
    } else if (const auto* skipped = std::get_if<TrainingSkipped>(&event); skipped != nullptr && skipped->began > 0) {
      training_ = 0;
    }
  }
  void check_settled(const Settled& s, const Story& story) const {
    const auto n = static_cast<float>(story.rewards.size());
    const float one = value_of(s.id);
    double sum = 0.0;
    for (int i = 0; i < static_cast<int>(n); ++i) sum += one;
    const float expected = n == 0 ? 0.0F : rule_ == RewardRule::sum ? static_cast<float>(sum) : one;
    const SettleReason reason = story.restored ? SettleReason::lost
                                : n == 0       ? SettleReason::expired
                                               : SettleReason::reward;
    if (s.value != expected || s.reason != reason) throw failed("decision {} has settled wrongly", s.id);
    if (rule_ == RewardRule::first && n > 1) throw failed("decision {} has {} rewards", s.id, n);
  }

  // What clients were told since the last check.
  void check_notes() {
    for (NoteReader& reader : notes_) reader.read(told_);
    for (const auto& [id, action] : told_.flushed) {
      if (!stories_.contains(id)) throw failed("decision {} was flushed and is lost", id);
      if (stories_[id].action != action) throw failed("decision {} has another action", id);
    }
    for (const auto& [id, key, answer] : told_.rewards) check_answer(id, key, answer);
    told_.rewards.clear();
  }
  // The same key may be accepted for a decision once.
  void check_answer(DecisionId id, const std::string& key, const std::string& answer) {
    const auto story = stories_.find(id);
    const bool known = story != stories_.end();
    if (answer == "unknown") throw failed("decision {} was unknown, with its record", id);
    if (!known && answer == "expired" && !told_.flushed.contains(id)) return;  // lost, and came back too late
    if (!known) throw failed("decision {} had a reward and is lost", id);
    if (answer == "duplicate" && story->second.rewards.empty()) throw failed("decision {} had no reward", id);
    if (answer == "expired" && story->second.settled != 1) throw failed("decision {} had not settled", id);
    if (answer != "accepted") return;
    ++accepted_;
    if (!story->second.rewards.contains(key)) throw failed("reward {} {} is lost", id, key);
    if (!accepted_keys_.emplace(id, key).second) throw failed("{} {} was accepted twice", id, key);
  }

  fs::path directory_;
  RewardRule rule_;
  Snapshot state_;
  std::vector<NoteReader> notes_;
  Told told_;
  std::set<std::pair<DecisionId, std::string>> accepted_keys_;
  std::map<DecisionId, Story> stories_;
  EventNumber last_ = 0, killed_at_ = 0, training_ = 0;
  std::size_t accepted_ = 0, restored_ = 0, trainings_ = 0, cut_ = 0;
};

int kill_again_and_again(int kills, unsigned seed, RewardRule rule) {
  std::string pattern = (fs::temp_directory_path() / "pits-crash-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw failed("cannot create '{}'", pattern);
  const fs::path directory = pattern;
  std::mt19937 random(seed);
  Witness witness(directory, rule);
  for (int kill = 0; kill < kills; ++kill) {
    answered() = 0;
    const pid_t child = ::fork();
    if (child == 0) serve(directory, seed, rule, static_cast<unsigned>(kill));
    const bool works = kill % 3 == 0 || wait_for_answers(random() % 1000);
    ::usleep(random() % (kill % 3 == 0 ? 20'000 : 2'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!works) throw failed("the service hangs: {} rewards in two minutes", answered().load());
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) throw failed("the service ended by itself: {}", status);
    witness.check_after_kill();
  }
  witness.check_all();
  std::cout << kills << " kills, rewards=" << format_value(rule) << ": " << witness.events() << " events, "
            << witness.decisions() << " decisions, " << witness.restored() << " of them restored, " << witness.rewards()
            << " accepted rewards, " << witness.trainings() << " trainings, " << witness.cut_trainings()
            << " of them cut; nothing lost\n";
  fs::remove_all(directory);
  return witness.rewards() > 0 && witness.restored() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace pits::test

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw pits::bad_usage("log_crash KILLS SEED [first|sum|largest]");
    pits::RewardRule rule = pits::RewardRule::first;
    if (argc > 3) pits::parse_value(argv[3], rule);
    return pits::test::kill_again_and_again(std::stoi(argv[1]), static_cast<unsigned>(std::stoul(argv[2])), rule);
  } catch (const std::exception& e) {
    std::cout << "log_crash: " << e.what() << '\n';
    return 1;
  }
}
