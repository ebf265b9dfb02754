// Every velocity against golden-flows.json, which scripts/golden/flows.py computes with plain loops.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "pits/core/simd/kernels.h"
#include "pits/flow/flow.h"

namespace pits {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json cases = Json::parse(std::ifstream(PITS_TEST_DIR "/flow/golden-flows.json"));
  return cases;
}

template <class T>
Matrix<T> matrix(const Json& rows) {
  Matrix<T> out(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < out.rows(); ++i) {
    for (std::size_t l = 0; l < out.cols(); ++l) out(i, l) = rows[i][l].template get<T>();
  }
  return out;
}

// The config that each name in the file stands for.
std::map<std::string, FlowConfig> configs(const Json& c) {
  const FlowConfig base{.bandwidth = Scale::fixed(c["h"]),
                        .lambda = Scale::fixed(c["lam"]),
                        .gamma = c["gamma"],
                        .tau = c["tau"],
                        .beta = c["beta"]};
  const auto with = [&](FlowKind kind, ScoreAt score_at = ScoreAt::neighbour, bool debiased = true) {
    FlowConfig config = base;
    config.kind = kind;
    config.score_at = score_at;
    config.debiased = debiased;
    return config;
  };
  return {{"ensemble", with(FlowKind::ensemble)},
          {"svgd", with(FlowKind::svgd)},
          {"svgd_own", with(FlowKind::svgd, ScoreAt::own)},
          {"dgf", with(FlowKind::dgf)},
          {"dgf_own", with(FlowKind::dgf, ScoreAt::own)},
          {"dgf_sinkhorn", with(FlowKind::dgf_sinkhorn, ScoreAt::neighbour, false)},
          {"dgf_sinkhorn_debiased", with(FlowKind::dgf_sinkhorn)},
          {"spos_drift", with(FlowKind::spos)},
          {"sgld_drift", with(FlowKind::sgld)},
          {"blob", with(FlowKind::blob)},
          {"gfsd", with(FlowKind::gfsd)},
          {"gfsf", with(FlowKind::gfsf)},
          {"released_svgd", {.kind = FlowKind::svgd}},
          {"released_dgf", {.kind = FlowKind::dgf_released}}};
}

template <class T>
Matrix<T> velocity(const Json& c, const FlowConfig& config) {
  const auto theta = matrix<T>(c["theta"]);
  const auto score = matrix<T>(c["score"]);
  const auto previous = matrix<T>(c["previous"]);
  Matrix<T> v(theta.rows(), theta.cols());
  Workspace<T> w;
  flow_velocity<T>(config, {.theta = theta, .score = score, .previous = previous}, w, v);
  return v;
}

template <class T>
void expect_golden(double tolerance) {
  ASSERT_FALSE(golden().empty());
  for (const Json& c : golden()) {
    const auto by_name = configs(c);
    EXPECT_EQ(by_name.size(), c["velocity"].size()) << "the file has velocities that this test does not name";
    for (const auto& [name, config] : by_name) {
      const auto wanted = matrix<double>(c["velocity"].at(name));
      const Matrix<T> v = velocity<T>(c, config);
      for (std::size_t l = 0; l < v.size(); ++l) {
        ASSERT_NEAR(v.data()[l], wanted.data()[l], tolerance) << name << ", M = " << c["M"] << ", P = " << c["P"];
      }
    }
  }
}

TEST(GoldenFlows, VelocitiesAgreeInDouble) { expect_golden<double>(1e-9); }

TEST(GoldenFlows, VelocitiesAgreeInFloat) { expect_golden<float>(1e-4); }

TEST(GoldenFlows, MediansGiveTheBandwidthAndLambdaOfTheFile) {
  for (const Json& c : golden()) {
    const auto theta = matrix<double>(c["theta"]);
    const auto previous = matrix<double>(c["previous"]);
    RbfKernel<double> kernel;
    evaluate_kernel<double>(theta, Scale{}, kernel);
    EXPECT_NEAR(kernel.h, c["h"].get<double>(), 1e-12 * kernel.h);
    Matrix<double> cost(theta.rows(), theta.rows());
    squared_distances(theta, previous, cost);
    const double lambda = resolve(Scale{}, ConstMatrixView<double>(cost));
    EXPECT_NEAR(lambda, c["lam"].get<double>(), 1e-12 * lambda);
  }
}

}  // namespace
}  // namespace pits
