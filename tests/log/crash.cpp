// Kills a service with SIGKILL at random moments, again and again, and checks what its log holds.
//
//   log_crash KILLS SEED [RULE]
//
// A kill comes after a number of answered rewards, 0 to 999, so that a busy machine makes the test longer and not
// emptier; every third one comes within 20 ms and meets the creation of the log, its opening and recovery.
//
// The service has 8 clients. Their rewards come late, out of order, twice, for decisions of killed processes, or never;
// every tenth decision is not written; some are cancelled; actions are added. Rewards and cancellations bring the
// records of their decisions, as tokens do. Each client writes down what it was told, after it was told. After every
// kill:
//   - every accepted reward is in the log once, with its value; its decision has settled once, as the rule says, or as
//   lost where its record came back; none is unknown
//   - every decision whose cancellation was accepted has settled as cancelled, and no other one; added actions are in
//   the log once, in their places
//   - every decision that was flushed is in the log, with its action; no id was given twice
//   - trainings end once, or are cut by the kill and start again
//   - the recovered state is, bit for bit, that of a learner that has followed the log from its first event without a
//   pause
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <random>

#include "log/crash_witness.h"

namespace pits::test {
namespace {

constexpr std::size_t most_actions = 10;
constexpr double window = 0.4;  // seconds: some rewards come too late

LiveSetup setup_of(unsigned seed, RewardRule rule) {
  const std::string agents[] = {"lin-ts", "pi-ts:fast,hidden=6,particles=5,train_every=40,train_steps=300"};
  return {.agent = agents[seed % 2],
          .context_size = 3,
          .actions = first_actions,
          .seed = seed,
          .config = {.propensity_draws = 5, .rewards = rule, .window = window}};
}

void cancel(LiveBandit& live, Notes& notes, DecisionId id, const std::string& token) {
  notes.add("cancelling", id);
  notes.add("cancel", id, format_value(live.cancel(id, record_in(token))));
}

void add_action(LiveBandit& live, Notes& notes, const std::string& name) {
  notes.add("adding", name);
  notes.add("added", name, live.add_actions({name}));
}

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
    if (client == 0 && random() % 32 == 0 && live.actions().size() < most_actions) {
      add_action(live, notes, fmt::format("{}-{}", seed, n));
    }
    if (random() % 8 == 0) {
      live.flush();
      notes.add("flushed");
    }
    while (waiting.size() > random() % 40) {
      const std::size_t which = random() % waiting.size();
      const DecisionId id = waiting[which];
      const std::string key = "k" + std::to_string(random() % 3);
      if (random() % 16 == 0) cancel(live, notes, id, tokens.at(id));
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
            << witness.decisions() << " decisions, " << witness.restored() << " of them restored, "
            << witness.cancelled() << " cancelled, " << witness.actions() << " actions, " << witness.rewards()
            << " accepted rewards, " << witness.trainings() << " trainings, " << witness.cut_trainings()
            << " of them cut; nothing lost\n";
  fs::remove_all(directory);
  const bool met_all = witness.rewards() > 0 && witness.restored() > 0 && witness.cancelled() > 0 &&
                       witness.actions() > first_actions.size();
  return met_all ? 0 : 1;
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
