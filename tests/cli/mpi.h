// The real program under mpirun.
#pragma once

#include <fstream>
#include <iterator>
#include <string_view>

#include "cli/process.h"

namespace pits::test {

// Why these tests cannot run here, or nothing.
inline std::string why_no_mpi() {
#ifdef __SANITIZE_THREAD__
  return "Open MPI is built without the thread sanitizer; ranks that are threads are tested";
#else
  return std::string_view(PITS_MPIRUN).empty() ? "needs Open MPI: libopenmpi-dev and openmpi-bin" : "";
#endif
}

inline Surroundings under_mpirun(int ranks) {
  // mpirun refuses root, and looks for ssh though all ranks are here.
  return {.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                          {"OMPI_MCA_plm_rsh_agent", "/bin/false"},
                          // Open MPI leaves memory behind; our own leaks show in the tests whose ranks are threads.
                          {"ASAN_OPTIONS", "detect_leaks=0"}},
          .through = {PITS_MPIRUN, "--oversubscribe", "-n", std::to_string(ranks)}};
}

// The process of a rank that `mpirun` started.
inline pid_t process_of_rank(pid_t mpirun, int rank) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat"), environment(entry.path() / "environ");
    std::string number, program, state;
    pid_t parent = 0;
    stat >> number >> program >> state >> parent;
    if (parent != mpirun) continue;
    for (std::string variable; std::getline(environment, variable, '\0');) {
      if (variable == wanted) return std::stoi(name);
    }
  }
  throw std::runtime_error("no process of rank " + std::to_string(rank));
}

}  // namespace pits::test
