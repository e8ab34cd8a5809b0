#include "tensor/tensor_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir {
namespace {

using testing::converted;
using testing::expect_error;
using testing::expect_same;

Tensor read(const std::string& text) {
  proto::TensorProto message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  ExpansionAllowance allowance;
  return tensor_from_proto(message, allowance);
}

TEST(TensorProto, EveryTypeAndSizeComesBack) {
  for (DType dtype : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                      boolean, complex64, complex128}) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{2, 3}, Shape{0, 4}}) {
      Tensor tensor(dtype, shape);
      for (size_t i = 0; i < tensor.bytes(); ++i) {
        static_cast<uint8_t*>(tensor.mutable_raw())[i] = static_cast<uint8_t>(dtype == boolean ? i % 2 : i * 7 + 1);
      }
      proto::TensorProto message;
      tensor_to_proto(tensor, message);
      ExpansionAllowance allowance(0);
      expect_same(tensor_from_proto(message, allowance), tensor);
    }
  }
  Tensor strings = Tensor(std::vector<std::string>{"a", "", std::string("\0b", 2)});
  proto::TensorProto message;
  tensor_to_proto(strings, message);
  ExpansionAllowance allowance;
  expect_same(tensor_from_proto(message, allowance), strings);
}

TEST(TensorProto, TheLastValueStandsForTheMissingOnes) {
  expect_same(read("dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: 1 float_val: 2"),
              Tensor(std::vector<float>{1, 2, 2, 2}));
  expect_same(read("dtype: DT_INT32 tensor_shape { dim { size: 2 } }"), Tensor(std::vector<int>{0, 0}));
  expect_same(read("dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'x'"),
              Tensor(std::vector<std::string>{"x", "x"}));
  expect_same(read("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 15360"),
              Tensor(std::vector<Half>{Half(1), Half(1)}));
  expect_same(read("dtype: DT_BFLOAT16 tensor_shape {} half_val: 16256"), Tensor(BFloat16(1)));
  expect_same(read("dtype: DT_COMPLEX64 tensor_shape { dim { size: 2 } } scomplex_val: 1 scomplex_val: 2"),
              Tensor(std::vector<std::complex<float>>{{1, 2}, {1, 2}}));
  expect_same(read("dtype: DT_UINT16 tensor_shape {} int_val: 65535"), Tensor(uint16_t{65535}));
}

TEST(TensorProto, ReadsContentOfStringsAndBooleans) {
  expect_same(read(R"(dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: "\001\002abc")"),
              Tensor(std::vector<std::string>{"a", "bc"}));
  Tensor flags = read(R"(dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: "\005\000")");
  EXPECT_TRUE(flags.data<bool>()[0]);
  EXPECT_FALSE(flags.data<bool>()[1]);
}

TEST(TensorProto, RefusesWhatDoesNotFit) {
  struct {
    const char* text;
    const char* message;
    Code code = Code::InvalidArgument;
  } cases[] = {
      {"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abc'", "takes 8 bytes; its content has 3"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 1 } } float_val: 1 float_val: 2", "2 values are given"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -1 } }", "[?]"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -2 } }", "-2"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true }", "<unknown>"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true dim { size: 1 } }", "unknown rank has 1"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }", "overflow"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } }", "overflow"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 1000000000 } } float_val: 1", "written as a single value",
       Code::ResourceExhausted},
      {"dtype: DT_COMPLEX64 tensor_shape {} scomplex_val: 1", "odd number"},
      {R"(dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: "\001")", "cut short"},
      {R"(dtype: DT_STRING tensor_shape { dim { size: 1 } } tensor_content: "\005a")", "cut short"},
      {R"(dtype: DT_STRING tensor_shape { dim { size: 1 } } tensor_content: "\001ab")", "too long"},
      {R"(dtype: DT_STRING tensor_shape { dim { size: 1 } } tensor_content: "\377\377\377\377\377\377\377")",
       "cut short"},
      {"tensor_shape {}", "type number 0"},
      {"dtype: DT_FLOAT_REF tensor_shape {}", "type number 101"},
      {"dtype: DT_RESOURCE tensor_shape {}", "resource", Code::Unimplemented},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    expect_error([&] { read(c.text); }, c.code, c.message);
  }
}

}  // namespace
}  // namespace weir
