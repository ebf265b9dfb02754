// Downloads from a local server that behaves well, or stalls, truncates, corrupts, never ends, redirects without end,
// forgets ranges or has no file.
#include "pits/data/source/fetch.h"

#include <gtest/gtest.h>

#include "data/numbers.h"
#include "data/packed.h"
#include "data/server.h"
#include "experiment/expect_error.h"
#include "pits/data/read/bytes.h"

namespace pits {
namespace {

using test::bytes_of;
using test::Scratch;
using test::Server;
using Names = std::set<std::string>;

class Fetch : public testing::Test {
 protected:
  Fetch() {
    ::setenv("no_proxy", "*", 1);
    test::write_bytes(served_ / "numbers.txt", test::numbers_text());
  }

  // A set with the one address SERVER/numbers.txt.
  std::optional<Content> fetch(const Server& server, const FetchOptions& options) {
    DataSet set = test::numbers_set();
    set.files.front().addresses = {server.address() + "/numbers.txt"};
    return fetch_data_file(set, set.files.front(), options);
  }
  std::optional<Content> fetch(const Server& server) { return fetch(server, options()); }
  FetchOptions options() const { return {.directory = stored_.path(), .watch = {.stall_seconds = 1}}; }

  void expect_stored() const {
    EXPECT_EQ(bytes_of(stored_ / "numbers.txt"), test::numbers_text());
    EXPECT_EQ(test::names_in(stored_.path()), (Names{".lock", "numbers.txt"}));
  }

  Scratch served_, stored_;
};

TEST_F(Fetch, StoresTheFile) {
  const Server server(served_.path(), "ok");
  std::uint64_t last = 0, all = 0;
  FetchOptions watched = options();
  watched.watch.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    last = done;
    all = total;
  };
  const auto content = fetch(server, watched);
  EXPECT_EQ(content->bytes, 588'890U);
  EXPECT_EQ(content->remark, "");
  EXPECT_EQ(last, 588'890U);
  EXPECT_EQ(all, 588'890U);
  expect_stored();
  EXPECT_EQ(server.requests(), std::vector<std::string>{"/numbers.txt"});
}

TEST_F(Fetch, CreatesTheDirectory) {
  const Server server(served_.path(), "ok");
  FetchOptions deep = options();
  deep.directory = stored_ / "a/b";
  fetch(server, deep);
  EXPECT_EQ(bytes_of(stored_ / "a/b/numbers.txt"), test::numbers_text());
}

TEST_F(Fetch, Unpacks) {
  test::write_bytes(served_ / "numbers.txt", test::from_hex(test::abc_gz));
  const Server server(served_.path(), "ok");
  EXPECT_EQ(fetch(server)->remark, "three letters");
  EXPECT_EQ(bytes_of(stored_ / "numbers.txt"), "abc");
}

TEST_F(Fetch, GoesOnAfterATruncationAndAStall) {
  const Server server(served_.path(), "truncate,stall,ok");
  fetch(server);
  expect_stored();
  EXPECT_EQ(server.requests(),
            (std::vector<std::string>{"/numbers.txt", "/numbers.txt bytes=294445-", "/numbers.txt bytes=441667-"}));
}

TEST_F(Fetch, GoesOnWithAnEarlierPart) {
  test::write_bytes(stored_ / "numbers.txt.part", test::numbers_text().substr(0, 1000));
  const Server server(served_.path(), "ok");
  fetch(server);
  expect_stored();
  EXPECT_EQ(server.requests(), std::vector<std::string>{"/numbers.txt bytes=1000-"});
}

TEST_F(Fetch, TakesAPartThatIsWhole) {
  test::write_bytes(stored_ / "numbers.txt.part", test::numbers_text());
  const Server server(served_.path(), "ok");
  fetch(server);
  expect_stored();
}

TEST_F(Fetch, StartsAgainWhereTheServerCannotGoOn) {
  test::write_bytes(stored_ / "numbers.txt.part", test::numbers_text().substr(0, 1000));
  const Server server(served_.path(), "no-range");
  fetch(server);
  expect_stored();
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"/numbers.txt bytes=1000-", "/numbers.txt"}));
}

TEST_F(Fetch, StartsAgainWhereTheEarlierPartWasOfAnotherFile) {
  test::write_bytes(stored_ / "numbers.txt.part", "something else");
  const Server server(served_.path(), "ok");
  fetch(server);
  expect_stored();
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"/numbers.txt bytes=14-", "/numbers.txt"}));
}

