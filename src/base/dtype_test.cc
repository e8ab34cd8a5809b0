#include "weir/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace weir {
namespace {

TEST(DType, NamesAndNumbersAreTensorFlows) {
  EXPECT_EQ(static_cast<int>(float32), 1);
  EXPECT_EQ(static_cast<int>(float16), 19);
  EXPECT_EQ(static_cast<int>(uint64), 23);
  EXPECT_EQ(dtype_name(float32), "float");
  EXPECT_EQ(dtype_name(float16), "half");
  EXPECT_EQ(dtype_name(static_cast<DType>(101)), "invalid");
  for (int number = 1; number <= 23; ++number) {
    auto dtype = static_cast<DType>(number);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("float64"), float64);
  EXPECT_EQ(dtype_from_name("float32_ref"), DType::Invalid);
}

TEST(DType, SizesAreThoseOfTheElements) {
  EXPECT_EQ(dtype_size(boolean), sizeof(bool));
  EXPECT_EQ(dtype_size(bfloat16), 2u);
  EXPECT_EQ(dtype_size(complex128), 16u);
  EXPECT_EQ(dtype_size(string), sizeof(std::string));
  EXPECT_EQ(dtype_size(DType::Variant), 0u);
  EXPECT_EQ(dtype_size(DType::Invalid), 0u);
}

TEST(Half, EveryValueSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    float value = half;
    Half back(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back)));
    } else {
      ASSERT_EQ(back.bits, half.bits) << value;
    }
  }
}

// Reference: the nearest of the two neighbours, the even one at a tie, found by search in exact arithmetic.
TEST(Half, RoundsToNearestEven) {
  auto value_of = [](uint16_t bits) {
    Half half;
    half.bits = bits;
    return static_cast<double>(static_cast<float>(half));
  };
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    double low = value_of(bits), high = value_of(static_cast<uint16_t>(bits + 1)), middle = (low + high) / 2;
    EXPECT_EQ(Half(static_cast<float>(middle)).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(Half(std::nextafter(static_cast<float>(middle), 0.f)).bits, bits);
    EXPECT_EQ(Half(-std::nextafter(static_cast<float>(middle), 1e9f)).bits, 0x8000 | (bits + 1));
  }
}

TEST(Half, OverflowsToInfinityAndKeepsNaN) {
  EXPECT_EQ(Half(65504.f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::nanf("")))));
}

TEST(BFloat16, IsTheUpperHalfOfAFloatRoundedToNearestEven) {
  EXPECT_EQ(BFloat16(1.f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);  // a tie goes down to the even one
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);  // and up to it
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    BFloat16 value;
    value.bits = static_cast<uint16_t>(bits);
    ASSERT_EQ(BFloat16(static_cast<float>(value)).bits, bits);
  }
}

}  // namespace
}  // namespace weir
