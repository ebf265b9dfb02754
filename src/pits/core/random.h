// Random streams by address on the counter-based generator Philox4x32-10 (Salmon et al. 2011, Random123).
//
// A draw has an address (seed, realization, stream, step), never a history: the same address gives the same
// bits on any number of threads or ranks and after a resume. The seed is Philox's key; the counter is
// (block, step, realization, stream), so two addresses that differ anywhere share no block.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace pits {

// What a draw is for. Environments and agents never share a stream, so that every agent meets the same rounds.
enum class Purpose : std::uint32_t {
  environment_setup = 1,  // the parameters of the problem, once a realization
  environment_context,    // the context of round t
  environment_reward,     // the rewards of round t
  initial_particles,
  decision,           // which particle or posterior draw plays round t
  minibatch,          // which observations training step k sees
  diffusion,          // the noise of SPOS and SGLD at training step k
  target_sample,      // exact samples of a known density
  agent_private,      // anything else an agent draws
  observation_marks,  // what each particle makes of observation t: its weight, its perturbed reward
  posterior_draw,     // draw k from an agent's posterior, for whoever looks at it
  imagined_decision,  // decisions that are drawn to see how probable they are
  exploration,        // whether decision t is left to chance, and to which action
  last_layer,         // where particles' last layers stand in their posteriors after training k
  diagnostics,        // which observations a look at the particles' forces sees
  observation_noise,  // with which noise each draw of the last layers sees observation t
  new_action,         // what is drawn for an action that comes later
};

struct Address {
  std::uint64_t seed = 0;
  std::uint32_t realization = 0;
  Purpose purpose = Purpose::agent_private;
  std::uint32_t step = 0;
};

// Words 4·block .. 4·block+3 of the stream at an address.
std::array<std::uint32_t, 4> philox_block(const Address& address, std::uint32_t block);
// Words first, first+1, ... of the stream at an address; first is a multiple of 4.
void fill_words(const Address& address, std::uint32_t first, std::span<std::uint32_t> out);

// The draws of one address in order. Distributions are our own, since the standard library's differ between
// implementations; each says how many 32-bit words it takes.
class Stream {
 public:
  explicit Stream(const Address& address) : address_(address) {}

  std::uint32_t word();                  // one word
  double uniform();                      // two words; in the open interval (0,1), 52 bits
  float uniform_float();                 // one word; in the open interval (0,1), 23 bits
  std::uint32_t index(std::uint32_t n);  // one word; 0..n−1, each with probability 1/n up to 2⁻³²
  double normal();                       // N(0,1), Box-Muller: four words for every two draws
  double gamma(double shape);            // Γ(shape, rate 1), Marsaglia-Tsang: a varying number of words
  double beta(double a, double b);
  // Index i with probability weights[i] / Σ weights; weights ≥ 0 with a positive sum.
  std::size_t categorical(std::span<const double> weights);

  void fill_normal(std::span<float> out, float sd = 1.0F);

 private:
  Address address_;
  std::array<std::uint32_t, 4> block_{};
  std::uint32_t next_block_ = 0;
  unsigned used_ = 4;  // words of block_ already handed out
  double spare_normal_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace pits
