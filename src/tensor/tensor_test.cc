#include "weir/tensor.h"

#include <gtest/gtest.h>

#include "tensor/variant.h"
#include "tests/support/check_op.h"
#include "weir/error.h"

namespace weir {
namespace {

using testing::expect_error;

TEST(Tensor, NumbersKeepTheirType) {
  EXPECT_EQ(Tensor(2).dtype(), int32);
  EXPECT_EQ(Tensor(2.f).dtype(), float32);
  EXPECT_EQ(Tensor(int64_t{2}).scalar<int64_t>(), 2);
  EXPECT_EQ(Tensor(true).dtype(), boolean);
  EXPECT_EQ(Tensor("text").scalar<std::string>(), "text");
  EXPECT_EQ(Tensor(std::vector<float>{1, 2}).shape(), Shape{2});
}

TEST(Tensor, CopiesShareTheBuffer) {
  Tensor a = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  Tensor b = a;
  EXPECT_EQ(a.raw(), b.raw());
  EXPECT_FALSE(a.buffer()->unique());
  b = Tensor();
  EXPECT_TRUE(a.buffer()->unique());
  EXPECT_NE(a.copy().raw(), a.raw());
  Tensor moved = std::move(a);
  EXPECT_FALSE(a.valid());  // NOLINT: a moved-from tensor is empty by contract
  EXPECT_EQ(moved.data<float>()[3], 4);
}

TEST(Tensor, ReshapesWithoutCopying) {
  Tensor a(std::vector<int>{1, 2, 3, 4, 5, 6});
  Tensor b = a.reshaped({2, 3});
  EXPECT_EQ(b.raw(), a.raw());
  EXPECT_EQ(b.shape(), (Shape{2, 3}));
  expect_error([&] { a.reshaped({4}); }, Code::InvalidArgument, "[6]");
  expect_error([&] { a.reshaped({kUnknown}); }, Code::InvalidArgument, "[?]");
}

TEST(Tensor, MemoryIsAlignedEvenWhenEmpty) {
  for (int64_t n : {0, 1, 7, 1000}) {
    Tensor t(float32, {n});
    EXPECT_NE(t.raw(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw()) % 64, 0u);
  }
}

TEST(Tensor, StringsAreConstructedAndCopied) {
  Tensor a(string, {3});
  a.mutable_data<std::string>()[1] = std::string(100, 'x');
  Tensor b = a.copy();
  EXPECT_EQ(b.data<std::string>()[0], "");
  EXPECT_EQ(b.data<std::string>()[1], std::string(100, 'x'));
}

TEST(Tensor, VariantsAreConstructedAndCopied) {
  struct Object final : VariantObject {};
  Variant object = std::make_shared<Object>();
  {
    Tensor t = variant_tensor(object), copy = t.copy();
    EXPECT_EQ(t.elements(), 1);
    EXPECT_EQ(object.use_count(), 3);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(Tensor, BorrowedMemoryIsReleasedOnce) {
  float memory[2] = {1, 2};
  int released = 0;
  {
    Tensor a(float32, {2}, Buffer::borrow(memory, sizeof memory, [&] { ++released; }), memory);
    Tensor b = a;
    EXPECT_EQ(b.data<float>()[1], 2);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, RefusesWrongTypesAndSizes) {
  Tensor t = Tensor::from<float>({1, 2}, {2});
  expect_error([&] { t.data<int>(); }, Code::InvalidArgument, "float is asked for int32");
  expect_error([&] { t.scalar<float>(); }, Code::InvalidArgument, "2 elements, not 1");
  expect_error([] { Tensor(float32, {kUnknown}); }, Code::InvalidArgument, "[?]");
  expect_error([] { Tensor(DType::Invalid, {1}); }, Code::InvalidArgument, "invalid");
  expect_error([] { Tensor::from<float>({1, 2}, {3}); }, Code::InvalidArgument, "[3]");
  expect_error([] { Tensor(float64, {int64_t{1} << 62, 1}); }, Code::InvalidArgument, "overflow");
  expect_error([] { Tensor(float64, {int64_t{1} << 58}); }, Code::ResourceExhausted, "out of memory");
}

TEST(Tensor, PrintsTypeShapeAndTheFirstElements) {
  EXPECT_EQ(Tensor::from<float>({1, 2.5f, 3, 4}, {2, 2}).str(), "float [2,2] [1 2.5 3 4]");
  EXPECT_EQ(Tensor(std::vector<int>{1, 2, 3}).str(2), "int32 [3] [1 2 ...]");
  EXPECT_EQ(Tensor("a").str(), "string [] [\"a\"]");
  EXPECT_EQ(Tensor(int8_t{65}).str(), "int8 [] [65]");
}

}  // namespace
}  // namespace weir
