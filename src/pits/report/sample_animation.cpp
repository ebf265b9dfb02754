// Particles moving to a density, as an SVG that browsers play by themselves (SMIL), also inside <img>.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pits/report/sample_report.h"

namespace pits {
namespace {

constexpr double side = 480.0;                                   // pixels
constexpr double seconds = 8.0;                                  // of one turn
constexpr double rest_share = 0.3;                               // of the frames: how long the last one stands
constexpr std::array levels = {0.02, 0.08, 0.2, 0.4, 0.6, 0.8};  // of the contours, relative to the peak

struct Point {
  double x, y;
};

// From the plane of the density to pixels, y downwards.
struct Pixels {
  Window window;

  Point operator()(double x, double y) const {
    return {side * (x - window.x_low) / (window.x_high - window.x_low),
            side * (window.y_high - y) / (window.y_high - window.y_low)};
  }
};

struct Node {
  Point at;
  double log_density;
};

// The contour's lines inside one square of four nodes (marching squares). Crossings are interpolated in the log
// density, which is smoother than the density.
void add_lines(const std::array<Node, 4>& square, double log_level, std::string& path) {
  std::array<Point, 4> crossings;
  std::size_t n = 0;
  for (std::size_t e = 0; e < 4; ++e) {
    const auto& [p, a] = square[e];
    const auto& [q, b] = square[(e + 1) % 4];
    if ((a < log_level) == (b < log_level)) continue;
    const double share = (log_level - a) / (b - a);
    crossings[n++] = {p.x + share * (q.x - p.x), p.y + share * (q.y - p.y)};
  }
  for (std::size_t k = 0; k + 1 < n; k += 2) {
    const Point &p = crossings[k], &q = crossings[k + 1];
    path += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", p.x, p.y, q.x, q.y);
  }
}

void add_contour(const DensityGrid& grid, double level, const Pixels& pixels, std::string& path) {
  constexpr std::size_t stride = 2;  // every second value is fine enough
  const auto& [x_low, x_high, y_low, y_high] = grid.window;
  const double dx = (x_high - x_low) / static_cast<double>(grid.value.cols());
  const double dy = (y_high - y_low) / static_cast<double>(grid.value.rows());
  const auto node = [&](std::size_t i, std::size_t j) -> Node {  // values are at the centres of cells
    return {pixels(x_low + dx * (static_cast<double>(i) + 0.5), y_low + dy * (static_cast<double>(j) + 0.5)),
            std::log(std::max(grid.value(j, i), 1e-300))};
  };
  for (std::size_t j = 0; j + stride < grid.value.rows(); j += stride) {
    for (std::size_t i = 0; i + stride < grid.value.cols(); i += stride) {
      const std::size_t right = i + stride, above = j + stride;
      add_lines({node(i, j), node(right, j), node(right, above), node(i, above)}, std::log(level), path);
    }
  }
}

// The nearer to the peak, the darker.
std::string contours(const DensityGrid& grid, const Pixels& pixels) {
  std::string svg;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::string path;
    add_contour(grid, levels[i], pixels, path);
    const double share = static_cast<double>(i + 1) / static_cast<double>(levels.size());
    svg += fmt::format("<path class=\"density\" opacity=\"{:.2f}\" stroke-width=\"{:.1f}\" d=\"{}\"/>\n",
                       0.3 + 0.7 * share, 0.5 + 1.5 * share, path);
  }
  return svg;
}

// One particle: where it ends, and where it is in every frame.
std::string circle(const std::vector<SampleFrame>& frames, std::size_t particle, const Pixels& pixels) {
  std::string xs, ys;
  Point last{};
  const auto add = [&](const Point& p) {
    const char* separator = xs.empty() ? "" : ";";
    xs += fmt::format("{}{:.1f}", separator, p.x);
    ys += fmt::format("{}{:.1f}", separator, p.y);
  };
  for (const SampleFrame& frame : frames)
    add(last = pixels(frame.particles(particle, 0), frame.particles(particle, 1)));
  const auto rest = static_cast<std::size_t>(rest_share * static_cast<double>(frames.size()));
  for (std::size_t i = 0; i < rest; ++i) add(last);
  const auto animate = [](std::string_view name, const std::string& values) {
    return fmt::format("<animate attributeName=\"{}\" dur=\"{}s\" repeatCount=\"indefinite\" values=\"{}\"/>", name,
                       seconds, values);
  };
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\">{}{}</circle>\n", last.x, last.y, animate("cx", xs),
                     animate("cy", ys));
}

constexpr std::string_view style = R"(<style>
.page{fill:#fff}
.density{fill:none;stroke:#8794a8;stroke-linecap:round}
circle{fill:#d9480f;stroke:#fff;stroke-width:.8}
text{font:15px system-ui,sans-serif;fill:#3b4658}
@media(prefers-color-scheme:dark){.page{fill:#161a20}.density{stroke:#76849a}circle{fill:#ff9256;stroke:#16191f}
text{fill:#c9d1de}}
</style>
)";

}  // namespace

std::string sample_animation(const SampleConfig& config, const SampleResult& result) {
  const Pixels pixels{result.density.window};
  const std::string title = fmt::format("{} particles, {} steps of {} to the {} density", config.particles,
                                        config.iterations, format_value(config.flow.kind), config.target);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n",
      side, side + 28.0, title);
  svg += style;
  svg += "<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n";  // readable on any page
  svg += contours(result.density, pixels);
  for (std::size_t i = 0; i < static_cast<std::size_t>(config.particles); ++i) {
    svg += circle(result.frames, i, pixels);
  }
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n</svg>\n", side / 2,
                     side + 20.0, title);
  return svg;
}

}  // namespace pits
