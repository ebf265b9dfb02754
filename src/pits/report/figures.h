// The figures of a page as files, drawn by the page's own code in a headless Chromium.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

// $CHROMIUM, else chromium, chromium-browser or google-chrome on the PATH; none where there is none.
std::optional<std::filesystem::path> find_browser();

struct FigureFiles {
  std::string id, svg, png;
};
// From the tree that the browser dumps of PAGE#export (web/src/figure/export-mode.js).
std::vector<FigureFiles> figures_in_dump(std::string_view tree);

// DIR/ID.svg and DIR/ID.png for every figure of the page; returns their number. A browser that fails, or does not
// answer within `seconds`, is an Error.
std::size_t export_figures(const std::filesystem::path& browser, const std::filesystem::path& page,
                           const std::filesystem::path& directory, int seconds = 300);

}  // namespace pits
