#include "pits/report/sample_report.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <sstream>

#include "pits/version.h"
#include "report/page_data.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

SampleResult made_up(int records) {
  SampleResult result;
  for (int i = 0; i < records; ++i) {
    result.records.push_back({.iteration = 10 * i, .distances = {.w2 = 1.0 / (1 + i), .mmd = 0.25, .ksd = 12.34567}});
  }
  Matrix<double> cloud(2, 2);
  cloud(0, 0) = 1.23456;
  cloud(1, 1) = -20.0;
  result.frames = {{.iteration = 0, .particles = cloud}, {.iteration = 10, .particles = cloud}};
  result.floor = {.w2 = 0.1, .mmd = 0.2, .ksd = 0.3};
  result.density.window = {.x_low = -2.0, .x_high = 2.0, .y_low = 0.0, .y_high = 6.0};
  result.density.value = Matrix<double>(3, 2);  // ny = 3, nx = 2
  for (std::size_t i = 0; i < 6; ++i) result.density.value.data()[i] = static_cast<double>(i) / 5.0;
  return result;
}

const SampleConfig ring_by_blob{
    .target = "ring", .flow = {.kind = FlowKind::blob}, .particles = 2, .iterations = 10, .seed = 9};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(SampleTable, ShowsTheDistancesInAlignedColumns) {
  EXPECT_EQ(sample_table(ring_by_blob, made_up(2)),
            "iteration         W2        MMD        KSD\n"
            "        0     1.0000     0.2500    12.3457\n"
            "       10     0.5000     0.2500    12.3457\n"
            "    exact     0.1000     0.2000     0.3000\n"
            "\n"
            "2 particles of blob on ring; 'exact' is what as many exact samples score.\n");
}

TEST(SampleTable, OfManyRecordsShowsAboutTwentyWithFirstAndLast) {
  for (const int records : {20, 21, 51, 1001}) {
    const auto lines = lines_of(sample_table(ring_by_blob, made_up(records)));
    EXPECT_LE(lines.size(), 21U + 4U) << records;
    EXPECT_GE(lines.size(), 10U + 4U) << records;
    EXPECT_TRUE(lines.at(1).starts_with("        0 ")) << lines.at(1);
    const std::string last = lines.at(lines.size() - 4);
    EXPECT_NE(last.find(" " + std::to_string(10 * (records - 1)) + " "), std::string::npos) << last;
  }
}

TEST(SampleJson, IsALineForEachRecord) {
  const auto lines = lines_of(sample_json_lines(ring_by_blob, made_up(30)));
  ASSERT_EQ(lines.size(), 30U);
  EXPECT_EQ(Json::parse(lines[3]), Json({{"target", "ring"},
                                         {"flow", "blob"},
                                         {"seed", 9},
                                         {"iteration", 30},
                                         {"w2", 0.25},
                                         {"mmd", 0.25},
                                         {"ksd", 12.34567}}));
}

TEST(SamplePage, HasTheKeysOfTheContract) {
  const auto data = test::page_data(sample_page(ring_by_blob, made_up(3), "pits sample"));
  EXPECT_EQ(data["kind"], "sample");
  test::expect_keys(data, {"title", "target_summary", "flow_summary"});
  EXPECT_EQ(data["command"], "pits sample");
  EXPECT_EQ(data["version"], version);
  EXPECT_EQ(data["seed"], 9);
  EXPECT_EQ(data["target"], "ring");
  EXPECT_EQ(data["flow"], "blob");
  EXPECT_NE(data["flow_summary"].get<std::string>().find("Blob"), std::string::npos);
  EXPECT_EQ(data["particles"], 2);
  EXPECT_EQ(data["iterations"], 10);
  ASSERT_EQ(data["metrics"].size(), 3U);
  EXPECT_EQ(data["metrics"][1], Json({{"iteration", 10}, {"w2", 0.5}, {"mmd", 0.25}, {"ksd", 12.34567}}));
  EXPECT_EQ(data["floor"]["w2"], 0.1);
  EXPECT_EQ(data["floor"]["mmd"], 0.2);
  SampleConfig copy = ring_by_blob;
  for (const Field& field : fields(copy).list()) EXPECT_EQ(data["settings"].at(field.name), field.get());
}

