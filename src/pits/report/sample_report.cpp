#include "pits/report/sample_report.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pits/core/io/text_table.h"
#include "pits/report/page.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

Json record_json(const SampleRecord& record) {
  const auto& [w2, mmd, ksd] = record.distances;
  return {{"iteration", record.iteration}, {"w2", w2}, {"mmd", mmd}, {"ksd", ksd}};
}

// Four significant digits are finer than a pixel and keep the page small.
double rounded(double x) { return std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr); }

// The page places values on nodes; ours are at the centres of cells.
Json density_json(const DensityGrid& grid) {
  const auto nx = static_cast<double>(grid.value.cols());
  const auto ny = static_cast<double>(grid.value.rows());
  const double half_x = 0.5 * (grid.window.x_high - grid.window.x_low) / nx;
  const double half_y = 0.5 * (grid.window.y_high - grid.window.y_low) / ny;
  Json values = Json::array();
  for (const double p : grid.value.flat()) values.push_back(rounded(p));
  return {{"x", {grid.window.x_low + half_x, grid.window.x_high - half_x}},
          {"y", {grid.window.y_low + half_y, grid.window.y_high - half_y}},
          {"nx", grid.value.cols()},
          {"ny", grid.value.rows()},
          {"values", std::move(values)}};
}

Json frame_json(const SampleFrame& frame) {
  Json points = Json::array();
  for (std::size_t i = 0; i < frame.particles.rows(); ++i) {
    points.push_back({rounded(frame.particles(i, 0)), rounded(frame.particles(i, 1))});
  }
  return {{"iteration", frame.iteration}, {"particles", std::move(points)}};
}

}  // namespace

std::string sample_table(const SampleConfig& config, const SampleResult& result) {
  TextTable table{.header = {"iteration", "W2", "MMD", "KSD"}, .rows = {}, .left = 0};
  const auto add = [&](const std::string& label, const Distances& d) {
    table.rows.push_back({label});
    for (const double x : {d.w2, d.mmd, d.ksd}) table.rows.back().push_back(fmt::format("{:>9.4f}", x));
  };
  const std::size_t stride = (result.records.size() + 19) / 20;  // at most about twenty lines; the page has all
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    if (i % stride != 0 && i + 1 != result.records.size()) continue;
    add(fmt::format("{}", result.records[i].iteration), result.records[i].distances);
  }
  add("exact", result.floor);
  table.notes.push_back(fmt::format("{} particles of {} on {}; 'exact' is what as many exact samples score.",
                                    config.particles, format_value(config.flow.kind), config.target));
  return as_text(table);
}

std::string sample_json_lines(const SampleConfig& config, const SampleResult& result) {
  std::string lines;
  for (const SampleRecord& record : result.records) {
    Json line = {{"target", config.target}, {"flow", format_value(config.flow.kind)}, {"seed", config.seed}};
    line.update(record_json(record));
    lines += line.dump() + "\n";
  }
  return lines;
}

std::string sample_page(const SampleConfig& config, const SampleResult& result, const std::string& command) {
  const auto flow = static_cast<std::size_t>(config.flow.kind);
  Json data = {{"kind", "sample"},
               {"title", fmt::format("{} on the {} density", format_value(config.flow.kind), config.target)},
               {"command", command},
               {"version", version},
               {"seed", config.seed},
               {"target", config.target},
               {"target_summary", target_entry(config.target).summary},
               {"flow", format_value(config.flow.kind)},
               {"flow_summary", flow_summaries().at(flow)},
               {"particles", config.particles},
               {"iterations", config.iterations},
               {"density", density_json(result.density)},
               {"frames", Json::array()},
               {"metrics", Json::array()},
               {"floor", {{"w2", result.floor.w2}, {"mmd", result.floor.mmd}, {"ksd", result.floor.ksd}}},
               {"settings", Json::object()}};
  for (const SampleFrame& frame : result.frames) data["frames"].push_back(frame_json(frame));
  for (const SampleRecord& record : result.records) data["metrics"].push_back(record_json(record));
  SampleConfig copy = config;
  for (const Field& field : fields(copy).list()) data["settings"][field.name] = field.get();
  return render_page(data);
}

}  // namespace pits
