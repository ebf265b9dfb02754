#include "pits/posterior/history.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t line = 16;  // numbers of a cache line

// out(l,b) = rows[b][l] for one line of columns and one of observations. A whole line has a length that the compiler
// knows: without it, the speed of the loop depends on where in memory its code comes to lie.
void transpose_lines(std::span<const float* const> rows, std::size_t b, std::size_t l, MatrixView<float> out) {
  const std::size_t last_column = std::min(l + line, out.rows()), last = std::min(b + line, rows.size());
  for (std::size_t i = l; i < last_column; ++i) {
    float* to = &out(i, b);
    if (last - b == line) {
      for (std::size_t j = 0; j < line; ++j) to[j] = rows[b + j][i];
    } else {
      for (std::size_t j = b; j < last; ++j) *to++ = rows[j][i];
    }
  }
}

// out(l,b) = rows[b][l]. Rows lie anywhere in a long history: the next ones are asked for while these are written.
void transpose_rows(std::span<const float* const> rows, MatrixView<float> out) {
  for (std::size_t b = 0; b < rows.size(); b += line) {
    const std::span<const float* const> next = rows.subspan(std::min(b + line, rows.size()));
    for (std::size_t l = 0; l < out.rows(); l += line) {
      for (const float* row : next.first(std::min(line, next.size()))) __builtin_prefetch(row + l);
      transpose_lines(rows, b, l, out);
    }
  }
}

}  // namespace

double Memory::remembered(std::uint64_t t) const {
  const auto all = static_cast<double>(t);
  if (capacity > 0) return std::min(all, static_cast<double>(capacity));
  return discount < 1.0 ? std::min(all, 1.0 / (1.0 - discount)) : all;
}

Fields fields(Memory& c) {
  return Fields{}
      .add("capacity", c.capacity, "observations kept; 0 keeps all", at_least(0))
      .add("discount", c.discount, "an observation's weight falls by this factor with every one that follows it",
           {.low = 0.0, .high = 1.0, .low_open = true})
      .add("adaptive", c.adaptive, "last_layer=mixture: what is old is forgotten when the world has changed");
}

History::History(std::size_t context_size, std::size_t actions, const Memory& memory, MarkCounts marks)
    : context_size_(context_size),
      actions_(actions),
      capacity_(static_cast<std::size_t>(checked(memory).capacity)),
      marks_(marks),
      discount_(memory.discount) {}

std::size_t History::size() const { return capacity_ == 0 ? seen_ : std::min<std::uint64_t>(seen_, capacity_); }

void History::add(const Observation& observation) {
  if (observation.context.size() != context_size_ || observation.action >= actions_) {
    throw bad_input("history: an observation has {} numbers and an action below {}, not {} and {}", context_size_,
                    actions_, observation.context.size(), observation.action);
  }
  if (observation.weights.size() != marks_.weights || observation.offsets.size() != marks_.offsets) {
    throw bad_input("history: an observation has {} weights and {} offsets, not {} and {}", marks_.weights,
                    marks_.offsets, observation.weights.size(), observation.offsets.size());
  }
  const std::size_t slot = capacity_ == 0 ? seen_ : seen_ % capacity_;
  const std::size_t row = slot % chunk_rows;
  if (slot / chunk_rows == chunks_.size()) {
    const std::size_t rows = capacity_ == 0 ? chunk_rows : std::min(chunk_rows, capacity_ - slot);
    chunks_.emplace_back(Chunk{std::vector<float>(rows * context_size_), std::vector<std::uint32_t>(rows),
                               std::vector<float>(rows), std::vector<float>(rows * (marks_.weights + marks_.offsets))});
  }
  Chunk& chunk = chunks_[slot / chunk_rows].edit();
  std::ranges::copy(observation.context, chunk.contexts.data() + row * context_size_);
  chunk.actions[row] = observation.action;
  chunk.rewards[row] = observation.reward;
  float* marks = chunk.marks.data() + row * (marks_.weights + marks_.offsets);
  std::ranges::copy(observation.weights, marks);
  std::ranges::copy(observation.offsets, marks + marks_.weights);
  ++seen_;
}

Observation History::operator[](std::size_t slot) const {
  const Chunk& chunk = *chunks_[slot / chunk_rows];
  const std::size_t row = slot % chunk_rows;
  const float* marks = chunk.marks.data() + row * (marks_.weights + marks_.offsets);
  return {.context = {chunk.contexts.data() + row * context_size_, context_size_},
          .action = chunk.actions[row],
          .reward = chunk.rewards[row],
          .weights = {marks, marks_.weights},
          .offsets = {marks + marks_.weights, marks_.offsets}};
}

double History::weight() const {
  const auto n = static_cast<double>(size());
  return discount_ == 1.0 ? n : -std::expm1(n * std::log(discount_)) / (1.0 - discount_);
}

double History::weight(std::size_t slot) const {
  const std::uint64_t newest = seen_ - 1;
  const std::uint64_t age = capacity_ == 0 ? newest - slot : (newest % capacity_ + capacity_ - slot) % capacity_;
  return std::pow(discount_, static_cast<double>(age));
}