TEST(SamplePage, PlacesTheDensityOnTheCentresOfItsCells) {
  const auto density = test::page_data(sample_page(ring_by_blob, made_up(1), ""))["density"];
  EXPECT_EQ(density["nx"], 2);
  EXPECT_EQ(density["ny"], 3);
  EXPECT_EQ(density["x"], (std::vector<double>{-1.0, 1.0}));
  EXPECT_EQ(density["y"], (std::vector<double>{1.0, 5.0}));
  EXPECT_EQ(density["values"], (std::vector<double>{0.0, 0.2, 0.4, 0.6, 0.8, 1.0}));
}

TEST(SamplePage, RoundsParticlesToFourDigits) {
  const auto frames = test::page_data(sample_page(ring_by_blob, made_up(1), ""))["frames"];
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1]["iteration"], 10);
  EXPECT_EQ(frames[1]["particles"].dump(), "[[1.235,0.0],[0.0,-20.0]]");
}

TEST(SamplePage, AcceptsADensityThatAllButVanishes) {
  SampleResult result = made_up(1);
  result.density.value(0, 0) = 3e-310;
  EXPECT_NEAR(test::page_data(sample_page(ring_by_blob, result, ""))["density"]["values"][0].get<double>(), 0.0,
              1e-300);
}

TEST(SamplePage, OfARealSamplingHasFramesOfAllParticles) {
  SampleConfig config = ring_by_blob;
  config.particles = 7;
  const auto data = test::page_data(sample_page(config, run_sampling(config), ""));
  EXPECT_EQ(data["density"]["values"].size(),
            data["density"]["nx"].get<std::size_t>() * data["density"]["ny"].get<std::size_t>());
  for (const auto& frame : data["frames"]) EXPECT_EQ(frame["particles"].size(), 7U);
  EXPECT_EQ(data["frames"].back()["iteration"], 10);
}

// The density exp(−r²/2) has the level c on the circle of radius √(−2 ln c).
TEST(SampleAnimation, ContoursLieWhereTheDensityHasTheirLevels) {
  SampleResult result = made_up(1);
  result.density.window = {.x_low = -4.0, .x_high = 4.0, .y_low = -4.0, .y_high = 4.0};
  result.density.value = Matrix<double>(120, 120);
  for (std::size_t j = 0; j < 120; ++j) {
    for (std::size_t i = 0; i < 120; ++i) {
      const double x = -4.0 + (double(i) + 0.5) / 15.0, y = -4.0 + (double(j) + 0.5) / 15.0;
      result.density.value(j, i) = std::exp(-0.5 * (x * x + y * y));
    }
  }
  const std::string svg = sample_animation(ring_by_blob, result);
  std::size_t start = 0;
  double last_opacity = 0.0;
  for (const double level : {0.02, 0.08, 0.2, 0.4, 0.6, 0.8}) {  // a path each, of the circle of this radius
    const double radius = std::sqrt(-2.0 * std::log(level));
    const std::size_t at = svg.find(" opacity=\"", start) + 10;
    const double opacity = std::stod(svg.substr(at));
    EXPECT_GT(opacity, last_opacity);  // nearer to the peak: darker
    last_opacity = opacity;
    start = svg.find(" d=\"M", at) + 4;
    std::string path = svg.substr(start, svg.find('"', start) - start);
    for (char& c : path) c = c == 'M' || c == 'L' ? ' ' : c;
    std::istringstream in(path);
    int points = 0;
    for (double px = 0.0, py = 0.0; in >> px >> py; ++points) {
      EXPECT_NEAR(std::hypot(px / 60.0 - 4.0, 4.0 - py / 60.0), radius, 0.02);  // a seventh of a square's side
    }
    EXPECT_GT(points, 30) << level;
  }
  EXPECT_LE(last_opacity, 1.0);
}

TEST(SampleAnimation, ParticlesPassThroughTheFramesAndRestAtTheLast) {
  SampleResult result = made_up(1);
  result.frames.clear();
  for (int f = 0; f < 10; ++f) {
    Matrix<double> cloud(2, 2);
    cloud(0, 0) = -2.0 + 0.4 * f;  // from the left side of the window to nine tenths of its width
    cloud(0, 1) = 6.0;             // at the top
    result.frames.push_back({.iteration = f, .particles = cloud});
  }
  const std::string svg = sample_animation(ring_by_blob, result);
  EXPECT_NE(svg.find("<circle cx=\"432.0\" cy=\"0.0\""), std::string::npos);
  EXPECT_NE(svg.find("values=\"0.0;48.0;96.0;144.0;192.0;240.0;288.0;336.0;384.0;432.0;432.0;432.0;432.0\""),
            std::string::npos);
  EXPECT_NE(svg.find("2 particles, 10 steps of blob to the ring density"), std::string::npos);
}

}  // namespace
}  // namespace pits
