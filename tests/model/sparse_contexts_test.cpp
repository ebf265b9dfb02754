// Contexts taken apart into a common row and differences, and the score on them.
#include "pits/model/kernels/sparse_contexts.h"

#include <gtest/gtest.h>

#include "model/score_reference.h"
#include "model/simd_fixture.h"

namespace pits::test {
namespace {

enum class Columns { standardised, raw };

// One-hot columns in groups of five; standardised by made-up means and deviations, and four columns of numbers before
// them, or as they come.
std::vector<double> one_hot_row(std::size_t d, Columns columns, Stream& stream) {
  std::vector<double> x(d);
  for (std::size_t l = 0; l < d; ++l) {
    const bool number = columns == Columns::standardised && l < 4;
    const bool hot = !number && l % 5 == stream.index(5);
    const float shift = columns == Columns::standardised ? 0.1F : 0.0F;
    const float scale = columns == Columns::standardised ? 1.0F + 0.5F * static_cast<float>(l % 3) : 1.0F;
    x[l] = number ? float_normal(stream) : ((hot ? 1.0F : 0.0F) - shift) * scale;
  }
  return x;
}

Problem sparse_problem(std::size_t d, std::vector<int> hidden, Activation activation, std::size_t observations,
                       Columns columns = Columns::standardised) {
  Problem p = make_problem({.config = {.hidden = std::move(hidden), .activation = activation},
                            .d = d,
                            .K = 3,
                            .particles = 2,
                            .observations = observations},
                           d + observations);
  Stream stream({.seed = 5, .purpose = Purpose::target_sample});
  for (PlainObservation& o : p.data) o.x = one_hot_row(d, columns, stream);
  return p;
}

Minibatch minibatch_of(const Problem& p) { return make_minibatch(p.data, p.plain.d, p.plain.K, p.scale); }

// The lists are made where there are no tile registers.
class SparseContextsAsLists : public testing::Test {
 protected:
  void SetUp() override { force_simd_target(simd_targets().back()); }
  void TearDown() override { force_simd_target(""); }
};

TEST_F(SparseContextsAsLists, BaseAndDifferencesAreTheContexts) {
  const Problem p = sparse_problem(57, {5}, Activation::relu, 70);
  const Minibatch batch = minibatch_of(p);
  SparseContexts sparse;
  sparse.find(batch.contexts);
  ASSERT_FALSE(sparse.empty());
  ASSERT_EQ(sparse.columns(), 57U);
  ASSERT_EQ(sparse.observations(), 70U);
  Matrix<double> by_column(57, 70), by_observation(57, 70);
  for (std::size_t l = 0; l < 57; ++l) {
    for (std::size_t k = sparse.by_column.start[l]; k < sparse.by_column.start[l + 1]; ++k) {
      by_column(l, sparse.by_column.other[k]) += sparse.by_column.value[k];
    }
  }
  for (std::size_t b = 0; b < 70; ++b) {
    for (std::size_t k = sparse.by_observation.start[b]; k < sparse.by_observation.start[b + 1]; ++k) {
      by_observation(sparse.by_observation.other[k], b) += sparse.by_observation.value[k];
    }
  }
  for (std::size_t l = 0; l < 57; ++l) {
    for (std::size_t b = 0; b < 70; ++b) {
      EXPECT_EQ(by_column(l, b), by_observation(l, b));
      EXPECT_NEAR(sparse.base[l] + by_column(l, b), batch.contexts(l, b), 2 * 0x1p-24 * (2 + std::abs(sparse.base[l])));
    }
  }
  EXPECT_EQ(sparse.base[0], 0.0F);  // a column of numbers has no base
  EXPECT_EQ(sparse.base[4], -0.1F * 1.5F);
}

TEST(SparseContexts, DenseOrNarrowContextsStayAsTheyAre) {
  SparseContexts sparse;
  sparse.find(minibatch_of(sparse_problem(57, {5}, Activation::relu, 70)).contexts);
  EXPECT_FALSE(sparse.empty());
  sparse.find(minibatch_of(make_problem({.config = {}, .d = 57, .observations = 70}, 1)).contexts);
  EXPECT_TRUE(sparse.empty());
  sparse.find(minibatch_of(sparse_problem(20, {5}, Activation::relu, 70)).contexts);
  EXPECT_TRUE(sparse.empty());
}

TEST_F(SparseContextsAsLists, ConstantContextsHaveNoDifferences) {
  PaddedMatrix<float> contexts(40, 3);
  for (std::size_t l = 0; l < 40; ++l) std::ranges::fill(contexts.row(l), static_cast<float>(l));
  SparseContexts sparse;
  sparse.find(contexts);
  ASSERT_FALSE(sparse.empty());
  EXPECT_EQ(sparse.by_observation.value.size(), 0U);
  EXPECT_EQ(sparse.base[7], 7.0F);
}

// Beside a base of 999 a difference would keep half the digits of 0.01.
TEST_F(SparseContextsAsLists, ABaseFarFromTheOthersIsNotTaken) {
  PaddedMatrix<float> contexts(40, 10);
  for (std::size_t l = 0; l < 40; ++l) std::ranges::fill(contexts.row(l), 0.0F);
  std::ranges::fill(contexts.row(3), 999.0F);
  std::ranges::fill(contexts.row(4), 999.0F);
  contexts(3, 9) = 0.01F;
  contexts(4, 9) = 100.0F;
  SparseContexts sparse;
  sparse.find(contexts);
  ASSERT_FALSE(sparse.empty());
  EXPECT_EQ(sparse.base[3], 0.0F);
  EXPECT_EQ(sparse.by_column.value[sparse.by_column.start[4] - 1], 0.01F);
  EXPECT_EQ(sparse.base[4], 999.0F);
}

class SparseScoreOnTarget : public OnEverySimdTarget {};

// One vector of units and several, partial ones, more observations than are turned at once.
TEST_P(SparseScoreOnTarget, IsTheGradientOfThePlainLogPosterior) {
  int compared = 0;
  for (const int width : {1, 4, 7, 17, 36}) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      for (const Columns columns : {Columns::standardised, Columns::raw}) {
        const Problem p = sparse_problem(40, {width, 3}, activation, 19, columns);
        if (!away_from_kinks(p)) continue;
        Minibatch batch = minibatch_of(p);
        batch.sparse.find(batch.contexts);
        ASSERT_FALSE(batch.sparse.empty());
        EXPECT_EQ(batch.sparse.tiled, tiles_in_use());
        ++compared;
        EXPECT_LT(worst_error(p, score_of(p.model, p.theta, batch)), float_tolerance) << "width " << width;
      }
    }
  }
  EXPECT_GE(compared, 12);
}
INSTANTIATE_TEST_SUITE_P(Simd, SparseScoreOnTarget, testing::ValuesIn(simd_targets()), target_name);

// One workspace for batches of several sizes: nothing of an earlier one is left.
TEST(SparseScore, DoesNotRememberEarlierMinibatches) {
  const Problem large = sparse_problem(40, {7, 3}, Activation::tanh, 60);
  const Problem small = sparse_problem(40, {7, 3}, Activation::tanh, 19);
  Network::Workspace workspace;
  Matrix<float> score(2, large.theta.cols());
  for (const Problem* p : {&large, &small, &large}) {
    Minibatch batch = minibatch_of(*p);
    batch.sparse.find(batch.contexts);
    p->model.score(p->theta, batch, workspace, score);
    const Matrix<float> fresh = score_of(p->model, p->theta, batch);
    EXPECT_TRUE(std::ranges::equal(std::as_const(score).flat(), fresh.flat()));
  }
}

}  // namespace
}  // namespace pits::test
