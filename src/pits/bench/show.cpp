// A report as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "pits/bench/bench.h"
#include "pits/core/io/text_table.h"
#include "pits/core/simd/kernels.h"

namespace pits::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(std::optional<double> seconds) {
  if (!seconds) return "";
  if (*seconds < 1e-3) return fmt::format("{:.3g} µs", 1e6 * *seconds);
  if (*seconds < 1.0) return fmt::format("{:.3g} ms", 1e3 * *seconds);
  return fmt::format("{:.3g} s", *seconds);
}

std::string ratio_text(const Row& row, const std::string& reference) {
  const auto found = std::ranges::find(row.references, reference, &Reference::name);
  return found == row.references.end() ? "" : fmt::format("{:.2f}×", found->seconds / row.compared());
}

std::vector<std::string> cells(const Report& report, const Row& row) {
  if (!row.missing.empty()) return {row.name, "-", "", "", "", "", "", "", "", "", "", "", ""};
  const double flops = row.operations.value_or(0.0) / row.compared();
  return {row.name,
          time_text(row.seconds),
          time_text(row.p50),
          time_text(row.p99),
          time_text(row.largest),
          row.operations ? fmt::format("{:.1f}", 1e-9 * flops) : "",
          row.operations && report.sgemm_flops > 0.0 ? fmt::format("{:.0f} %", 100.0 * flops / report.sgemm_flops) : "",
          ratio_text(row, "plain loop"),
          ratio_text(row, "PyTorch"),
          ratio_text(row, "numpy"),
          ratio_text(row, "tuned numpy"),
          ratio_text(row, "one thread"),
          ratio_text(row, "early rounds")};
}

std::vector<std::string> notes(const Report& report) {
  std::vector<std::string> lines;
  const bool counted = std::ranges::any_of(report.rows, [](const Row& row) { return row.operations.has_value(); });
  if (report.sgemm_flops > 0.0) {
    lines.push_back(fmt::format("sgemm 2048³ of OpenBLAS on one thread: {:.1f} GFLOP/s", 1e-9 * report.sgemm_flops));
  } else if (counted) {
    lines.push_back("OpenBLAS is not here (Debian: libopenblas0-pthread): no share of its peak");
  }
  if (!report.torch.empty()) {
    lines.push_back(fmt::format("PyTorch {}, one thread", report.torch));
  } else if (report.torch_wanted) {
    lines.push_back("PyTorch is not here (Debian: python3-torch): no ratio to it");
  }
  if (!report.numpy.empty()) {
    lines.push_back(fmt::format("numpy {}, one thread; tuned: with OpenBLAS's kernels named", report.numpy));
  } else if (report.numpy_wanted) {
    lines.push_back("numpy is not here (Debian: python3-numpy): no ratio to it");
  }
  lines.push_back(
      fmt::format("SIMD target {}; best of several repetitions; ratios above 1: pits is faster", simd_target()));
  for (const Row& row : report.rows) {
    if (!row.missing.empty()) lines.push_back(row.name + ": " + row.missing);
  }
  return lines;
}

Json json_of(const Report& report, const Row& row) {
  const auto or_null = [](std::optional<double> x) { return x ? Json(*x) : Json(nullptr); };
  Json line = {{"name", row.name}};
  if (!row.missing.empty()) {
    line["missing"] = row.missing;
    return line;
  }
  std::optional<double> gflops, share;
  if (row.operations) gflops = 1e-9 * *row.operations / row.compared();
  if (gflops && report.sgemm_flops > 0.0) share = 1e9 * *gflops / report.sgemm_flops;
  line["seconds"] = row.seconds;
  line["p50_seconds"] = or_null(row.p50);
  line["p99_seconds"] = or_null(row.p99);
  line["largest_seconds"] = or_null(row.largest);
  line["operations"] = or_null(row.operations);
  line["gflops"] = or_null(gflops);
  line["share_of_sgemm"] = or_null(share);
  line["references"] = Json::object();
  for (const Reference& r : row.references) {
    line["references"][r.name] = {{"seconds", r.seconds}, {"ratio", r.seconds / row.compared()}};
  }
  return line;
}

}  // namespace

std::string as_text(const Report& report) {
  TextTable table{.header = {"", "time", "p50", "p99", "largest", "GFLOP/s", "of sgemm", "plain loop", "PyTorch",
                             "numpy", "tuned numpy", "one thread", "early rounds"},
                  .rows = {},
                  .notes = notes(report)};
  for (const Row& row : report.rows) table.rows.push_back(cells(report, row));
  return pits::as_text(table);
}

std::vector<Json> as_json(const Report& report) {
  const auto or_null = [](bool there, const Json& value) { return there ? value : Json(nullptr); };
  std::vector<Json> lines = {{{"simd_target", simd_target()},
                              {"sgemm_gflops", or_null(report.sgemm_flops > 0.0, 1e-9 * report.sgemm_flops)},
                              {"torch", or_null(!report.torch.empty(), report.torch)},
                              {"numpy", or_null(!report.numpy.empty(), report.numpy)}}};
  for (const Row& row : report.rows) lines.push_back(json_of(report, row));
  return lines;
}

}  // namespace pits::bench
