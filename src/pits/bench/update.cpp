// The update step of pi-ts with SVGD and Adam, and its parts.
#include "pits/bench/operations.h"
#include "pits/bench/plain.h"
#include "pits/bench/problem.h"
#include "pits/core/simd/kernels.h"

namespace pits::bench {
namespace {

using State = benchmark::State;

Minibatch minibatch_of(const Posterior& posterior) {
  Minibatch batch;
  Stream stream({.seed = 1, .purpose = Purpose::minibatch});
  posterior.history().sample(stream, batch_size, batch);
  batch.sparse.find(batch.contexts);
  batch.likelihood_scale = static_cast<float>(history_size) / static_cast<float>(batch_size);
  return batch;
}

Matrix<float> score_of(const Posterior& posterior) {
  Network::Workspace workspace;
  Matrix<float> score(posterior.particles().rows(), posterior.particles().cols());
  posterior.model().score(posterior.particles(), minibatch_of(posterior), workspace, score);
  return score;
}

template <Products products>
void update(const Shape& shape, State& state) {
  Posterior posterior = taught_posterior(shape, products);
  posterior.train(1);  // memory is there from now on
  for (auto _ : state) posterior.train(1);
}

void gather(const Shape& shape, State& state) {
  const Posterior posterior = taught_posterior(shape);
  Minibatch batch;
  std::uint32_t step = 0;
  for (auto _ : state) {
    Stream stream({.seed = 1, .purpose = Purpose::minibatch, .step = step++});
    posterior.history().sample(stream, batch_size, batch);
    benchmark::DoNotOptimize(batch.rewards.data());
  }
}

void score(const Shape& shape, State& state) {
  const Posterior posterior = taught_posterior(shape);
  const Minibatch batch = minibatch_of(posterior);
  Network::Workspace workspace;
  Matrix<float> out(posterior.particles().rows(), posterior.particles().cols());
  for (auto _ : state) posterior.model().score(posterior.particles(), batch, workspace, out);
}

void velocity(const Shape& shape, State& state) {
  const Posterior posterior = taught_posterior(shape);
  const Matrix<float> g = score_of(posterior);
  Matrix<float> v(g.rows(), g.cols());
  Flow<float> flow(particle_config(shape).flow);
  for (auto _ : state) flow.velocity(posterior.particles(), g, v);
}

void optimizer(const Shape& shape, State& state) {
  const Posterior posterior = taught_posterior(shape);
  Particles theta = copy_of(posterior.particles());
  Matrix<float> v = score_of(posterior);
  Optimizer<float> adam(particle_config(shape).optimizer);
  for (auto _ : state) adam.ascend(theta, v);
}

void plain_update(const Shape& shape, State& state) {
  const Posterior posterior = taught_posterior(shape);
  PlainNetworks networks({shape.d, hidden, hidden, shape.K}, 0.1F, posterior.particles());
  Minibatch batch = minibatch_of(posterior);
  for (auto _ : state) {
    Stream stream({.seed = 1, .purpose = Purpose::minibatch, .step = static_cast<std::uint32_t>(networks.steps)});
    posterior.history().sample(stream, batch_size, batch);
    networks.step(batch, 1e-3F);
  }
}

Body with(const Shape& shape, void (*body)(const Shape&, State&)) {
  return [shape, body](State& state) { body(shape, state); };
}

std::string torch_step(const Shape& s) { return fmt::format("step:{}:{}:{}", s.d, s.K, s.M); }

}  // namespace

std::vector<Case> update_cases() {
  std::vector<Case> cases;
  for (const Shape& s : shapes()) {
    const std::string name = "/" + s.name();
    cases.push_back({.name = "update" + name,
                     .body = with(s, update<Products::float32>),
                     .operations = step_operations(s),
                     .reference = with(s, plain_update),
                     .torch = torch_step(s)});
    if (tiles_in_use()) {
      cases.push_back({.name = "update-bf16" + name, .body = with(s, update<Products::bf16>), .torch = torch_step(s)});
    }
    cases.push_back({.name = "update-gather" + name, .body = with(s, gather)});
    cases.push_back({.name = "update-score" + name, .body = with(s, score), .operations = score_operations(s)});
    cases.push_back(
        {.name = "update-velocity" + name, .body = with(s, velocity), .operations = velocity_operations(s)});
    cases.push_back(
        {.name = "update-optimizer" + name, .body = with(s, optimizer), .operations = optimizer_operations(s)});
  }
  return cases;
}

}  // namespace pits::bench
