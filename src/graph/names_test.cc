#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/graph.h"

namespace weir {
namespace {

using testing::expect_error;

// The expected names are those that TensorFlow 1.15.5 gives for the same calls.
class Names : public ::testing::Test {
 protected:
  std::string make(std::string_view name = {}) { return g_.constant(Tensor(1.f), name).op().name(); }
  Graph g_;
};

TEST_F(Names, RepeatedNamesAreNumbered) {
  EXPECT_EQ(make(), "Const");
  EXPECT_EQ(make(), "Const_1");
  EXPECT_EQ(make("Const"), "Const_2");
  EXPECT_EQ(make("Const_1"), "Const_1_1");
  EXPECT_EQ(make("const"), "const_3");  // compared without case
}

TEST_F(Names, ScopesNestRepeatAndAreReEntered) {
  {
    Scope a = g_.name_scope("a");
    EXPECT_EQ(a.name(), "a/");
    EXPECT_EQ(make("x"), "a/x");
    {
      Scope b = g_.name_scope("b");
      EXPECT_EQ(b.name(), "a/b/");
      EXPECT_EQ(make("x"), "a/b/x");
      EXPECT_EQ(make("x"), "a/b/x_1");
      EXPECT_EQ(g_.current_name_scope(), "a/b");
    }
    {
      Scope b = g_.name_scope("b");
      EXPECT_EQ(b.name(), "a/b_1/");
      EXPECT_EQ(make("x"), "a/b_1/x");
    }
    { EXPECT_EQ(g_.name_scope("x").name(), "a/x_1/"); }
    {
      Scope root = g_.name_scope("");
      EXPECT_EQ(root.name(), "");
      EXPECT_EQ(make("x"), "x");
    }
    {
      Scope again = g_.name_scope("a/b/");
      EXPECT_EQ(again.name(), "a/b/");
      EXPECT_EQ(make("x"), "a/b/x_2");
    }
  }
  {
    Scope a = g_.name_scope("a");
    EXPECT_EQ(a.name(), "a_1/");
    EXPECT_EQ(make("x"), "a_1/x");
  }
  {
    Scope a = g_.name_scope("a/");
    EXPECT_EQ(make("x"), "a/x_2");
    EXPECT_EQ(make("y"), "a/y");
  }
  {
    Scope a = g_.name_scope("A");
    EXPECT_EQ(a.name(), "A_2/");
    EXPECT_EQ(make("y"), "A_2/y");
  }
  EXPECT_EQ(make("a/x"), "a/x_3");
  EXPECT_EQ(make("a_1"), "a_1_1");
  EXPECT_EQ(make("a"), "a_3");
  EXPECT_EQ(g_.current_name_scope(), "");
}

TEST_F(Names, ThePartsOfAPathAreNotTaken) {
  EXPECT_EQ(make("p/q/r"), "p/q/r");
  EXPECT_EQ(make("p/q/r"), "p/q/r_1");
  EXPECT_EQ(make("p"), "p");
  EXPECT_EQ(g_.name_scope("p").name(), "p_1/");
  Scope s = g_.name_scope("s/t");
  EXPECT_EQ(s.name(), "s/t/");
  EXPECT_EQ(make("_u"), "s/t/_u");
  EXPECT_EQ(make("-v"), "s/t/-v");
}

TEST_F(Names, UniqueNameReservesOrOnlyAsks) {
  EXPECT_EQ(g_.unique_name("foo"), "foo");
  EXPECT_EQ(g_.unique_name("foo"), "foo_1");
  EXPECT_EQ(g_.unique_name("foo", /*mark_as_used=*/false), "foo_2");
  EXPECT_EQ(g_.unique_name("foo"), "foo_2");
  EXPECT_EQ(g_.unique_name("foo_1"), "foo_1_1");
  EXPECT_EQ(make("foo_1"), "foo_1_2");
}

TEST_F(Names, ASlashAtTheEndMeansExactlyThisName) {
  EXPECT_EQ(make("z/"), "z");
  expect_error([&] { make("z/"); }, Code::InvalidArgument, "the name is taken");
}

TEST_F(Names, InvalidNamesAreRefused) {
  for (const char* bad : {"_x", "-x", "/x", "a b", "a:0", "x$", "\xc3\xa4", "a\\b"}) {
    expect_error([&] { make(bad); }, Code::InvalidArgument, "not a valid operation name");
  }
  for (const char* bad : {"_x", "-x", "a b", "a:0", "/"}) {
    expect_error([&] { (void)g_.name_scope(bad); }, Code::InvalidArgument, "not a valid scope name");
  }
  EXPECT_EQ(make(".x"), ".x");
  EXPECT_EQ(make("x."), "x.");
  EXPECT_EQ(make("9"), "9");
  EXPECT_EQ(g_.operations().size(), 3u);
}

}  // namespace
}  // namespace weir
