#include "pits/report/figures.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pits/core/error.h"
#include "pits/core/io/files.h"
#include "pits/core/io/process.h"

namespace pits {
namespace {

namespace fs = std::filesystem;

std::string decoded_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int n = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (n < 0) throw failed("the browser's picture is not base64");
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(n) - padding);
  return bytes;
}

// file:///..., with what a URL does not allow as %XX.
std::string file_address(const fs::path& file) {
  std::string address = "file://";
  for (const char c : fs::absolute(file).string()) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/._-~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

}  // namespace

std::optional<fs::path> find_browser() {
  if (const char* named = std::getenv("CHROMIUM")) {
    if (access(named, X_OK) == 0) return named;
    throw bad_input("CHROMIUM names '{}', which is not a program", named);
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      const fs::path file = fs::path(rest.substr(0, colon)) / name;
      if (access(file.c_str(), X_OK) == 0) return file;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return std::nullopt;
}

std::vector<FigureFiles> figures_in_dump(std::string_view tree) {
  const std::size_t id = tree.find("id=\"pits-figures\"");
  const std::size_t start = tree.find('>', std::min(id, tree.size()));
  const std::size_t end = tree.find("</script>", std::min(start, tree.size()));
  if (end == std::string_view::npos) throw failed("the browser did not draw the page's figures");
  constexpr std::string_view prefix = "data:image/png;base64,";
  std::vector<FigureFiles> figures;
  try {
    for (const auto& figure : nlohmann::json::parse(tree.substr(start + 1, end - start - 1))) {
      const auto png = figure.at("png").get<std::string>();
      if (!png.starts_with(prefix)) throw failed("the browser's picture is no PNG");
      figures.push_back({.id = figure.at("id").get<std::string>(),
                         .svg = figure.at("svg").get<std::string>(),
                         .png = decoded_base64(std::string_view(png).substr(prefix.size()))});
    }
  } catch (const nlohmann::json::exception& e) {
    throw failed("the browser's figures cannot be read: {}", e.what());
  }
  return figures;
}

std::size_t export_figures(const fs::path& browser, const fs::path& page, const fs::path& directory, int seconds) {
  // --no-sandbox: root has no sandbox. Virtual time lets the page's timers run without waiting for the clock.
  const auto result = run_process({browser.string(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                                   "--virtual-time-budget=600000", "--dump-dom", file_address(page) + "#export"},
                                  std::chrono::seconds(seconds));
  if (!result) throw failed("'{}' did not draw the figures within {} s", browser.string(), seconds);
  const std::vector<FigureFiles> figures = figures_in_dump(result->output);
  create_directories_or_throw(directory);
  for (const FigureFiles& figure : figures) {
    write_file_atomically(directory / (figure.id + ".svg"), figure.svg);
    write_file_atomically(directory / (figure.id + ".png"), figure.png);
  }
  return figures.size();
}

}  // namespace pits
