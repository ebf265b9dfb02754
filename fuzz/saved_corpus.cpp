// fuzz_saved_corpus DIRECTORY: a saved bandit of every agent, without its seal, for fuzz_saved to begin with. Made anew
// because the contents change with the agents.
#include <filesystem>

#include "bandit/small_bandit.h"
#include "pits/core/io/files.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::filesystem::create_directories(argv[1]);
  for (const std::string& spec : pits::test::every_agent()) {
    pits::Bandit bandit(pits::test::small_spec(spec), pits::test::small_setup());
    pits::test::play(bandit, 0, 12);
    const std::string name = "good-" + pits::test::plain_name(spec);
    pits::write_file_atomically(std::filesystem::path(argv[1]) / name, pits::unsealed("bandit", bandit.saved(), name));
  }
}