// Each action's observations lie in order of their slots.
std::vector<double> History::weights(std::size_t first, const Minibatch& batch) const {
  std::vector<double> weights(batch.size());
  std::vector<std::size_t> next(batch.group_start.begin(), batch.group_start.end() - 1);
  for (std::size_t slot = first; slot < first + batch.size(); ++slot) {
    weights[next[(*this)[slot].action]++] = weight(slot);
  }
  return weights;
}

// P(age ≤ k) = (1 − discountᵏ⁺¹)/(1 − discountⁿ), inverted.
std::uint32_t History::draw_slot(Stream& stream) const {
  const auto n = static_cast<std::uint32_t>(size());
  if (discount_ == 1.0) return stream.index(n);
  const double rate = std::log(discount_);
  const double age = std::log1p(stream.uniform() * std::expm1(n * rate)) / rate;
  const auto back = std::min(static_cast<std::uint32_t>(age), n - 1);
  const std::uint64_t newest = seen_ - 1;
  return static_cast<std::uint32_t>(capacity_ == 0 ? newest - back : (newest - back) % capacity_);
}

void History::sample(Stream& stream, std::size_t batch_size, Minibatch& batch) const {
  if (size() == 0) throw failed("history: nothing to sample from");
  thread_local std::vector<std::uint32_t> slots;
  slots.resize(batch_size);
  std::ranges::generate(slots, [&] { return draw_slot(stream); });
  gather(slots, batch);
}

void History::slice(std::size_t first, std::size_t count, Minibatch& batch) const {
  thread_local std::vector<std::uint32_t> slots;
  slots.resize(count);
  std::iota(slots.begin(), slots.end(), static_cast<std::uint32_t>(first));
  gather(slots, batch);
}

// A stable counting sort by action.
void History::gather(std::span<const std::uint32_t> slots, Minibatch& batch) const {
  const std::size_t B = slots.size();
  const auto shape = [B](Matrix<float>& m, std::size_t rows) {
    if (m.rows() != rows || m.cols() != B) m.reshape(rows, B);
  };
  shape(batch.weights, marks_.weights);
  shape(batch.offsets, marks_.offsets);
  batch.rewards.resize(B);
  batch.group_start.assign(actions_ + 1, 0);
  for (const std::uint32_t slot : slots) ++batch.group_start[(*this)[slot].action + 1];
  std::partial_sum(batch.group_start.begin(), batch.group_start.end(), batch.group_start.begin());
  thread_local std::vector<std::size_t> next;
  thread_local std::vector<const float*> rows;
  next.assign(batch.group_start.begin(), batch.group_start.end() - 1);
  rows.resize(B);
  for (const std::uint32_t slot : slots) {
    const Observation o = (*this)[slot];
    const std::size_t column = next[o.action]++;
    rows[column] = o.context.data();
    batch.rewards[column] = o.reward;
    for (std::size_t i = 0; i < marks_.weights; ++i) batch.weights(i, column) = o.weights[i];
    for (std::size_t i = 0; i < marks_.offsets; ++i) batch.offsets(i, column) = o.offsets[i];
  }
  batch.contexts.reshape(context_size_, B);
  transpose_rows(rows, batch.contexts);
}

void History::add_actions(std::size_t n, std::size_t heads) {
  const std::size_t K = actions_ / heads;
  actions_ += n * heads;
  if (heads == 1) return;
  for (CopyOnWrite<Chunk>& chunk : chunks_) {
    for (std::uint32_t& action : chunk.edit().actions) action = static_cast<std::uint32_t>(action + action / K * n);
  }
}

void History::keep_last(std::size_t n) {
  if (n >= size()) return;
  History kept(context_size_, actions_, {}, marks_);
  kept.capacity_ = capacity_;
  kept.discount_ = discount_;
  for (std::uint64_t i = seen_ - n; i < seen_; ++i) kept.add((*this)[capacity_ == 0 ? i : i % capacity_]);
  kept.forgotten_ = forgotten_ + seen_ - n;
  *this = std::move(kept);
}

// Observation by observation, whatever the chunks look like. No decision looks at them.
void History::state(Archive& archive) {
  if (archive.policy()) return;
  std::uint64_t seen = seen_;
  archive.version("History", 1)(seen, forgotten_);
  const std::uint64_t kept = capacity_ == 0 ? seen : std::min<std::uint64_t>(seen, capacity_);
  std::vector<float> numbers(context_size_ + marks_.weights + marks_.offsets + 1);  // the reward comes last
  const std::span<float> all = numbers;
  const std::span<float> marks = all.subspan(context_size_, marks_.weights + marks_.offsets);
  for (std::uint64_t slot = 0; slot < kept; ++slot) {
    std::uint32_t action = 0;
    if (!archive.reading()) {
      const Observation o = (*this)[slot];
      std::ranges::copy(o.context, numbers.begin());
      std::ranges::copy(o.weights, marks.begin());
      std::ranges::copy(o.offsets, marks.begin() + static_cast<std::ptrdiff_t>(marks_.weights));
      numbers.back() = o.reward;
      action = o.action;
    }
    archive(action);
    archive.raw(numbers.data(), numbers.size() * sizeof(float));
    if (!archive.reading()) continue;
    add({.context = all.first(context_size_),
         .action = action,
         .reward = numbers.back(),
         .weights = marks.first(marks_.weights),
         .offsets = marks.last(marks_.offsets)});
  }
  seen_ = seen;
}

}  // namespace pits
