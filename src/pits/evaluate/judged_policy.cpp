#include "pits/evaluate/judged_policy.h"

#include <algorithm>

#include "pits/bandit/bandit.h"

namespace pits {
namespace {

void even(const LoggedData& data, std::size_t i, std::span<double> p) {
  const double share = 1.0 / static_cast<double>(data.action_set(i).count(data.K()));
  for (Action a = 0; a < p.size(); ++a) p[a] = data.admits(i, a) ? share : 0.0;
}

class UniformPolicy : public JudgedPolicy {
 public:
  void probabilities(const LoggedData& data, std::size_t i, std::span<double> p) const override { even(data, i, p); }
};

class FixedPolicy : public JudgedPolicy {
 public:
  explicit FixedPolicy(Action action) : action_(action) {}
  void probabilities(const LoggedData& data, std::size_t i, std::span<double> p) const override {
    if (!data.admits(i, action_)) return even(data, i, p);
    std::ranges::fill(p, 0.0);
    p[action_] = 1.0;
  }

 private:
  Action action_;
};

class ColumnPolicy : public JudgedPolicy {
 public:
  explicit ColumnPolicy(const LoggedPolicy& policy) : policy_(policy) {}
  void probabilities(const LoggedData&, std::size_t i, std::span<double> p) const override {
    std::copy_n(policy_.probabilities.begin() + static_cast<std::ptrdiff_t>(i * p.size()), p.size(), p.begin());
  }

 private:
  const LoggedPolicy& policy_;
};

// Float probabilities of a bandit, scaled to a sum of 1.
void bandit_probabilities(const Bandit& bandit, const LoggedData& data, std::size_t i, std::uint64_t row,
                          std::span<double> p) {
  std::vector<float> own(p.size());
  bandit.probabilities(data.x(i), own, data.action_set(i), row);
  double sum = 0.0;
  for (const float v : own) sum += v;
  for (Action a = 0; a < p.size(); ++a) p[a] = own[a] / sum;
}

class SavedPolicy : public JudgedPolicy {
 public:
  explicit SavedPolicy(Bandit bandit) : bandit_(std::move(bandit)) {}
  void probabilities(const LoggedData& data, std::size_t i, std::span<double> p) const override {
    bandit_probabilities(bandit_, data, i, i, p);
  }

 private:
  Bandit bandit_;
};

// The share of decisions that these probabilities leave to chance, as a floor does.
template <class P>
double share_of_chance(const LoggedData& data, std::size_t i, std::span<const P> p) {
  double least = 1.0, allowed = 0.0;
  for (Action a = 0; a < p.size(); ++a) {
    if (!data.admits(i, a)) continue;
    least = std::min(least, static_cast<double>(p[a]));
    allowed += 1.0;
  }
  return least * allowed;
}

class LearningPolicy : public JudgedPolicy {
 public:
  explicit LearningPolicy(Bandit bandit) : bandit_(std::move(bandit)) {}
  void probabilities(const LoggedData& data, std::size_t i, std::span<double> p) const override {
    bandit_probabilities(bandit_, data, i, 0, p);  // every round learned is another sample
    chance_ = std::min(chance_, share_of_chance<double>(data, i, p));
    const double logged = data.knows_all_propensities() ? share_of_chance(data, i, data.propensities_of(i)) : 0.0;
    logged_chance_ = std::min(logged_chance_, logged);
  }
  bool learns() const override { return true; }
  void learn(const LoggedData& data, std::size_t i) override {
    const ActionSet set = data.action_set(i);
    const Action a = data.actions[i];
    bandit_.learn(data.x(i), a, static_cast<float>(data.rewards[i]),
                  set.features.size() > 0 ? set.features.row(a) : std::span<const float>());
  }
  std::string remark() const override {
    return std::string(
               "it learned from the logger's choices, round by round; alone it would have seen other rewards, and may "
               "have "
               "earned more or less") +
           floor_remark();
  }

 private:
  // Without it even the agent that has written the log would seem better than its own decisions.
  std::string floor_remark() const {
    if (logged_chance_ < 0.01 || chance_ > 0.5 * logged_chance_) return {};
    return fmt::format(
        ". The log leaves {0:.2g} of its decisions to chance, this policy {1:.2g}: a part of the difference is that, "
        "and "
        "not the agent. To compare agents, give it the same floor (agent:...,floor={0:.2g})",
        logged_chance_, chance_);
  }

  Bandit bandit_;
  // The least of the rounds that were judged; learning policies are judged by one thread.
  mutable double chance_ = 1.0, logged_chance_ = 1.0;
};

std::unique_ptr<JudgedPolicy> saved_policy(const std::string& file, const LoggedData& data) {
  Bandit bandit = Bandit::load(file);
  const AgentSetup& setup = bandit.setup();
  if (setup.context_size != data.context_size || setup.actions != data.K()) {
    throw bad_input("'{}' decides among {} actions by {} numbers; the log has {} actions and {} numbers", file,
                    setup.actions, setup.context_size, data.K(), data.context_size);
  }
  return std::make_unique<SavedPolicy>(std::move(bandit));
}

}  // namespace

std::unique_ptr<JudgedPolicy> make_policy(const std::string& spec, const LoggedData& data,
                                          const PolicySettings& settings) {
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (kind == "uniform" && colon == std::string::npos) return std::make_unique<UniformPolicy>();
  if (colon != std::string::npos && rest.empty()) throw bad_input("policy '{}': something must follow the colon", spec);
  if (kind == "fixed") return std::make_unique<FixedPolicy>(data.action_named(rest));
  if (kind == "column") return std::make_unique<ColumnPolicy>(data.policy_named(rest));
  if (kind == "saved") return saved_policy(rest, data);
  if (kind == "agent") {
    const BanditConfig config{.propensity = PropensityKind::estimated, .propensity_draws = settings.draws};
    return std::make_unique<LearningPolicy>(
        Bandit(rest, {.context_size = data.context_size, .actions = data.K(), .seed = settings.seed}, config));
  }
  throw bad_input("there is no policy '{}'; write uniform, fixed:ACTION, saved:FILE, agent:SPEC or column:NAME", spec);
}

}  // namespace pits
