#include "pits/report/figures.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

namespace fs = std::filesystem;

// "iVBORw0KGgo=" is the signature of a PNG, 89 50 4e 47 0d 0a 1a 0a.
const std::string dump =
    "<html><body><script type=\"application/json\" id=\"pits-figures\">"
    "[{\"id\":\"box\",\"svg\":\"\\u003csvg>&amp;\\u003c/svg>\",\"png\":\"data:image/png;base64,iVBORw0KGgo=\"}]"
    "</script></body></html>";

// A program that stands in for the browser.
fs::path script(const Scratch& scratch, const std::string& text) {
  const fs::path file = scratch / "browser";
  write_bytes(file, "#!/bin/sh\n" + text);
  chmod(file.c_str(), 0755);
  return file;
}

TEST(Figures, AreReadFromTheDumpedTree) {
  const auto figures = figures_in_dump(dump);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].id, "box");
  EXPECT_EQ(figures[0].svg, "<svg>&amp;</svg>");
  EXPECT_EQ(figures[0].png, "\x89PNG\r\n\x1a\n");
}

TEST(Figures, ADumpWithoutThemIsAnError) {
  for (const std::string& tree :
       {std::string(), std::string("<html></html>"), dump.substr(0, 120),
        std::string("<script id=\"pits-figures\">[{}]</script>"),
        std::string("<script id=\"pits-figures\">[{\"id\":\"a\",\"svg\":\"\",\"png\":\"x\"}]</script>")}) {
    message_of([&] { figures_in_dump(tree); }, ErrorKind::failed);
  }
}

TEST(Figures, AreWrittenAsFiles) {
  const Scratch scratch;
  write_bytes(scratch / "tree.html", dump);
  const fs::path browser = script(scratch, "cat '" + (scratch / "tree.html").string() + "'\necho \"$@\" > '" +
                                               (scratch / "words").string() + "'\n");
  EXPECT_EQ(export_figures(browser, scratch / "a page.html", scratch / "out"), 1U);
  EXPECT_EQ(bytes_of(scratch / "out/box.svg"), "<svg>&amp;</svg>");
  EXPECT_EQ(bytes_of(scratch / "out/box.png").size(), 8U);
  EXPECT_NE(bytes_of(scratch / "words").find("a%20page.html#export"), std::string::npos);
}

TEST(Figures, ABrowserThatHangsOrFailsIsAnError) {
  const Scratch scratch;
  const fs::path hangs = script(scratch, "sleep 60\n");
  expect_mentions(message_of([&] { export_figures(hangs, "p.html", scratch / "out", 1); }, ErrorKind::failed), {"1 s"});
  message_of([&] { export_figures(scratch / "no such program", "p.html", scratch / "out"); }, ErrorKind::failed);
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST(Figures, BrowserIsTheOneThatIsNamed) {
  const Scratch scratch;
  const fs::path named = script(scratch, "");
  setenv("CHROMIUM", named.c_str(), 1);
  EXPECT_EQ(find_browser(), named);
  setenv("CHROMIUM", "/no/such/browser", 1);
  expect_mentions(message_of([] { find_browser(); }), {"CHROMIUM", "/no/such/browser"});
  unsetenv("CHROMIUM");
}

}  // namespace
}  // namespace pits::test
