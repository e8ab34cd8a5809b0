#include "weir/shape.h"

#include <gtest/gtest.h>

#include "weir/error.h"

namespace weir {
namespace {

Code code_of(auto&& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

TEST(Shape, KnowsRankSizesAndElements) {
  Shape shape{2, kUnknown, 3};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[-1], 3);
  EXPECT_FALSE(shape.is_known());
  EXPECT_EQ(shape.elements(), kUnknown);
  EXPECT_EQ((Shape{2, 0, 3}).elements(), 0);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_TRUE(Shape().is_known());
  EXPECT_EQ(Shape::unknown().rank(), -1);
  EXPECT_EQ(Shape::unknown().elements(), kUnknown);
  EXPECT_EQ(shape.str(), "[2,?,3]");
  EXPECT_EQ(Shape::unknown().str(), "<unknown>");
}

TEST(Shape, HoldsMoreDimensionsThanFitInside) {
  Shape shape;
  for (int64_t i = 0; i < 10; ++i) shape.append(i + 1);
  Shape copy = shape, other{1};
  other = copy;
  EXPECT_EQ(other, shape);
  EXPECT_EQ(other.rank(), 10);
  EXPECT_EQ(other[9], 10);
  Shape moved = std::move(other);
  EXPECT_EQ(moved, copy);
  copy = Shape{7};
  EXPECT_EQ(copy, Shape{7});
  copy = moved;
  EXPECT_EQ(copy, moved);
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_EQ(code_of([] { Shape{2, -2}; }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape(std::vector<int64_t>(255, 1)); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape({2, 3}).dim(2); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape({2, 3}).dim(-3); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape::unknown().dim(0); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape({int64_t{1} << 40, int64_t{1} << 40}).elements(); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape({0, int64_t{1} << 40, int64_t{1} << 40}).elements(); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { checked_multiply(INT64_MAX, 2); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { checked_add(INT64_MAX, 1); }), Code::InvalidArgument);
}

TEST(Shape, MergesKnowledge) {
  EXPECT_EQ((Shape{2, kUnknown}).merged({kUnknown, 3}), (Shape{2, 3}));
  EXPECT_EQ((Shape{2}).merged(Shape::unknown()), Shape{2});
  EXPECT_EQ(Shape::unknown().merged({2}), Shape{2});
  EXPECT_EQ(code_of([] { Shape({2}).merged({3}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape({2}).merged({2, 1}); }), Code::InvalidArgument);
  EXPECT_TRUE((Shape{2, kUnknown}).compatible({2, 5}));
  EXPECT_FALSE((Shape{2, kUnknown}).compatible({3, 5}));
}

TEST(Shape, BroadcastsAsTensorFlowDoes) {
  EXPECT_EQ(Shape::broadcast({2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(Shape::broadcast({4, 1}, {1, 5}), (Shape{4, 5}));
  EXPECT_EQ(Shape::broadcast({0}, {1}), Shape{0});
  EXPECT_EQ(Shape::broadcast({}, {2, 0}), (Shape{2, 0}));
  EXPECT_EQ(Shape::broadcast({kUnknown, 3}, {1, 1}), (Shape{kUnknown, 3}));
  EXPECT_EQ(Shape::broadcast({kUnknown}, {5}), Shape{5});
  EXPECT_EQ(Shape::broadcast({kUnknown}, {0}), Shape{kUnknown});  // 1 gives 0, and so does 0
  EXPECT_EQ(Shape::broadcast(Shape::unknown(), {2}), Shape::unknown());
  EXPECT_EQ(code_of([] { Shape::broadcast({2, 3}, {2}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Shape::broadcast({0}, {2}); }), Code::InvalidArgument);
}

}  // namespace
}  // namespace weir
