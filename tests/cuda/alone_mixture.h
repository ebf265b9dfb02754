// A mixture of one realization by the GPU's arithmetic on threads of the CPU: every function that a kernel calls, in
// the order of the kernels, in memory as the GPU has it. The networks' trainings are the CPU's.
#pragma once

#include "cuda/crew.h"
#include "cuda/random_group.h"
#include "pits/cuda/last_layer/robust_units.h"
#include "pits/cuda/mixture/fit.h"
#include "pits/cuda/mixture/round.h"

namespace pits::cuda {

class AloneMixture {
 public:
  AloneMixture(const Settings& settings, const Case& c, const Setting& s, std::size_t realization)
      : s_(settings),
        T_(c.seen),
        K_(c.K),
        sets_(static_cast<std::size_t>(s_.particles) + 1),
        raw_(s_.context_floats(1, T_)),
        contexts_(raw_.size()),
        rewards_(s.rewards.begin() + static_cast<std::ptrdiff_t>(realization * T_ * K_),
                 s.rewards.begin() + static_cast<std::ptrdiff_t>((realization + 1) * T_ * K_)),
        theta_(static_cast<std::size_t>(s_.particles) * static_cast<std::size_t>(s_.network.stride)),
        number_(s.realization[realization]) {
    for (std::size_t t = 0; t < T_; ++t) {
      std::copy_n(s.contexts.data() + (realization * T_ + t) * c.d, c.d, raw_.data() + t * stride());
    }
    allocate();
    make_views();
    write_contexts();
    if (projection_.size() > 0) draw_projection();
    for (int set = 0; set < static_cast<int>(sets_); ++set) finish_set(Alone(), group_, view_, 0, set);
  }
  AloneMixture(const AloneMixture&) = delete;
  AloneMixture& operator=(const AloneMixture&) = delete;

  const TrainingState& training() const { return training_; }
  double linear_weight() const { return state_.linear_weight; }
  const RegressionTotals& totals(std::size_t set, std::size_t action) const { return totals_[set * K_ + action]; }
  std::span<const float> mean(std::size_t set, std::size_t action) {
    return {view_.regression(group_, 0, static_cast<int>(set), static_cast<int>(action)).mean, features(set)};
  }
  std::span<const float> covariance(std::size_t set, std::size_t action) {
    return {view_.regression(group_, 0, static_cast<int>(set), static_cast<int>(action)).covariance,
            features(set) * features(set)};
  }
  std::span<const float> context(std::size_t t) const {
    return {contexts_.data() + t * stride(), static_cast<std::size_t>(s_.context_size)};
  }

  void set_particles(ParticlesView theta) {
    const std::size_t P = s_.parameters.size();
    for (std::size_t l = 0; l < theta.size(); ++l) {
      theta_[l / P * static_cast<std::size_t>(s_.network.stride) + static_cast<std::size_t>(s_.parameters[l % P].at)] =
          theta.data()[l];
    }
    tile_from_ = none;
  }

  // Round t; returns the action.
  Action play(std::size_t round) {
    const int t = static_cast<int>(round);
    if (tile_from_ == none || t == tile_from_ + view_.tile) take_features(t);
    const int ahead = t - tile_from_;
    const DecisionSettings choice{s_.initial_pulls, s_.floor, s_.floor_decay, s_.cold_start};
    std::vector<double> values(K_),
        of_change(static_cast<std::size_t>(ChangeView::scratch_doubles(view_.change.features)));
    std::vector<float> of_learning(2 * (width() + static_cast<std::size_t>(view_.draws)));
    in_team([&](const auto& team) { decide(team, group_, view_, choice, 0, t, ahead, values.data()); });
    for (int set = 0; set < view_.sets; ++set) {
      in_team([&](const auto& team) { learn(team, group_, view_, 0, set, t, ahead, of_learning.data()); });
    }
    in_team([&](const auto& team) { end_round(team, group_, view_, 0, t, of_change.data()); });
    return static_cast<Action>(actions_taken_[round]);
  }

