#include "ops/broadcast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "weir/error.h"

namespace weir {
namespace {

// Where element `i` of the output comes from, dimension by dimension.
int64_t source_of(const Shape& from, const Shape& to, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= from.rank(); ++d) {
    int64_t position = i % to[-d];
    i /= to[-d];
    if (from[-d] != 1) at += position * stride;
    stride *= from[-d];
  }
  return at;
}

void check(const Shape& a, const Shape& b) {
  Shape to = Shape::broadcast(a, b);
  const Shape* operands[] = {&a, &b};
  BroadcastPlan plan(operands, to);
  ASSERT_EQ(plan.elements(), to.elements());
  for (int64_t cut : {int64_t{0}, to.elements() / 3, to.elements()}) {
    int64_t next = 0;
    auto piece = [&](const int64_t* at, int64_t first, int64_t n) {
      ASSERT_EQ(first, next);
      for (int64_t k = 0; k < n; ++k, ++next) {
        ASSERT_EQ(at[0] + (plan.moves(0) ? k : 0), source_of(a, to, next)) << a.str() << b.str();
        ASSERT_EQ(at[1] + (plan.moves(1) ? k : 0), source_of(b, to, next)) << a.str() << b.str();
      }
    };
    plan.for_each_piece(0, cut, piece);
    plan.for_each_piece(cut, to.elements(), piece);
    EXPECT_EQ(next, to.elements());
    next = 0;
    // In a plane an operand that moves along the rows does so anew in each of them, or goes on in the next row.
    auto plane = [&](const int64_t* at, int64_t skip, int64_t first, int64_t n) {
      ASSERT_EQ(first, next);
      ASSERT_LE(skip + n, plan.row() * std::max<int64_t>(1, to.elements() / plan.row()));
      if (skip == 0) {
        ASSERT_EQ(at[0], source_of(a, to, next));
        ASSERT_EQ(at[1], source_of(b, to, next));
      } else if (first > 0) {
        ASSERT_EQ(first, cut);
        ASSERT_EQ(at[0], source_of(a, to, first - skip));
        ASSERT_EQ(at[1], source_of(b, to, first - skip));
      }
      next += n;
    };
    plan.for_each_plane_piece(0, cut, plane);
    plan.for_each_plane_piece(cut, to.elements(), plane);
    EXPECT_EQ(next, to.elements());
  }
}

TEST(BroadcastPlan, FindsEveryElementFromAnyStart) {
  check({}, {});
  check({5}, {5});
  check({2, 3, 4}, {4});
  check({2, 3, 4}, {3, 1});
  check({2, 1, 4}, {1, 3, 1});
  check({2, 1, 2, 1, 2, 1, 2}, {1, 3, 1, 3, 1, 3, 1});
  check({0, 3}, {1, 3});
  check({1, 1}, {1, 1, 1, 1});
}

TEST(BroadcastPlan, MergesDimensions) {
  Shape x{2, 3, 4}, bias{4}, column{2, 1, 1};
  const Shape* same[] = {&x, &x};
  EXPECT_EQ(BroadcastPlan(same, x).row(), 24);
  const Shape* row[] = {&x, &bias};
  EXPECT_EQ(BroadcastPlan(row, x).row(), 4);
  const Shape* rest[] = {&x, &column};
  EXPECT_EQ(BroadcastPlan(rest, x).row(), 12);
  EXPECT_FALSE(BroadcastPlan(rest, x).moves(1));
}

TEST(BroadcastPlan, FindsWhatRepeatsInBlocks) {
  Shape to{2, 5, 4, 3}, groups{2, 1, 4, 1}, all{2, 5, 4, 3};
  const Shape* grouped[] = {&groups};
  const BroadcastPlan plan(grouped, to);
  EXPECT_EQ(plan.repetition(64).period, 12);
  EXPECT_EQ(plan.repetition(64).block, 60);
  EXPECT_EQ(plan.repetition(4).period, 1);  // three of a group
  EXPECT_EQ(plan.repetition(4).block, 3);
  const Shape* whole[] = {&all};
  EXPECT_EQ(BroadcastPlan(whole, to).repetition(64).period, to.elements());
}

TEST(BroadcastPlan, SaysWhenItCannot) {
  Shape a, b, to;
  for (int i = 0; i < 10; ++i) {
    a.append(i % 2 ? 2 : 1);
    b.append(i % 2 ? 1 : 2);
    to.append(2);
  }
  const Shape* operands[] = {&a, &b};
  try {
    BroadcastPlan(operands, to);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unimplemented);
  }
}

}  // namespace
}  // namespace weir
