#include "pits/flow/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pits/core/simd/kernels.h"

namespace pits {

Scale Scale::fixed(double value) {
  check_value(value, above(0));
  return {Rule::fixed, value};
}

void parse_value(std::string_view text, Scale& out) {
  if (text == "median") {
    out = {Scale::Rule::median, 0.0};
  } else if (text == "median-off-diagonal") {
    out = {Scale::Rule::median_off_diagonal, 0.0};
  } else {
    double value = 0.0;
    try {
      parse_value(text, value);
    } catch (const Error&) {
      throw bad_input("must be a positive number, median or median-off-diagonal, not '{}'", text);
    }
    out = Scale::fixed(value);
  }
}

std::string format_value(const Scale& scale) {
  switch (scale.rule) {
    case Scale::Rule::median: return "median";
    case Scale::Rule::median_off_diagonal: return "median-off-diagonal";
    case Scale::Rule::fixed: return format_value(scale.value);
  }
  throw failed("format_value: scale rule {} is not in the enumeration", static_cast<int>(scale.rule));
}

template <class T>
double median(ConstMatrixView<T> d2, bool with_diagonal) {
  thread_local std::vector<T> values;
  values.clear();
  values.reserve(d2.size());
  for (std::size_t i = 0; i < d2.rows(); ++i) {
    for (std::size_t j = 0; j < d2.cols(); ++j) {
      if (with_diagonal || i != j) values.push_back(d2(i, j));
    }
  }
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  if (values.size() % 2 == 1) return upper;
  return 0.5 * (upper + *std::max_element(values.begin(), middle));
}

template <class T>
double resolve(const Scale& scale, ConstMatrixView<T> d2) {
  if (scale.rule == Scale::Rule::fixed) return scale.value;
  return median(d2, scale.rule == Scale::Rule::median);
}

template <class T>
double resolve_bandwidth(const Scale& scale, ConstMatrixView<T> d2) {
  if (scale.rule == Scale::Rule::fixed) return scale.value;
  return resolve(scale, d2) / std::log(static_cast<double>(d2.rows()) + 1.0);
}

template <class T>
void evaluate_kernel(ConstMatrixView<T> theta, const Scale& bandwidth, RbfKernel<T>& out) {
  const std::size_t M = theta.rows();
  out.squared_distance.reshape(M, M);
  squared_distances(theta, theta, out.squared_distance);
  const ConstMatrixView<T> d2 = std::as_const(out.squared_distance).view();
  out.h = resolve_bandwidth(bandwidth, d2);
  if (2.0 / out.h > static_cast<double>(std::numeric_limits<T>::max())) out.h = 0.0;  // 2/h would overflow
  out.slope = out.h > 0.0 ? static_cast<T>(2.0 / out.h) : T{0};
  out.k.reshape(M, M);
  out.row_sum.assign(M, T{0});
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const double c = d2(i, j);
      out.k(i, j) = out.h > 0.0 ? static_cast<T>(std::exp(-c / out.h)) : static_cast<T>(c == 0.0);
      out.row_sum[i] += out.k(i, j);
    }
  }
}

#define PITS_INSTANTIATE(T)                                               \
  template double median<T>(ConstMatrixView<T>, bool);                    \
  template double resolve<T>(const Scale&, ConstMatrixView<T>);           \
  template double resolve_bandwidth<T>(const Scale&, ConstMatrixView<T>); \
  template void evaluate_kernel<T>(ConstMatrixView<T>, const Scale&, RbfKernel<T>&);
PITS_INSTANTIATE(float)
PITS_INSTANTIATE(double)
#undef PITS_INSTANTIATE

}  // namespace pits
