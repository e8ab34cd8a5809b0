#include "runtime/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "weir/error.h"

namespace weir {
namespace {

TEST(ArenaLayout, PutsValuesIntoHoles) {
  ArenaLayout layout;
  const size_t a = layout.allocate(100), b = layout.allocate(64);
  EXPECT_EQ(a, 0u);
  EXPECT_EQ(b, 128u);
  layout.free(a, 100);
  EXPECT_EQ(layout.allocate(128), a);
  EXPECT_EQ(layout.size(), 192u);
}

TEST(ArenaLayout, RefusesMoreBytesThanCanBeCounted) {
  ArenaLayout layout;
  for (int i = 0; i < 3; ++i) layout.allocate(size_t{1} << 62);
  EXPECT_THROW(layout.allocate(size_t{1} << 62), Error);
  EXPECT_THROW(ArenaLayout().allocate(SIZE_MAX), Error);
}

}  // namespace
}  // namespace weir
