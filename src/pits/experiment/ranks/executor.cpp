#include "pits/experiment/ranks/executor.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "pits/experiment/ranks/coordinator.h"
#include "pits/experiment/ranks/worker.h"

#ifdef PITS_MPI
#include "pits/experiment/ranks/mpi_channel.h"
#endif

namespace pits {
namespace {

int number_or(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  int number = otherwise;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

}  // namespace

ExitStatus status_of_current_exception() {
  try {
    throw;
  } catch (const Shutdown&) {
    return {};
  } catch (const Error& e) {
    return {e.exit_code(), e.what()};
  } catch (const std::filesystem::filesystem_error& e) {
    return {bad_input("").exit_code(), fmt::format("'{}': {}", e.path1().string(), e.code().message())};
  } catch (const std::exception& e) {
    return {failed("").exit_code(), e.what()};
  }
}

std::optional<Launch> launch_from(const char* (*variable)(const char* name)) {
  // Slurm's PMIx gives a rank alone.
  constexpr const char* names[][2] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"PMIX_RANK", "SLURM_NTASKS"}};
  for (const auto& [rank, ranks] : names) {
    if (variable(rank) == nullptr) continue;
    const int number = number_or(variable(rank), 0);
    return Launch{.rank = number, .ranks = number_or(variable(ranks), number + 1)};
  }
  return {};
}

std::optional<Launch> this_launch() {
  return launch_from([](const char* name) -> const char* { return std::getenv(name); });
}

void refuse_ranks(const Launch& launch) {
  if (launch.rank > 0) throw Shutdown();
  throw bad_usage(
      "this pits cannot talk to the {} ranks it was started with: start it without mpirun, with the mpirun of the MPI "
      "it was built with, or build it where CMake finds MPI (Debian: libopenmpi-dev)",
      launch.ranks);
}

void run_cells(const Plan& plan, Results& results, int threads, const std::atomic<bool>& stop, const RoundsDone& done) {
  Coordinator(nullptr).run(plan, &results, threads, stop, done);
}

std::unique_ptr<Executor> make_executor() {
  const auto launch = this_launch();
  if (!launch || launch->ranks == 1) return std::make_unique<Coordinator>(nullptr);
#ifdef PITS_MPI
  auto channel = mpi_channel();
  if (channel->ranks() >= launch->ranks) return make_rank(std::move(channel));  // else another MPI's mpirun
#endif
  refuse_ranks(*launch);
}

}  // namespace pits
