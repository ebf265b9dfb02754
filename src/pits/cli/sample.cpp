// pits sample: the static scenario, particles that approximate a known density.
#include <fmt/format.h>

#include <optional>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/catalogue.h"
#include "pits/core/io/files.h"
#include "pits/report/sample_report.h"

namespace pits::cli {
namespace {

struct SampleOptions {
  std::string target, flow;
  std::optional<std::int64_t> particles, iterations, seed;
  std::vector<std::string> set;
  std::string out, animation;
  bool json = false;
};

SampleConfig resolved(const SampleOptions& options) {
  SampleConfig config;
  const auto set = [&](std::string_view field, const std::string& value) { fields(config).set(field, value); };
  if (!options.target.empty()) set("target", options.target);
  if (!options.flow.empty()) set("flow", options.flow);
  for (const std::string& text : options.set) {
    if (text.starts_with("flow=")) set("flow", text.substr(5));
  }
  // Langevin noise needs plain steps: the default optimiser would refuse it.
  const bool noisy = config.flow.kind == FlowKind::spos || config.flow.kind == FlowKind::sgld;
  if (noisy) config.optimizer = {.rule = Rule::sgd, .step = 0.02};
  if (options.particles) set("particles", fmt::format("{}", *options.particles));
  if (options.iterations) set("iterations", fmt::format("{}", *options.iterations));
  for (const std::string& text : options.set) {
    const auto [field, value] = parse_assignment(text);
    set(field, value);
  }
  target_entry(config.target);  // before its name becomes part of the page's
  if (options.seed.value_or(0) < 0) throw bad_input("seed must be at least 0, not {}", *options.seed);
  config.seed = static_cast<std::uint64_t>(options.seed.value_or(0));
  return config;
}

int sample(const SampleOptions& options, const Words& words) {
  const SampleConfig config = resolved(options);
  const std::filesystem::path page =
      options.out.empty() ? fmt::format("pits-sample-{}-{}.html", config.target, format_value(config.flow.kind))
                          : options.out;
  check_writable(page);
  if (!options.animation.empty()) check_writable(options.animation);
  const SampleResult result = run_sampling(config);
  write_file_atomically(page, sample_page(config, result, shell_line(words)));
  fmt::print("{}", options.json ? sample_json_lines(config, result) : sample_table(config, result));
  announce("Page", page, options.json);
  if (!options.animation.empty()) {
    write_file_atomically(options.animation, sample_animation(config, result));
    announce("Animation", options.animation, options.json);
  }
  return 0;
}

}  // namespace

std::function<int()> add_sample(CLI::App& app, const Words& words) {
  auto* command = app.add_subcommand("sample", "Approximate a known density with particles and measure how well");
  auto options = std::make_shared<SampleOptions>();
  add_text(*command, "--target", options->target, "density; 'pits list targets' shows them (default banana)");
  add_text(*command, "--flow", options->flow, "flow; 'pits list flows' shows them (default svgd)");
  add_whole(*command, "--particles", options->particles, "number of particles M (default 100)");
  add_whole(*command, "--iterations", options->iterations, "steps of the flow (default 1000)");
  add_whole(*command, "--seed", options->seed, "seed of every random draw (default 0)");
  command->add_option("--set", options->set, "field=value of the flow or the optimiser; repeat for more")
      ->allow_extra_args(false);
  add_text(*command, "--out", options->out, "page to write (default pits-sample-TARGET-FLOW.html)");
  add_text(*command, "--animation", options->animation,
           "SVG to write in which the particles move, at most 60 frames: steps are record_every apart");
  command->add_flag("--json", options->json, "one JSON object per line on stdout instead of the table");
  command->footer("Example:\n  pits sample --target banana --flow blob --particles 100");
  return [options, words] { return sample(*options, words); };
}

}  // namespace pits::cli
