// The replay buffer: every (context, action, reward) so far, or the last `capacity` of them, sampled uniformly or with
// weights that favour new ones. Copies share their chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pits/core/fields.h"
#include "pits/core/io/archive.h"
#include "pits/core/matrix.h"
#include "pits/core/random.h"
#include "pits/core/value.h"
#include "pits/model/minibatch.h"

namespace pits {

struct Observation {
  std::span<const float> context;
  std::uint32_t action;
  float reward;
  std::span<const float> weights{};  // one for each particle, or none
  std::span<const float> offsets{};
};

// How observations are forgotten: by a window, by weights that fall, or when the world has changed.
struct Memory {
  int capacity = 0;       // observations kept; 0 keeps all
  double discount = 1.0;  // factor of an observation's weight for every one that follows it
  bool adaptive = false;  // what is old is forgotten when a change is found (forgetting.h)

  // The most that t observations count as: min(t, capacity) or min(t, 1/(1 − discount)).
  double remembered(std::uint64_t t) const;
};
Fields fields(Memory& config);

// How many weights and reward offsets every observation carries.
struct MarkCounts {
  std::size_t weights = 0;
  std::size_t offsets = 0;
};

class History {
 public:
  // An observation that k others have followed weighs discountᵏ.
  History(std::size_t context_size, std::size_t actions, const Memory& memory = {}, MarkCounts marks = {});

  void add(const Observation& observation);

  std::size_t size() const;                                  // observations kept
  std::uint64_t seen() const { return forgotten_ + seen_; }  // observations ever added
  // 0 ≤ slot < size(); in order of arrival until the capacity is reached, then the oldest is overwritten.
  Observation operator[](std::size_t slot) const;

  void keep_last(std::size_t n);                          // forgets the others
  std::uint64_t forgotten() const { return forgotten_; }  // so many, at its beginning
  double weight() const;                  // Σ discountᵏ over the observations kept; without a discount: size()
  double weight(std::size_t slot) const;  // discountᵏ of one
  // Of slots first .. first+B−1 where slice() has put them in the batch, (B).
  std::vector<double> weights(std::size_t first, const Minibatch& batch) const;
  std::uint32_t draw_slot(Stream& stream) const;  // in proportion to its weight

  // B observations drawn with replacement, grouped by action. Leaves batch.likelihood_scale alone.
  void sample(Stream& stream, std::size_t batch_size, Minibatch& batch) const;
  // Slots first .. first+count−1, grouped by action; or all kept observations.
  void slice(std::size_t first, std::size_t count, Minibatch& batch) const;
  void all(Minibatch& batch) const { slice(0, size(), batch); }

  void state(Archive& archive);

  // Every one of `heads` groups of actions gets n more: action h·K + a becomes h·(K + n) + a.
  void add_actions(std::size_t n, std::size_t heads = 1);

 private:
  // Memory grows by chunks: no copy of the past when it does.
  static constexpr std::size_t chunk_rows = 1024;
  struct Chunk {
    std::vector<float> contexts;  // (rows, d)
    std::vector<std::uint32_t> actions;
    std::vector<float> rewards;
    std::vector<float> marks;  // (rows, weights + offsets)
  };

  void gather(std::span<const std::uint32_t> slots, Minibatch& batch) const;

  std::size_t context_size_;
  std::size_t actions_;
  std::size_t capacity_;
  MarkCounts marks_;
  double discount_;
  std::uint64_t forgotten_ = 0;  // observations before those that slots count from
  std::uint64_t seen_ = 0;
  std::vector<CopyOnWrite<Chunk>> chunks_;
};

}  // namespace pits
