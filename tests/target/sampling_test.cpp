#include "pits/target/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "pits/core/error.h"
#include "pits/core/parallel.h"
#include "pits/target/metrics.h"

namespace pits {
namespace {

SampleConfig langevin(FlowKind kind) {
  return {.flow = {.kind = kind}, .optimizer = {.rule = Rule::sgd, .step = 0.02}};
}

SampleConfig short_run(FlowKind kind = FlowKind::svgd) {
  SampleConfig config{.flow = {.kind = kind}, .particles = 20, .iterations = 30, .record_every = 10};
  if (kind == FlowKind::spos || kind == FlowKind::sgld) config.optimizer = langevin(kind).optimizer;
  return config;
}

bool same_bits(const SampleResult& a, const SampleResult& b) {
  const auto same = [](const Distances& x, const Distances& y) {
    return x.w2 == y.w2 && x.mmd == y.mmd && x.ksd == y.ksd;
  };
  bool equal = same(a.floor, b.floor) && a.records.size() == b.records.size() && a.frames.size() == b.frames.size();
  for (std::size_t i = 0; equal && i < a.records.size(); ++i) {
    equal = a.records[i].iteration == b.records[i].iteration && same(a.records[i].distances, b.records[i].distances);
  }
  for (std::size_t i = 0; equal && i < a.frames.size(); ++i) {
    equal = std::ranges::equal(a.frames[i].particles.flat(), b.frames[i].particles.flat());
  }
  return equal;
}

// The text of the Error of the given kind that a config provokes.
std::string refusal(const SampleConfig& config, ErrorKind kind = ErrorKind::input) {
  try {
    run_sampling(config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "was accepted";
  return "";
}

struct Case {
  FlowKind flow;
  std::string target;
};
void PrintTo(const Case& c, std::ostream* out) { *out << format_value(c.flow) << " on " << c.target; }

std::vector<Case> all_cases(const std::vector<FlowKind>& flows) {
  std::vector<Case> cases;
  for (const FlowKind flow : flows) {
    for (const TargetEntry& entry : target_catalogue()) cases.push_back({flow, entry.name});
  }
  return cases;
}

// What clouds of independent exact draws score: mean and standard deviation over 40 of them.
struct ExactScores {
  Distances mean, sd;
};

Distances scores_of(const Target& target, const Mmd& to_sample, const std::vector<Matrix<double>>& references,
                    const Matrix<double>& cloud) {
  Matrix<double> score(cloud.rows(), cloud.cols());
  target_scores(target, cloud, score.view());
  Distances d{.w2 = 0.0, .mmd = to_sample(cloud), .ksd = ksd(cloud, score)};
  for (const Matrix<double>& reference : references) d.w2 += w2(cloud, reference) / double{reference_clouds};
  return d;
}

ExactScores exact_scores(const std::string& name, std::size_t points) {
  constexpr std::uint32_t clouds = 40, seed = 77;
  const auto target = make_target(name);
  const Mmd to_sample(exact_cloud(*target, reference_points, seed, 0));
  std::vector<Matrix<double>> references;
  for (std::uint32_t c = 1; c <= reference_clouds; ++c) references.push_back(exact_cloud(*target, points, seed, c));
  std::vector<Distances> all;
  for (std::uint32_t c = 0; c < clouds; ++c) {
    all.push_back(scores_of(*target, to_sample, references, exact_cloud(*target, points, seed, 100 + c)));
  }
  ExactScores scores;
  for (double Distances::*m : {&Distances::w2, &Distances::mmd, &Distances::ksd}) {
    for (const Distances& d : all) scores.mean.*m += d.*m / clouds;
    for (const Distances& d : all) scores.sd.*m += std::pow(d.*m - scores.mean.*m, 2) / (clouds - 1);
    scores.sd.*m = std::sqrt(scores.sd.*m);
  }
  return scores;
}

class DefaultRun : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(FlowsAndTargets, DefaultRun,
                         testing::ValuesIn(all_cases({FlowKind::svgd, FlowKind::blob, FlowKind::gfsf, FlowKind::spos,
                                                      FlowKind::sgld})),
                         [](const auto& c) { return format_value(c.param.flow) + "_" + c.param.target; });

// At rest particles are as near to the density as independent exact draws, by each of the three distances: at most 4.5
// standard deviations of such clouds above their mean. The start is farther away. tests/target/rest_test.cpp has the
// exact check of where a run ends.
TEST_P(DefaultRun, EndsAsNearAsExactDraws) {
  const Case c = GetParam();
  SampleConfig config{.target = c.target, .flow = {.kind = c.flow}, .record_every = 1000};
  if (c.flow == FlowKind::spos || c.flow == FlowKind::sgld) config.optimizer = langevin(c.flow).optimizer;
  const SampleResult result = run_sampling(config);
  const ExactScores exact = exact_scores(c.target, static_cast<std::size_t>(config.particles));
  const Distances& start = result.records.front().distances;
  const Distances& end = result.records.back().distances;
  for (double Distances::*m : {&Distances::w2, &Distances::mmd, &Distances::ksd}) {
    const double bound = exact.mean.*m + 4.5 * exact.sd.*m;
    EXPECT_LT(end.*m, bound);
    EXPECT_GT(start.*m, bound) << "the start meets it too, so this shows nothing";
  }
}

// SGLD by hand: θ += step·∇log p + √(2·step) N(0, I), fresh noise and the schedule's step at every iteration.
TEST(RunSampling, LangevinStepsAreTheFormula) {
  SampleConfig config = short_run(FlowKind::sgld);
  config.record_every = 1;
  config.iterations = 5;
  config.optimizer.schedule = Schedule::exponential;
  config.optimizer.decay = 0.5;
  const SampleResult result = run_sampling(config);
  const auto target = make_target(config.target);
  Matrix<double> theta = result.frames.front().particles;
  for (int t = 0; t < config.iterations; ++t) {
    const double step = 0.02 * std::exp(-0.5 * t);
    Stream noise({.seed = config.seed, .purpose = Purpose::diffusion, .step = static_cast<std::uint32_t>(t)});
    for (std::size_t i = 0; i < theta.rows(); ++i) {
      double score[2];
      target->score(theta.row(i), score);
      for (std::size_t j = 0; j < 2; ++j) theta(i, j) += step * score[j] + std::sqrt(2.0 * step) * noise.normal();
    }
    const Matrix<double>& reached = result.frames[static_cast<std::size_t>(t) + 1].particles;
    for (std::size_t i = 0; i < theta.size(); ++i) ASSERT_NEAR(theta.flat()[i], reached.flat()[i], 1e-12);
  }
}

TEST(RunSampling, OneParticleClimbsToTheMode) {
  const SampleResult result = run_sampling({.target = "gaussian", .particles = 1});
  for (const double x : result.frames.back().particles.flat()) EXPECT_NEAR(x, 0.0, 1e-3);
}

TEST(RunSampling, IsTheSameToTheBitOnAnyNumberOfThreads) {
  for (const FlowKind kind : {FlowKind::svgd, FlowKind::gfsf, FlowKind::dgf_sinkhorn, FlowKind::spos}) {
    const SampleResult a = run_sampling(short_run(kind));
    EXPECT_TRUE(same_bits(a, run_sampling(short_run(kind))));
    const ThreadScope one(1);
    EXPECT_TRUE(same_bits(a, run_sampling(short_run(kind))));
  }
  SampleConfig other = short_run();
  other.seed = 1;
  EXPECT_FALSE(same_bits(run_sampling(short_run()), run_sampling(other)));
}

// A record looks and does not touch: how often it happens changes no particle.
TEST(RunSampling, RecordingDoesNotDisturbTheParticles) {
  SampleConfig often = short_run(FlowKind::sgld);
  often.record_every = 1;
  const auto a = run_sampling(often), b = run_sampling(short_run(FlowKind::sgld));
  EXPECT_TRUE(std::ranges::equal(a.frames.back().particles.flat(), b.frames.back().particles.flat()));
  EXPECT_EQ(a.records.back().distances.w2, b.records.back().distances.w2);
}

TEST(RunSampling, RecordsTheStartEveryIntervalAndTheEnd) {
  SampleConfig config = short_run();
  config.iterations = 25;
  const SampleResult result = run_sampling(config);
  std::vector<int> recorded, framed;
  for (const SampleRecord& r : result.records) recorded.push_back(r.iteration);
  for (const SampleFrame& f : result.frames) framed.push_back(f.iteration);
  EXPECT_EQ(recorded, (std::vector<int>{0, 10, 20, 25}));
  EXPECT_EQ(framed, recorded);
  EXPECT_EQ(result.density.value.rows(), static_cast<std::size_t>(density_cells));
}

TEST(RunSampling, ThinsTheFramesAndKeepsTheEnds) {
  SampleConfig config = short_run();
  config.particles = 3;
  config.iterations = 200;
  config.record_every = 1;
  const SampleResult result = run_sampling(config);
  EXPECT_EQ(result.records.size(), 201U);
  ASSERT_EQ(result.frames.size(), static_cast<std::size_t>(most_frames));
  EXPECT_EQ(result.frames.front().iteration, 0);
  EXPECT_EQ(result.frames.back().iteration, 200);
  for (std::size_t f = 1; f < result.frames.size(); ++f) {
    EXPECT_GT(result.frames[f].iteration, result.frames[f - 1].iteration);
    EXPECT_FALSE(result.frames[f].particles.flat().empty());
  }
}

TEST(RunSampling, StartsWithTheStandardDeviationAsked) {
  SampleConfig config = short_run();
  config.particles = 500;
  config.iterations = 1;
  config.init_sd = 2.0;
  const Matrix<double> start = run_sampling(config).frames.front().particles;
  double square = 0.0;
  for (const double x : start.flat()) square += x * x / static_cast<double>(start.size());
  EXPECT_NEAR(square, 4.0, 4.0 * 4.0 * std::sqrt(2.0 / 1000.0));
}

TEST(RunSampling, RefusesBadConfigs) {
  const auto with = [](auto change) {
    SampleConfig config = short_run();
    change(config);
    return refusal(config);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(with([](SampleConfig& c) { c.target = "rings"; }).find("did you mean 'ring'"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.particles = 0; }).find("particles: must be at least 1"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.particles = most_particles + 1; }).find("particles"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.iterations = 0; }).find("iterations"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.record_every = 0; }).find("record_every"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.init_sd = nan; }).find("init_sd"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.init_sd = -1.0; }).find("init_sd"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.optimizer.step = nan; }).find("step"), std::string::npos);
  EXPECT_NE(with([](SampleConfig& c) { c.flow.gamma = -1.0; }).find("gamma"), std::string::npos);
}

