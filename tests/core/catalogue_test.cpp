#include "pits/core/catalogue.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pits {
namespace {

struct Dish {
  virtual ~Dish() = default;
  virtual std::string taste() const = 0;
};
struct Kitchen {
  std::string city;
};
struct SoupConfig {
  int spoons = 1;
};
Fields fields(SoupConfig& c) { return Fields{}.add("spoons", c.spoons, "of salt", at_least(0)); }

struct Soup final : Dish {
  Soup(const SoupConfig& config, const Kitchen& kitchen)
      : taste_(kitchen.city + " soup, " + std::to_string(config.spoons) + " spoons") {}
  std::string taste() const override { return taste_; }
  std::string taste_;
};

SoupConfig soup_preset(std::string_view name) { return {.spoons = name == "salty" ? 9 : 2}; }

Entry<Dish, Kitchen> from_spoons(Entry<Dish, Kitchen> entry) {
  entry.argument = "spoons";
  return entry;
}

const std::vector<Entry<Dish, Kitchen>>& menu() {
  static const std::vector<Entry<Dish, Kitchen>> entries = {
      make_entry<Dish, Kitchen, Soup>("soup", "with salt", {{"mild", "little"}, {"salty", "much"}}, soup_preset),
      from_spoons(make_entry<Dish, Kitchen, Soup>("stew", "stew:SPOONS", {}, default_config<SoupConfig>)),
      make_entry<Dish, Kitchen, Soup>("broth", "plain", {}, default_config<SoupConfig>),
  };
  return entries;
}

std::string cooked(const std::string& spec) {
  return find_recipe(menu(), "dish", parse_spec(spec))->make({.city = "Bern"})->taste();
}

std::string error_of(const std::string& spec) {
  try {
    cooked(spec);
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    return e.what();
  }
  return "accepted";
}

TEST(Spec, AnArgumentIsTheValueOfAField) {
  EXPECT_EQ(cooked("stew:7"), "Bern soup, 7 spoons");
  EXPECT_EQ(cooked("stew"), "Bern soup, 1 spoons");
  EXPECT_EQ(cooked("stew,spoons=3"), "Bern soup, 3 spoons");
  EXPECT_EQ(parse_spec("csv:a:b/c d.csv,label=x").preset, "a:b/c d.csv");
  EXPECT_NE(error_of("stew:much").find("spoons: must be a whole number"), std::string::npos) << error_of("stew:much");
}

TEST(Spec, SplitsIntoNamePresetAndAssignments) {
  const Spec spec = parse_spec("pi-ts:released,flow=svgd,layers=50x50,note=a=b");
  EXPECT_EQ(spec.text, "pi-ts:released,flow=svgd,layers=50x50,note=a=b");
  EXPECT_EQ(spec.name, "pi-ts");
  EXPECT_EQ(spec.preset, "released");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"flow", "svgd"}, {"layers", "50x50"}, {"note", "a=b"}};
  EXPECT_EQ(spec.assignments, expected);
}

TEST(Spec, NeedsOnlyAName) {
  const Spec spec = parse_spec("lin-ts");
  EXPECT_EQ(spec.name, "lin-ts");
  EXPECT_TRUE(spec.preset.empty());
  EXPECT_TRUE(spec.assignments.empty());
}

TEST(Spec, AColonInAValueIsNoPreset) {
  const Spec spec = parse_spec("csv,path=a:b");
  EXPECT_TRUE(spec.preset.empty());
  EXPECT_EQ(spec.assignments.at(0).second, "a:b");
}

TEST(Spec, BrokenTextIsAnError) {
  for (const char* text : {"", ":released", ",flow=svgd", "a:", "a,", "a,flow", "a,=svgd", "a,flow=svgd,"}) {
    EXPECT_THROW(parse_spec(text), Error) << text;
  }
}

TEST(Catalogue, TheFirstPresetIsTheDefaultAndAssignmentsComeOnTop) {
  EXPECT_EQ(cooked("soup"), "Bern soup, 2 spoons");
  EXPECT_EQ(cooked("soup:mild"), "Bern soup, 2 spoons");
  EXPECT_EQ(cooked("soup:salty"), "Bern soup, 9 spoons");
  EXPECT_EQ(cooked("soup:salty,spoons=5"), "Bern soup, 5 spoons");
  EXPECT_EQ(cooked("broth"), "Bern soup, 1 spoons");
}

TEST(Catalogue, ErrorsNameTheThingAndWhatWouldBeRight) {
  EXPECT_EQ(error_of("sup"), "unknown dish 'sup'; did you mean 'soup'? Known: soup, stew, broth");
  EXPECT_EQ(error_of("soup:salt"), "dish 'soup': unknown preset 'salt'; did you mean 'salty'? Known: mild, salty");
  EXPECT_EQ(error_of("broth:salty"), "dish 'broth' has no presets, so not 'salty'");
  EXPECT_EQ(error_of("soup,spoons=-1"), "dish 'soup': spoons: must be at least 0, not -1");
  EXPECT_EQ(error_of("soup,spons=1"), "dish 'soup': unknown field 'spons'; did you mean 'spoons'? Known: spoons");
}

}  // namespace
}  // namespace pits
