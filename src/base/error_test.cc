#include "weir/error.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace weir {
namespace {

TEST(Error, NamesTheOperationTheNodeAndTheLine) {
  Error e(Code::InvalidArgument, "inner dimensions differ", "MatMul", "layer1/MatMul", {"/home/me/train.cc", 42});
  EXPECT_STREQ(e.what(), "MatMul 'layer1/MatMul' (train.cc:42): inner dimensions differ");
  EXPECT_EQ(e.message(), "inner dimensions differ");
  EXPECT_EQ(e.line().file, "/home/me/train.cc");
}

TEST(Error, LeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(Error(Code::NotFound, "gone", "Const", "c", {}).what(), "Const 'c': gone");
  EXPECT_STREQ(not_found("no {}", 3).what(), "no 3");
  EXPECT_EQ(not_found("no {}", 3).code(), Code::NotFound);
}

TEST(Error, CodesHaveTensorFlowsNumbers) {
  EXPECT_EQ(static_cast<int>(Code::Cancelled), 1);
  EXPECT_EQ(static_cast<int>(Code::InvalidArgument), 3);
  EXPECT_EQ(static_cast<int>(Code::OutOfRange), 11);
  EXPECT_EQ(static_cast<int>(Code::DataLoss), 15);
  EXPECT_EQ(code_name(Code::FailedPrecondition), "FailedPrecondition");
}

}  // namespace
}  // namespace weir
