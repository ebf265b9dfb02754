#include "pits/core/random.h"

#include <cmath>
#include <numbers>

#include "pits/core/error.h"
#include "pits/core/philox.h"

namespace pits {
namespace {

void check_shape(double shape) {
  if (!(shape > 0.0) || !std::isfinite(shape)) {
    throw bad_input("gamma: shape must be positive and finite, not {}", shape);
  }
}

// Marsaglia and Tsang 2000, for shapes of at least 1. Smaller ones follow by Γ(s) = Γ(s+1)·U^{1/s}.
double marsaglia_tsang(Stream& stream, double shape) {
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = stream.normal();
    const double v = std::pow(1.0 + c * z, 3);
    const double u = stream.uniform();
    if (v > 0.0 && std::log(u) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
  }
}

double log_gamma_draw(Stream& stream, double shape) {
  check_shape(shape);
  if (shape >= 1.0) return std::log(marsaglia_tsang(stream, shape));
  const double boosted = marsaglia_tsang(stream, shape + 1.0);
  return std::log(boosted) + std::log(stream.uniform()) / shape;
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(const Address& address, std::uint32_t block) {
  const auto words = philox_words(address, block);
  return {words[0], words[1], words[2], words[3]};
}

void fill_words(const Address& address, std::uint32_t first, std::span<std::uint32_t> out) {
  std::uint32_t block = first / 4;
  std::size_t i = 0;
  for (; i + 4 <= out.size(); i += 4) {
    const auto words = philox_words(address, block++);
    for (unsigned j = 0; j < 4; ++j) out[i + j] = words[j];
  }
  const auto words = philox_words(address, block);
  for (unsigned j = 0; i + j < out.size(); ++j) out[i + j] = words[j];
}

std::uint32_t Stream::word() {
  if (used_ == 4) {
    block_ = philox_block(address_, next_block_++);
    used_ = 0;
  }
  return block_[used_++];
}

double Stream::uniform() {
  const std::uint64_t high = word();
  const std::uint64_t bits = (high << 32 | word()) >> 12;  // 52 bits, then half a unit keeps off 0 and 1
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

float Stream::uniform_float() { return (static_cast<float>(word() >> 9) + 0.5F) * 0x1p-23F; }

std::uint32_t Stream::index(std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word()) * n) >> 32);
}

double Stream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

double Stream::gamma(double shape) {
  check_shape(shape);
  if (shape >= 1.0) return marsaglia_tsang(*this, shape);
  const double boosted = marsaglia_tsang(*this, shape + 1.0);
  return boosted * std::pow(uniform(), 1.0 / shape);
}

// X/(X+Y) by logarithms: with small shapes both gammas can underflow to zero.
double Stream::beta(double a, double b) {
  const double log_x = log_gamma_draw(*this, a);
  const double log_y = log_gamma_draw(*this, b);
  return 1.0 / (1.0 + std::exp(log_y - log_x));
}

std::size_t Stream::categorical(std::span<const double> weights) {
  double total = 0.0;
  for (const double w : weights) {
    if (!(w >= 0.0)) throw bad_input("categorical: a weight must be at least 0, not {}", w);
    total += w;
  }
  if (!(total > 0.0) || !std::isfinite(total)) {
    throw bad_input("categorical: weights must have a positive finite sum, not {}", total);
  }
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    last = i;
    left -= weights[i];
    if (left < 0.0) break;
  }
  return last;
}

void Stream::fill_normal(std::span<float> out, float sd) {
  for (float& x : out) x = sd * static_cast<float>(normal());
}

}  // namespace pits
