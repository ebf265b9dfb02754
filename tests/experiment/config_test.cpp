#include "pits/experiment/config.h"

#include <gtest/gtest.h>

#include "pits/experiment/plan.h"

namespace pits {
namespace {

// A value that is not the field's default.
std::string other_value(const Field& field) {
  if (field.type == FieldType::flag) return field.get() == "true" ? "false" : "true";
  if (field.type == FieldType::choice)
    return field.get() == field.choices.front() ? field.choices[1] : field.choices[0];
  if (field.name == "probe") return "posterior";
  if (field.name == "compare") return "pi-ts,particles=3,hidden=4";
  EXPECT_EQ(field.type, FieldType::whole) << field.name << ": say here what another value is";
  return "3";
}

// Whatever a person sets is found in run.json and comes back from it.
TEST(ExperimentConfig, EveryRecordedFieldComesBackFromRunJson) {
  std::size_t recorded = 0;
  ExperimentConfig names;
  for (const Field& named : fields(names).list()) {
    if (!is_recorded(named) || named.type == FieldType::texts) continue;
    ++recorded;
    ExperimentConfig config{
        .agents = {"pi-ts,particles=3,hidden=4"}, .environments = {"linear"}, .device = Device::cuda};
    const std::string value = other_value(named);
    fields(config).set(named.name, value);
    const auto resolved = Plan(config).resolved();
    if (value == "cpu") {
      EXPECT_FALSE(resolved.contains("device") || resolved.contains("precision"));
      continue;
    }
    const auto& written = resolved.at(named.name);
    EXPECT_EQ(written.is_string() ? written.get<std::string>() : written.dump(), value);
    const Plan again = Plan::from_resolved(resolved);
    EXPECT_EQ(again.resolved(), resolved) << named.name;
    ExperimentConfig read = again.config();
    for (const Field& field : fields(read).list()) {
      if (field.name == named.name) {
        EXPECT_EQ(field.get(), value);
      }
    }
  }
  EXPECT_EQ(recorded, 11U);
}

TEST(ExperimentConfig, TheOrderOfRunJsonIsThatOfBefore) {
  const Plan plan({.agents = {"pi-ts,particles=3,hidden=4"},
                   .environments = {"linear"},
                   .feedback = FeedbackKind::all,
                   .probe = "posterior",
                   .diagnostics = true,
                   .device = Device::cuda});
  const auto resolved = plan.resolved();
  std::vector<std::string> keys;
  for (const auto& [key, value] : resolved.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"version", "revision", "simd", "seed", "steps", "realizations", "agents",
                                      "environments", "feedback", "probe", "diagnostics", "device", "precision"}));
}

TEST(ExperimentConfig, OnTheCpuThereIsNoPrecision) {
  ExperimentConfig config{.agents = {"uniform"}, .environments = {"wheel"}, .precision = Precision::float32};
  EXPECT_FALSE(Plan(config).resolved().contains("precision"));
  config.device = Device::automatic;  // whoever knows whether there is a GPU has to decide it
  EXPECT_EQ(Plan(config).config().device, Device::cpu);
}

}  // namespace
}  // namespace pits
