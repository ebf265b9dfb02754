// The shape checks in front of the kernels, their plain double versions, and the choice of SIMD target.
#include <hwy/targets.h>

#include "pits/core/error.h"
#include "pits/core/kernels.h"
#include "pits/core/tiles.h"

namespace pits {
namespace detail {

// The Highway versions, in kernels.cpp.
void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c);
void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c);
void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out);
void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v);

void add_product(Factor<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t l = 0; l < a.cols; ++l) {
      const double ail = a.data[i * a.row + l * a.col];
      for (std::size_t j = 0; j < b.cols(); ++j) c(i, j) += ail * b(l, j);
    }
  }
}

void add_product_transposed(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) c(i, j) += a(i, l) * b(j, l);
    }
  }
}

void squared_distances(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> out) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      double sum = 0.0;
      for (std::size_t l = 0; l < a.cols(); ++l) sum += (a(i, l) - b(j, l)) * (a(i, l) - b(j, l));
      out(i, j) = sum;
    }
  }
}

void add_weighted_differences(ConstMatrixView<double> w, ConstMatrixView<double> a, ConstMatrixView<double> b,
                              MatrixView<double> v) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      for (std::size_t l = 0; l < a.cols(); ++l) v(i, l) += w(i, j) * (a(i, l) - b(j, l));
    }
  }
}

}  // namespace detail

namespace {

// What may be forced: vectors of one width, and the widest with tile registers beside them where the machine has some.
struct Target {
  std::int64_t vectors;
  bool tiles;
  std::string name() const { return std::string(hwy::TargetName(vectors)) + (tiles ? "_AMX" : ""); }
};

// Widest first. Asked before the first force, which would narrow Highway's answer.
const std::vector<Target>& machine_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (const std::int64_t vectors : hwy::SupportedAndGeneratedTargets()) all.push_back({vectors, false});
    const bool wide = all.front().name().starts_with("AVX3");
    if (wide && machine_has_tiles()) all.insert(all.begin(), {all.front().vectors, true});
    return all;
  }();
  return targets;
}

const Target*& forced_target() {
  static const Target* target = nullptr;
  return target;
}

const Target& target_in_use() { return forced_target() == nullptr ? machine_targets().front() : *forced_target(); }

void check_shape(bool fits, const char* operation) {
  if (!fits) throw failed("{}: the shapes do not match", operation);
}

template <class T>
void checked_product(Factor<T> a, ConstMatrixView<T> b, MatrixView<T> c) {
  check_shape(a.cols == b.rows() && a.rows == c.rows() && b.cols() == c.cols(), "add_product");
  detail::add_product(a, b, c);
}

template <class T>
void checked_product_transposed(ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> c) {
  check_shape(a.cols() == b.cols() && a.rows() == c.rows() && b.rows() == c.cols(), "add_product_transposed");
  detail::add_product_transposed(a, b, c);
}

template <class T>
void checked_distances(ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> out) {
  check_shape(a.cols() == b.cols() && a.rows() == out.rows() && b.rows() == out.cols(), "squared_distances");
  detail::squared_distances(a, b, out);
}

template <class T>
void checked_differences(ConstMatrixView<T> w, ConstMatrixView<T> a, ConstMatrixView<T> b, MatrixView<T> v) {
  check_shape(w.rows() == a.rows() && w.cols() == b.rows() && a.cols() == b.cols() && v.rows() == a.rows() &&
                  v.cols() == a.cols(),
              "add_weighted_differences");
  detail::add_weighted_differences(w, a, b, v);
}

}  // namespace

void add_product(Factor<float> a, ConstMatrixView<float> b, MatrixView<float> c) { checked_product(a, b, c); }
void add_product_transposed(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> c) {
  checked_product_transposed(a, b, c);
}
void squared_distances(ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out) {
  checked_distances(a, b, out);
}
void add_weighted_differences(ConstMatrixView<float> w, ConstMatrixView<float> a, ConstMatrixView<float> b,
                              MatrixView<float> v) {
  checked_differences(w, a, b, v);
}

void add_product(Factor<double> a, ConstMatrixView<double> b, MatrixView<double> c) { checked_product(a, b, c); }
void add_product_transposed(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> c) {
  checked_product_transposed(a, b, c);
}
void squared_distances(ConstMatrixView<double> a, ConstMatrixView<double> b, MatrixView<double> out) {
  checked_distances(a, b, out);
}
void add_weighted_differences(ConstMatrixView<double> w, ConstMatrixView<double> a, ConstMatrixView<double> b,
                              MatrixView<double> v) {
  checked_differences(w, a, b, v);
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& target : machine_targets()) names.push_back(target.name());
  return names;
}

std::string simd_target() { return target_in_use().name(); }

bool tiles_in_use() { return target_in_use().tiles; }

void force_simd_target(const std::string& name) {
  const Target* wanted = nullptr;
  for (const Target& target : machine_targets()) {
    if (name == target.name()) wanted = &target;
  }
  if (!name.empty() && wanted == nullptr) throw unknown_name("SIMD target", name, simd_targets());
  forced_target() = wanted;
  hwy::SetSupportedTargetsForTest(wanted == nullptr ? 0 : wanted->vectors);  // 0: what the machine has
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace pits
