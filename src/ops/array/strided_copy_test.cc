#include "ops/array/strided_copy.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/check_op.h"

namespace weir::ops {
namespace {

TEST(StridedBox, JoinsDimensionsThatAreWalkedAsOne) {
  StridedBox box;
  box.add(2, 12, 12);
  box.add(1, 99, 99);
  box.add(3, 4, 4);
  box.add(4, 1, 1);
  EXPECT_EQ(box.rank(), 1);
  EXPECT_EQ(box[0].size, 24);
  box.add(5, 1, 0);
  EXPECT_EQ(box.rank(), 2);
  EXPECT_EQ(box.elements(), 120);
}

TEST(StridedBox, RefusesMoreDimensionsThanItHolds) {
  StridedBox box;
  for (int i = 0; i < kMaxRank; ++i) box.add(2, i % 2 ? 3 : 50, 7);
  testing::expect_error([&] { box.add(2, 99, 99); }, Code::Unimplemented, "more than 32 dimensions");
}

// Large enough to be streamed past the caches and to be cut among threads; 1503 is divided by no tile.
TEST(CopyBox, TransposesWhatIsLargerThanTheCaches) {
  for (int64_t n : {1504, 1503}) {
    Tensor from(int32, {n, n}), to(int32, {n, n});
    std::iota(from.mutable_data<int32_t>(), from.mutable_data<int32_t>() + n * n, 0);
    StridedBox box;
    box.add(n, n, 1);
    box.add(n, 1, n);
    ThreadPool pool(3);
    copy_box(int32, box, to.mutable_raw(), from.raw(), pool);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n; ++k) wrong += to.mutable_data<int32_t>()[i * n + k] != k * n + i;
    }
    EXPECT_EQ(wrong, 0) << n;
  }
}

TEST(CopyBox, ReadsBackwardsAndRepeats) {
  Tensor from = Tensor(std::vector<int16_t>{1, 2, 3}), to(int16, {2, 3});
  StridedBox box;
  box.add(2, 3, 0);
  box.add(3, 1, -1);
  ThreadPool pool(1);
  copy_box(int16, box, to.mutable_raw(), offset(int16, from.raw(), 2), pool);
  testing::expect_same(to, Tensor::from<int16_t>({3, 2, 1, 3, 2, 1}, {2, 3}));
}

TEST(FillElements, SetsEveryElementOfAnyType) {
  ThreadPool pool(2);
  Tensor words(string, {3});
  std::string word = "w";
  fill_elements(string, words.mutable_raw(), 3, &word, pool);
  testing::expect_same(words, Tensor(std::vector<std::string>{"w", "w", "w"}));
  zero_elements(string, words.mutable_raw(), 3, pool);
  testing::expect_same(words, Tensor(string, {3}));
  Tensor numbers(complex128, {100000});
  std::complex<double> number(1, 2);
  fill_elements(complex128, numbers.mutable_raw(), numbers.elements(), &number, pool);
  EXPECT_EQ(numbers.data<std::complex<double>>()[99999], number);
}

}  // namespace
}  // namespace weir::ops