TEST_F(Fetch, KeepsThePartOfAConnectionThatBreaksForGood) {
  {
    const Server server(served_.path(), "truncate,404");
    const std::string message = test::message_of([&] { fetch(server); }, ErrorKind::failed);
    test::expect_mentions(message, {server.address(), "404", stored_.path().string()});
  }
  EXPECT_EQ(test::names_in(stored_.path()), (Names{".lock", "numbers.txt.part"}));
  EXPECT_EQ(bytes_of(stored_ / "numbers.txt.part"), test::numbers_text().substr(0, 294'445));
}

// Half of the rest each time: six tries get 63/64 of it.
TEST_F(Fetch, GivesUpOnAServerThatBreaksEveryTime) {
  const Server server(served_.path(), "truncate");
  test::message_of([&] { fetch(server); }, ErrorKind::failed);
  EXPECT_EQ(server.requests().size(), 6U);
  EXPECT_EQ(test::names_in(stored_.path()), (Names{".lock", "numbers.txt.part"}));
}

TEST_F(Fetch, WrongContentIsNamedAndRemoved) {
  const Server server(served_.path(), "corrupt");
  const std::string message = test::message_of([&] { fetch(server); }, ErrorKind::failed);
  std::string flipped = test::numbers_text();
  flipped[flipped.size() / 2] ^= 1;
  test::write_bytes(served_ / "flipped", flipped);
  test::expect_mentions(message, {server.address() + "/numbers.txt", test::numbers_set().files[0].contents[0].sha256,
                                  read_unpacked(served_ / "flipped", [](std::string_view) {}).sha256});
  EXPECT_EQ(test::names_in(stored_.path()), Names{".lock"});
}

TEST_F(Fetch, AMissingFileLeavesNothing) {
  const Server server(served_.path(), "404");
  test::expect_mentions(test::message_of([&] { fetch(server); }, ErrorKind::failed), {"404"});
  EXPECT_EQ(test::names_in(stored_.path()), Names{".lock"});
}

// The catalogue knows the size: 588,890 bytes, and 1 MiB more for the headers of a packed file.
TEST_F(Fetch, StopsWhereTheServerSendsMoreThanTheFileHas) {
  for (const char* mode : {"endless", "huge"}) {
    const Server server(served_.path(), mode);
    std::uint64_t most = 0;
    FetchOptions watched = options();
    watched.watch.progress = [&](std::uint64_t done, std::uint64_t) { most = std::max(most, done); };
    const std::string message = test::message_of([&] { fetch(server, watched); }, ErrorKind::failed);
    test::expect_mentions(message, {server.address(), "larger than 1637466 bytes"});
    EXPECT_LE(most, 1'637'466U);
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(test::names_in(stored_.path()), Names{".lock"});
  }
}

TEST_F(Fetch, APackedFileMayNotUnpackToMoreEither) {
  const std::string command = "head -c 4000000 /dev/zero | gzip > '" + (served_ / "numbers.txt").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Server server(served_.path(), "ok");
  test::expect_mentions(test::message_of([&] { fetch(server); }, ErrorKind::failed), {"more than 1637466 bytes"});
  EXPECT_EQ(test::names_in(stored_.path()), Names{".lock"});
}

TEST_F(Fetch, StartsAgainWhereTheEarlierPartIsTooLarge) {
  test::write_bytes(stored_ / "numbers.txt.part", std::string(2'000'000, '9'));
  const Server server(served_.path(), "no-range,ok");
  fetch(server);
  expect_stored();
}

TEST_F(Fetch, FollowsTenRedirectsAndNoMore) {
  const Server server(served_.path(), "loop");
  test::expect_mentions(test::message_of([&] { fetch(server); }, ErrorKind::failed), {server.address(), "redirects"});
  EXPECT_EQ(server.requests().size(), 11U);
}

// The first home answers nothing, so the second is asked; both names are asked for behind a mirror's address.
TEST_F(Fetch, TriesTheNextAddress) {
  const Server server(served_.path(), "ok");
  DataSet set = test::numbers_set();
  set.files.front().addresses[1] = server.address() + "/numbers.txt";
  fetch_data_file(set, set.files.front(), options());
  expect_stored();
}

TEST_F(Fetch, TakesAMirror) {
  const Server server(served_.path(), "ok");
  const DataSet set = test::numbers_set();
  std::vector<std::string> tried;
  FetchOptions mirrored = options();
  mirrored.from = server.address();
  mirrored.starting = [&](const std::string& address) { tried.push_back(address); };
  fetch_data_file(set, set.files.front(), mirrored);
  expect_stored();
  EXPECT_EQ(tried, (std::vector<std::string>{server.address() + "/numbers.gz", server.address() + "/numbers.txt"}));
}

TEST_F(Fetch, StopsWhenToldAndKeepsThePart) {
  const Server server(served_.path(), "stall");
  std::atomic<bool> stop = false;
  FetchOptions stoppable = options();
  stoppable.watch = {.stall_seconds = 60,
                     .progress = [&](std::uint64_t done, std::uint64_t) { stop = stop || done >= 294'445; },
                     .stop = &stop};
  EXPECT_FALSE(fetch(server, stoppable).has_value());
  EXPECT_EQ(test::names_in(stored_.path()), (Names{".lock", "numbers.txt.part"}));
}

}  // namespace
}  // namespace pits