  // What follows the networks' training.
  void refresh_and_fit() {
    if (training_.refreshes != 0) refresh();
    order_history();
    std::vector<TwoDoubles> tile(view_.tile_room() / sizeof(TwoDoubles) + 1);
    std::vector<double> place(static_cast<std::size_t>(packed_size(view_.width))), work((panel + 1) * width());
    for (int set = 0; set < view_.sets; ++set) {
      if (!view_.fits(0, set)) continue;
      for (int a = 0; a < s_.actions; ++a) {
        sum_action(Alone(), group_, view_, 0, set, a, tile.data());
        in_team([&](const auto& team) { fit_action(team, group_, view_, 0, set, a, place.data(), work.data()); });
      }
      in_team([&](const auto& team) { finish_set(team, group_, view_, 0, set); });
    }
  }

  bool crew = false;  // several threads

 private:
  static constexpr int none = -1;
  std::size_t stride() const { return static_cast<std::size_t>(s_.context_stride()); }
  std::size_t width() const { return static_cast<std::size_t>(view_.width); }
  std::size_t features(std::size_t set) const {
    return static_cast<std::size_t>(view_.map(static_cast<int>(set)).settings.features);
  }
  template <class Work>
  void in_team(const Work& work) {
    if (crew) {
      Crew::run(2, work);
    } else {
      work(Alone());
    }
  }

  void allocate() {
    const auto wide = static_cast<std::size_t>(std::max(s_.last_layer.features, s_.mixture.linear.features)),
               S = static_cast<std::size_t>(s_.last_layer.config.held_draws), R = sets_ * K_,
               triangle = static_cast<std::size_t>(packed_size(static_cast<int>(wide)));
    covariance_.resize(R * wide * wide);
    mean_.resize(R * wide);
    deviation_.resize(R * S * wide);
    sums_.resize(R * triangle);
    moment_.resize(R * wide);
    totals_.resize(R);
    terms_.resize(R);
    set_means_.resize(R);
    precision_.resize(sets_ * most_prior_groups);
    for (std::size_t set = 0; set < sets_; ++set) {
      const LastLayerSettings& of = set + 1 == sets_ ? s_.mixture.linear : s_.last_layer;
      for (int g = 0; g < of.groups; ++g)
        precision_[set * most_prior_groups + static_cast<std::size_t>(g)] = of.group[g].precision;
    }
    features_.resize(sets_ * 32 * wide);
    pulls_.resize(K_);
    order_.resize(T_);
    start_.resize(K_ + 1);
    actions_taken_.resize(T_);
    rewards_received_.resize(T_);
    column_units_.resize(static_cast<std::size_t>(s_.raw_context_size));
    marks_.resize(static_cast<std::size_t>(s_.level_columns()), {-1, 0.0F});
    const int F = ChangeView::features_of(s_.context_size);
    change_numbers_.resize(K_ * static_cast<std::size_t>(ChangeView::numbers_per_action(F)));
    times_.resize(K_ * ForgettingConstants::trackers);
    if (s_.context_size > ForgettingConstants::most_inputs) {
      projection_.resize(static_cast<std::size_t>(F - 1) * static_cast<std::size_t>(s_.context_size));
    }
    state_.linear_weight = pits::linear_weight(0.0);
  }

  void make_views() {
    group_.network = s_.network;
    group_.realizations = 1;
    group_.particles = s_.particles;
    group_.rounds = static_cast<int>(T_);
    group_.context_size = s_.context_size;
    group_.context_stride = s_.context_stride();
    group_.actions = s_.actions;
    group_.capacity = s_.capacity;
    group_.seed = s_.seed;
    group_.realization = &number_;
    group_.contexts = contexts_.data();
    group_.rewards = rewards_.data();
    group_.reward_units = &reward_units_;
    group_.actions_taken = actions_taken_.data();
    group_.rewards_received = rewards_received_.data();
    group_.theta = theta_.data();
    group_.training = &training_;
    NetworkLayout no_network;
    no_network.layers = 1;
    view_ = {.networks = {s_.last_layer, s_.network},
             .linear = {s_.mixture.linear, no_network},
             .sets = static_cast<int>(sets_),
             .draws = s_.last_layer.config.held_draws,
             .width = std::max(s_.last_layer.features, s_.mixture.linear.features),
             .tile = 8,
             .covariance = covariance_.data(),
             .mean = mean_.data(),
             .deviation = deviation_.data(),
             .sums = sums_.data(),
             .moment = moment_.data(),
             .totals = totals_.data(),
             .evidence_terms = terms_.data(),
             .precision = precision_.data(),
             .set_means = set_means_.data(),
             .features = features_.data(),
             .state = &state_,
             .pulls = pulls_.data(),
             .intervals = s_.mixture.intervals.data(),
             .training = &training_,
             .any_trains = &any_trains_,
             .change = {.inputs = s_.context_size,
                        .features = s_.mixture.adaptive ? ChangeView::features_of(s_.context_size) : 0,
                        .numbers = change_numbers_.data(),
                        .times = times_.data(),
                        .state = &change_state_,
                        .projection = projection_.empty() ? nullptr : projection_.data()},
             .order = order_.data(),
             .start = start_.data(),
             .singular = &singular_,
             .scratch = nullptr};
  }

