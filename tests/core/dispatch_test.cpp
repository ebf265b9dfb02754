// What stands in front of the kernels: shape checks, aliased views, the choice of SIMD target.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

void expect_mismatch(const std::string& operation, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << operation << " accepted shapes that do not match";
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(operation + ": the shapes do not match")) << e.what();
  }
}

// The right shapes are products (2,3)·(3,4), (2,3)·(4,3)ᵀ; each line is wrong in one number.
template <class T>
void expect_mismatches() {
  using View = ConstMatrixView<T>;
  std::array<T, 100> numbers{};
  const auto view = [&](std::size_t rows, std::size_t cols) { return MatrixView<T>(numbers.data(), rows, cols); };
  const auto product = [&](View a, View b, MatrixView<T> c) {
    expect_mismatch("add_product", [=] { add_product(plain<T>(a), b, c); });
  };
  product(view(2, 3), view(2, 4), view(2, 4));
  product(view(2, 3), view(3, 4), view(3, 4));
  product(view(2, 3), view(3, 4), view(2, 5));
  expect_mismatch("add_product", [&] { add_product(transposed<T>(view(2, 3)), view(3, 4), view(2, 4)); });
  const auto rows = [&](View a, View b, MatrixView<T> c) {
    expect_mismatch("add_product_transposed", [=] { add_product_transposed(a, b, c); });
    expect_mismatch("squared_distances", [=] { squared_distances(a, b, c); });
  };
  rows(view(2, 3), view(4, 2), view(2, 4));
  rows(view(2, 3), view(4, 3), view(3, 4));
  rows(view(2, 3), view(4, 3), view(2, 3));
  const auto differences = [&](View w, View a, View b, MatrixView<T> v) {
    expect_mismatch("add_weighted_differences", [=] { add_weighted_differences(w, a, b, v); });
  };
  differences(view(3, 4), view(2, 3), view(4, 3), view(2, 3));
  differences(view(2, 5), view(2, 3), view(4, 3), view(2, 3));
  differences(view(2, 4), view(2, 3), view(4, 2), view(2, 3));
  differences(view(2, 4), view(2, 3), view(4, 3), view(3, 3));
  differences(view(2, 4), view(2, 3), view(4, 3), view(2, 4));
}

TEST(KernelShapes, MismatchesAreErrorsThatNameTheOperation) {
  expect_mismatches<float>();
  expect_mismatches<double>();
}

class SimdTarget : public testing::TestWithParam<std::string> {
 protected:
  void TearDown() override { force_simd_target(""); }
};

// Two memory pages of which the second must not be touched.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    start_ = mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start_ == MAP_FAILED) throw failed("mmap");
    mprotect(static_cast<char*>(start_) + size_, size_, PROT_NONE);
  }
  ~GuardedPage() { munmap(start_, 2 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  MatrixView<float> last_numbers(std::size_t rows, std::size_t cols) {
    auto* end = reinterpret_cast<float*>(static_cast<char*>(start_) + size_);
    const MatrixView<float> view(end - rows * cols, rows, cols);
    std::ranges::fill(view.flat(), 1.0F);
    return view;
  }

 private:
  std::size_t size_;
  void* start_;
};

// Below AVX2, Highway's masked loads and stores touch whole vectors: a fault here.
TEST_P(SimdTarget, KernelsTouchNothingPastTheirMatrices) {
  force_simd_target(GetParam());
  GuardedPage a_page, b_page, c_page;
  for (std::size_t k = 1; k <= 20; ++k) {
    const ConstMatrixView<float> a = a_page.last_numbers(5, k);
    const ConstMatrixView<float> b = b_page.last_numbers(5, k);
    add_product_transposed(a, b, c_page.last_numbers(5, 5));
    squared_distances(a, b, c_page.last_numbers(5, 5));
    MatrixView<float> c = c_page.last_numbers(5, k);
    add_weighted_differences(Matrix<float>(5, 5).view(), a, b, c);
    c = c_page.last_numbers(k, k);
    add_product(transposed(a), b, c);
    EXPECT_EQ(c(k - 1, k - 1), 6.0F);
  }
}

// ‖a_i − b_j‖² with a = (1,2),(3,4) and b = (1,2),(4,8): views of one buffer, not one matrix.
TEST_P(SimdTarget, DistancesTellViewsOfOneBufferApartByTheirStride) {
  force_simd_target(GetParam());
  const std::array<float, 5> buffer = {1, 2, 3, 4, 8};
  Matrix<float> out(2, 2);
  squared_distances({buffer.data(), 2, 2, 2}, {buffer.data(), 2, 2, 3}, out.view());
  EXPECT_EQ(std::vector<float>(out.flat().begin(), out.flat().end()), (std::vector<float>{0, 45, 8, 17}));
}

TEST_P(SimdTarget, IsReportedWhileForcedAndAllTargetsStayListed) {
  const std::vector<std::string> all = simd_targets();
  const std::string widest = simd_target();
  force_simd_target(GetParam());
  EXPECT_EQ(simd_target(), GetParam());
  EXPECT_EQ(simd_targets(), all);
  force_simd_target("");
  EXPECT_EQ(simd_target(), widest);
}

TEST_P(SimdTarget, StaysForcedWhenAnUnknownOneIsRefused) {
  force_simd_target(GetParam());
  EXPECT_THROW(force_simd_target("abacus"), Error);
  EXPECT_EQ(simd_target(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdTarget, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

TEST(SimdTargets, TheWidestComesFirstAndIsTheDefault) {
  ASSERT_FALSE(simd_targets().empty());
  EXPECT_EQ(simd_target(), simd_targets().front());
}

std::vector<float> rounded_products(const std::string& target) {
  force_simd_target(target);
  Matrix<float> a(20, 70);
  for (std::size_t k = 0; k < a.size(); ++k) a.flat()[k] = 1.0F / static_cast<float>(k + 1);
  Matrix<float> c(20, 20);
  add_product_transposed(a.view(), a.view(), c);
  force_simd_target("");
  return {c.flat().begin(), c.flat().end()};
}

// Other lanes add up in another order, so some of 400 sums round differently.
TEST(SimdTargets, ForcingChangesTheKernelThatRuns) {
  const std::vector<std::string> targets = simd_targets();
  if (targets.size() < 2) GTEST_SKIP() << "needs two SIMD targets";
  EXPECT_NE(rounded_products(targets.front()), rounded_products(targets.back()));
}

// As in a service that answers with its engine's name while it opens its first log. What is wrong here shows under
// tsan.
TEST(SimdTargets, IsNamedWhileAnotherThreadForcesOne) {
  const std::vector<std::string> targets = simd_targets();
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) force_simd_target(targets[static_cast<std::size_t>(i) % targets.size()]);
    force_simd_target("");
    done = true;
  });
  while (!done) EXPECT_EQ(std::ranges::count(targets, simd_target()), 1);
  other.join();
}

TEST(SimdTargets, AnUnknownNameGetsASuggestion) {
  const std::string known = simd_targets().front();
  try {
    force_simd_target(known + "x");
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    const std::string message = e.what();
    EXPECT_TRUE(message.starts_with("unknown SIMD target '" + known + "x'; did you mean '" + known + "'?")) << message;
  }
}

}  // namespace
}  // namespace pits
