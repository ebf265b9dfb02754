#include "pits/bench/problem.h"

namespace pits::bench {
namespace {

Stream stream_of(std::uint32_t step) { return Stream({.seed = 7, .purpose = Purpose::target_sample, .step = step}); }

// One-hot code of `ones` variables whose numbers of values differ by at most one.
void draw_one_hot(Stream& stream, std::size_t ones, std::span<float> x) {
  std::size_t first = 0;
  for (std::size_t v = 0; v < ones; ++v) {
    const std::size_t end = (v + 1) * x.size() / ones;
    x[first + stream.index(static_cast<std::uint32_t>(end - first))] = 1.0F;
    first = end;
  }
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{9, 7, 20},   {54, 7, 20},      {94, 14, 20},
                                          {389, 9, 20}, {389, 9, 20, 67}, {54, 7, 100}};
  return list;
}

std::string Shape::name() const {
  return fmt::format("d={},K={},M={}{}", d, K, M, ones > 0 ? fmt::format(",ones={}", ones) : "");
}

PosteriorConfig particle_config(const Shape& shape, Products products) {
  PosteriorConfig c;
  c.particles = static_cast<int>(shape.M);
  c.model.hidden = {hidden, hidden};
  c.flow.kind = FlowKind::svgd;
  c.optimizer = {.rule = Rule::adam, .step = 1e-3};
  c.batch = batch_size;
  c.products = products;
  return c;
}

Matrix<float> contexts_of(const Shape& shape, std::size_t n) {
  Stream stream = stream_of(0);
  Matrix<float> x(n, shape.d);
  if (shape.ones == 0) {
    stream.fill_normal(x.flat());
  } else {
    for (std::size_t i = 0; i < n; ++i) draw_one_hot(stream, shape.ones, x.row(i));
  }
  return x;
}

void teach(const Shape& shape, const std::function<void(const Observation&)>& observe) {
  const Matrix<float> x = contexts_of(shape, history_size);
  Stream stream = stream_of(1);
  for (std::size_t i = 0; i < history_size; ++i) {
    const std::uint32_t action = stream.index(static_cast<std::uint32_t>(shape.K));
    observe({.context = x.row(i), .action = action, .reward = static_cast<float>(stream.normal())});
  }
}

Posterior taught_posterior(const Shape& shape, Products products) {
  Posterior posterior(particle_config(shape, products), shape.d, shape.K, {.seed = 1});
  teach(shape, [&](const Observation& o) { posterior.observe(o); });
  return posterior;
}

}  // namespace pits::bench
