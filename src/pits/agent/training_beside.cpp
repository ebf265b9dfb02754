#include "pits/agent/training_beside.h"

#include "pits/core/error.h"

namespace pits {

// What is not an Error, such as a lack of memory, leaves everything as it was: the training can be tried again.
void TrainingBeside::train() {
  if (trained_) return;
  std::unique_ptr<Agent> trained = copy_->clone();
  try {
    trained->train();
  } catch (const Error& e) {
    problem_ = e.what();
  }
  copy_ = std::move(trained);
  trained_ = true;
}

void TrainingBeside::learned(const Feedback& event) {
  since_.emplace_back(Outcome{.x = {event.x.begin(), event.x.end()},
                              .z = {event.z.begin(), event.z.end()},
                              .action = event.action,
                              .reward = event.reward,
                              .id = event.id});
}

std::unique_ptr<Agent> TrainingBeside::finish() {
  train();
  for (const auto& lesson : since_) {
    if (const auto* n = std::get_if<std::size_t>(&lesson)) {
      copy_->add_actions(*n);
      continue;
    }
    const auto& [x, z, action, reward, id] = std::get<Outcome>(lesson);
    const Feedback event{.x = x, .action = action, .reward = reward, .id = id, .z = z};
    try {
      copy_->learn({&event, 1});
    } catch (const Error&) {  // left out, in every replay
    }
  }
  return std::move(copy_);
}

}  // namespace pits
