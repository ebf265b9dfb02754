#include "pits/core/value.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pits::test {
namespace {

// Counts how often it is copied.
struct Counted {
  int value = 0;
  int* copies = nullptr;

  Counted(int v, int& n) : value(v), copies(&n) {}
  Counted(const Counted& other) : value(other.value), copies(other.copies) { ++*copies; }
  Counted(Counted&&) = default;
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() = default;
  void state(Archive& archive) { archive(value); }
};

TEST(CopyOnWrite, CopiesShareUntilOneIsEdited) {
  int copies = 0;
  CopyOnWrite<Counted> first(Counted(1, copies));
  CopyOnWrite<Counted> second = first, third = first;
  EXPECT_EQ(copies, 0);
  EXPECT_EQ(&*first, &*second);
  second.edit().value = 2;
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(first->value, 1);
  EXPECT_EQ(second->value, 2);
  EXPECT_EQ(&*first, &*third);
}

TEST(CopyOnWrite, AnOnlyOwnerEditsInPlace) {
  int copies = 0;
  CopyOnWrite<Counted> only(Counted(1, copies));
  const Counted* before = &*only;
  only.edit().value = 2;
  { const CopyOnWrite<Counted> gone = only; }
  only.edit().value = 3;
  EXPECT_EQ(&*only, before);
  EXPECT_EQ(copies, 0);
}

// Reading a saved value into a copy leaves the others as they were.
TEST(CopyOnWrite, IsSavedAsItsValue) {
  int copies = 0;
  CopyOnWrite<Counted> saved(Counted(7, copies)), loaded(Counted(1, copies));
  const CopyOnWrite<Counted> kept = loaded;
  Archive writing;
  writing(saved);
  Archive reading(writing.bytes());
  reading(loaded);
  reading.finish();
  EXPECT_EQ(loaded->value, 7);
  EXPECT_EQ(kept->value, 1);
}

// Run under tsan too: PRESET=tsan scripts/test -R CopyOnWrite
TEST(CopyOnWrite, AReaderOnAnotherThreadKeepsWhatItHas) {
  CopyOnWrite<std::vector<int>> value(std::vector<int>(100, 0));
  for (int i = 1; i < 200; ++i) {
    std::thread reader([copy = value, i] {
      for (const int x : *copy) EXPECT_EQ(x, i - 1);
    });
    for (int& x : value.edit()) x = i;
    reader.join();
  }
}

struct Buffers {
  std::vector<float> numbers;
};

TEST(Scratch, CopiesStartEmptyAndMovesKeep) {
  Scratch<Buffers> buffers;
  buffers.numbers = {1.0F, 2.0F};
  const Scratch<Buffers> copy = buffers;
  EXPECT_TRUE(copy.numbers.empty());
  Scratch<Buffers> other;
  other.numbers = {3.0F};
  other = buffers;  // keeps its own
  EXPECT_EQ(other.numbers, std::vector<float>{3.0F});
  const Scratch<Buffers> moved = std::move(buffers);
  EXPECT_EQ(moved.numbers, (std::vector<float>{1.0F, 2.0F}));
}

TEST(ThreadCopy, LastsUntilTheNextOfItsTypeAndReusesItsMemory) {
  std::vector<float> value = {1.0F, 2.0F};
  const std::vector<float>& copy = thread_copy(value);
  const float* memory = copy.data();
  value = {3.0F, 4.0F};
  EXPECT_EQ(copy, (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(&thread_copy(value), &copy);
  EXPECT_EQ(copy, value);
  EXPECT_EQ(copy.data(), memory);
}

}  // namespace
}  // namespace pits::test
