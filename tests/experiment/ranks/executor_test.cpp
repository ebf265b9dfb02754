#include "pits/experiment/ranks/executor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "experiment/expect_error.h"

namespace pits {
namespace {

using test::expect_mentions;
using test::message_of;

// The value of `name` in a list of names and values.
template <std::size_t n>
const char* value_in(const char* const (&variables)[n], const char* name) {
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    if (std::strcmp(variables[i], name) == 0) return variables[i + 1];
  }
  return nullptr;
}

TEST(Launch, IsReadFromTheVariablesOfTheLauncher) {
  const auto nothing = launch_from([](const char*) -> const char* { return nullptr; });
  EXPECT_FALSE(nothing.has_value());
  const auto open_mpi = launch_from([](const char* name) {
    return value_in({"OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "4", "PMIX_RANK", "2"}, name);
  });
  EXPECT_EQ(open_mpi->rank, 2);
  EXPECT_EQ(open_mpi->ranks, 4);
  const auto pmi = launch_from([](const char* name) { return value_in({"PMI_RANK", "0", "PMI_SIZE", "3"}, name); });
  EXPECT_EQ(pmi->rank, 0);
  EXPECT_EQ(pmi->ranks, 3);
  const auto slurm = launch_from([](const char* name) {
    return value_in({"PMIX_RANK", "1", "SLURM_NTASKS", "8"}, name);
  });
  EXPECT_EQ(slurm->rank, 1);
  EXPECT_EQ(slurm->ranks, 8);
  const auto batch_script = launch_from([](const char* name) { return value_in({"SLURM_NTASKS", "8"}, name); });
  EXPECT_FALSE(batch_script.has_value()) << "a job without srun is one process";
}

TEST(WithoutMpi, TheFirstRankSaysSoAndTheOthersAreSilent) {
  expect_mentions(message_of([] { refuse_ranks({.rank = 0, .ranks = 4}); }, ErrorKind::usage),
                  {"4 ranks", "without mpirun"});
  EXPECT_THROW(refuse_ranks({.rank = 3, .ranks = 4}), Shutdown);
}

TEST(ExitStatus, OfAnExceptionIsItsCodeAndMessage) {
  const auto status_of = [](auto&& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return status_of_current_exception();
    }
  };
  EXPECT_EQ(status_of(bad_input("a")).exit_code, 3);
  EXPECT_EQ(status_of(bad_usage("b")).exit_code, 2);
  EXPECT_EQ(status_of(std::runtime_error("c")).exit_code, 1);
  EXPECT_EQ(status_of(std::runtime_error("c")).message, "c");
  EXPECT_EQ(status_of(Shutdown()).exit_code, 0);
  const std::filesystem::filesystem_error gone("x", "/place", std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(status_of(gone).exit_code, 3);
  EXPECT_EQ(status_of(gone).message, "'/place': Permission denied");
}

}  // namespace
}  // namespace pits
