#include "pits/experiment/ranks/mpi_channel.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace pits {
namespace {

constexpr int message_tag = 1;

// The processors this rank may use, shared with the ranks that may use the same ones: mpirun binds ranks to cores,
// or not, and both come out right.
int share_of_processors() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return 1;
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int neighbours = 1;
  MPI_Comm_size(machine, &neighbours);
  std::vector<cpu_set_t> masks(static_cast<std::size_t>(neighbours));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, masks.data(), sizeof mine, MPI_BYTE, machine);
  MPI_Comm_free(&machine);
  const auto sharing = std::ranges::count_if(masks, [&](const cpu_set_t& other) { return CPU_EQUAL(&mine, &other); });
  return std::max(1, CPU_COUNT(&mine) / static_cast<int>(sharing));
}

// An MPI error ends all ranks (MPI_ERRORS_ARE_FATAL, the default), so return codes say nothing.
class MpiChannel final : public Channel {
 public:
  MpiChannel() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    threads_ = share_of_processors();
  }
  ~MpiChannel() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int default_threads() const override { return threads_; }

  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name;
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  void send(int to, const Message& message) override {
    const std::vector<std::uint8_t> bytes = Message::to_cbor(message);
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, message_tag, MPI_COMM_WORLD);
  }

  std::optional<Received> poll() override {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, message_tag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) return {};
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return Received{.from = status.MPI_SOURCE, .message = Message::from_cbor(bytes)};
  }

 private:
  int rank_ = 0;
  int ranks_ = 1;
  int threads_ = 1;
};

}  // namespace

std::unique_ptr<Channel> mpi_channel() { return std::make_unique<MpiChannel>(); }

}  // namespace pits
