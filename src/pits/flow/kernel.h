// The RBF kernel between particles, k_ij = exp(−‖θ_i − θ_j‖²/h), and the rules for its bandwidth h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pits/core/fields.h"
#include "pits/core/matrix.h"
#include "pits/flow/flow_config.h"

namespace pits {

void parse_value(std::string_view text, Scale& out);
std::string format_value(const Scale& scale);

// The median of d2(i,j), (M,M); the mean of the two middle values where their number is even.
template <class T>
double median(ConstMatrixView<T> d2, bool with_diagonal = true);

// The scale itself: the fixed value, or the median of d2.
template <class T>
double resolve(const Scale& scale, ConstMatrixView<T> d2);

// Bandwidth: the fixed value, or median/log(M+1) (Liu and Wang 2016).
template <class T>
double resolve_bandwidth(const Scale& scale, ConstMatrixView<T> d2);

template <class T>
struct RbfKernel {
  double h = 0.0;              // 0 where the median is: then only equal particles are neighbours
  T slope = 0;                 // 2/h, the factor of (θ_i − θ_j) in −∇k; 0 where h = 0: no repulsion
  Matrix<T> k;                 // (M,M)
  std::vector<T> row_sum;      // S_i = Σ_j k_ij
  Matrix<T> squared_distance;  // (M,M)
};

template <class T>
void evaluate_kernel(ConstMatrixView<T> theta, const Scale& bandwidth, RbfKernel<T>& out);

}  // namespace pits