TEST(RunSampling, RefusesNoiseThroughAnAdaptiveOptimizer) {
  for (const FlowKind kind : {FlowKind::sgld, FlowKind::spos}) {
    SampleConfig config = short_run(kind);
    config.optimizer.rule = Rule::adam;
    const std::string message = refusal(config);
    EXPECT_NE(message.find(format_value(kind)), std::string::npos) << message;
    EXPECT_NE(message.find("optimizer=sgd"), std::string::npos) << message;
  }
  SampleConfig noiseless = short_run(FlowKind::spos);
  noiseless.flow.beta = 0.0;
  noiseless.optimizer.rule = Rule::adam;
  EXPECT_NO_THROW(run_sampling(noiseless));
}

TEST(RunSampling, SaysWhenTheParticlesDiverge) {
  for (const FlowKind kind : {FlowKind::svgd, FlowKind::blob, FlowKind::gfsf, FlowKind::dgf, FlowKind::sgld}) {
    SampleConfig config = short_run(kind);
    config.optimizer = {.rule = Rule::sgd, .step = 1e6};
    const std::string message = refusal(config, ErrorKind::failed);
    EXPECT_NE(message.find("diverged at iteration"), std::string::npos) << message;
    EXPECT_NE(message.find("a step below"), std::string::npos) << message;
  }
}

TEST(SampleConfigFields, CoverTargetFlowAndOptimizerWithoutDoubles) {
  SampleConfig config;
  Fields all = fields(config);
  std::set<std::string> names;
  for (const Field& field : all.list()) EXPECT_TRUE(names.insert(field.name).second) << field.name;
  all.set("target", "ring");
  all.set("flow", "gfsf");
  all.set("optimizer", "sgd");
  all.set("particles", "7");
  EXPECT_EQ(config.target, "ring");
  EXPECT_EQ(config.flow.kind, FlowKind::gfsf);
  EXPECT_EQ(config.optimizer.rule, Rule::sgd);
  EXPECT_EQ(config.particles, 7);
  EXPECT_THROW(all.set("particles", "0"), Error);
}

}  // namespace
}  // namespace pits
