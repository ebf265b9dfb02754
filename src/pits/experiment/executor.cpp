#include "pits/experiment/executor.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#ifdef PITS_MPI
#include "pits/experiment/mpi_mailbox.h"
#include "pits/experiment/ranks.h"
#endif

namespace pits {
namespace {

class ThreadExecutor final : public Executor {
 public:
  bool leads() const override { return true; }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override {
    run_cells(plan, *results, threads, stop, done);
  }
  Ending end(const Ending& mine) override { return mine; }
};

class IdleExecutor final : public Executor {
 public:
  bool leads() const override { return false; }
  void run(const Plan&, Results*, int, const std::atomic<bool>&, const RoundsDone&) override {}
  Ending end(const Ending&) override { return {}; }
};

int number_or(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  int number = otherwise;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

#ifdef PITS_MPI
std::unique_ptr<Executor> executor_of_ranks(const Launch& launch) {
  auto mailbox = mpi_mailbox();
  if (mailbox->ranks() < launch.ranks) return executor_without_mpi(launch);  // another MPI's mpirun
  return make_rank(std::move(mailbox));
}
#else
std::unique_ptr<Executor> executor_of_ranks(const Launch& launch) { return executor_without_mpi(launch); }
#endif

}  // namespace

Ending ending_of_current_exception() {
  try {
    throw;
  } catch (const Dismissed&) {
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

std::unique_ptr<Executor> executor_without_mpi(const Launch& launch) {
  if (launch.rank > 0) return std::make_unique<IdleExecutor>();
  throw bad_usage(
      "this pits cannot talk to the {} ranks it was started with: start it without mpirun, with the mpirun of the MPI "
      "it was built with, or build it where CMake finds MPI (Debian: libopenmpi-dev)",
      launch.ranks);
}

std::unique_ptr<Executor> make_executor() {
  if (const auto launch = this_launch(); launch && launch->ranks > 1) return executor_of_ranks(*launch);
  return std::make_unique<ThreadExecutor>();
}

}  // namespace pits