  void draw_projection() {
    const Address address{.seed = s_.seed, .realization = number_, .purpose = Purpose::agent_private};
    const auto sd = static_cast<float>(1.0 / std::sqrt(static_cast<double>(s_.context_size)));
    for (std::size_t e = 0; e < projection_.size(); ++e) {
      projection_[e] = sd * static_cast<float>(normal(address, static_cast<std::int64_t>(e)));
    }
  }

  void take_features(int t) {
    std::vector<TwoDoubles> memory(view_.tile_room() / sizeof(TwoDoubles) + 1);
    const int count = std::min(view_.tile, static_cast<int>(T_) - t);
    for (int set = 0; set < view_.sets; ++set) {
      in_team([&](const auto& team) { find_features(team, group_, view_, 0, set, t, count, memory.data()); });
    }
    tile_from_ = t;
  }

  void write_contexts() {
    for (std::size_t e = 0; e < T_ * stride(); ++e) {
      const std::size_t column = e % stride();
      contexts_[e] = context_in_units(raw_.data() + e - column, static_cast<int>(column), s_.raw_context_size,
                                      s_.level_columns(), column_units_.data(), marks_.data());
    }
  }

  void refresh() {
    for (; counted_ < training_.seen; ++counted_) {
      reward_moments_.observe(rewards_[counted_ * K_ + static_cast<std::size_t>(actions_taken_[counted_])],
                              static_cast<double>(counted_ + 1));
    }
    reward_units_ = refreshed(reward_moments_, training_.seen, true);
    std::vector<float> sample(RobustConstants::most_sample);
    for (int j = 0; j < s_.raw_context_size; ++j) {
      in_team([&](const auto& team) {
        find_column(team, group_, raw_.data(), 0, j, sample.data(), column_units_[static_cast<std::size_t>(j)]);
      });
    }
    assign_levels(s_.raw_context_size, s_.level_columns(), column_units_.data(), marks_.data());
    write_contexts();
    for (std::size_t t = 0; t < training_.seen; ++t) take_reward(group_, 0, t, actions_taken_[t]);
  }

  void order_history() {
    const std::uint32_t first = training_.seen - kept(group_, training_);
    std::int32_t next = 0;
    for (std::size_t a = 0; a < K_; ++a) {
      start_[a] = next;
      for (std::uint32_t t = first; t < training_.seen; ++t) {
        if (actions_taken_[t] == static_cast<std::int32_t>(a))
          order_[static_cast<std::size_t>(next++)] = static_cast<std::int32_t>(t);
      }
    }
    start_[K_] = next;
  }

  const Settings& s_;
  std::size_t T_, K_, sets_;
  std::vector<float> raw_, contexts_, rewards_, theta_;
  std::uint32_t number_, any_trains_ = 0;
  std::size_t counted_ = 0;
  int tile_from_ = none;
  std::vector<float> covariance_, mean_, deviation_, features_, projection_, rewards_received_;
  std::vector<double> sums_, moment_, precision_, set_means_, change_numbers_;
  std::vector<RegressionTotals> totals_;
  std::vector<EvidenceTerms> terms_;
  std::vector<TrackerTimes> times_;
  std::vector<std::uint32_t> pulls_;
  std::vector<std::int32_t> order_, start_, actions_taken_;
  std::vector<ColumnUnits> column_units_;
  std::vector<LevelMark> marks_;
  MixtureState state_{};
  ChangeState change_state_{.scores = {}, .error = 1.0};
  TrainingState training_{};
  RewardMoments reward_moments_{};
  RewardUnits reward_units_{};
  std::int32_t singular_ = 0;
  GroupView group_{};
  MixtureView view_{};
};

}  // namespace pits::cuda
