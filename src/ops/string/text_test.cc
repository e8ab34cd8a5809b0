#include <gtest/gtest.h>

#include <limits>

#include "tests/support/check_op.h"
#include "weir/session.h"
#include "weir/string_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

Tensor strings(std::vector<std::string> values) { return Tensor(values); }

TEST(StringToNumber, ReadsNumbers) {
  check_op({.op = "StringToNumber",
            .inputs = {strings({"3", " -7 ", "+2"})},
            .outputs = {{3, -7, 2}},
            .bad = {{.inputs = {strings({"3x"})}, .message = "could not correctly convert string: 3x"}}});
  check_op({.op = "StringToNumber", .inputs = {strings({"1e2", "0.5"})}, .outputs = {{100, 0.5}}, .types = {float32}});
}

TEST(AsString, PrintsAsTensorFlowDoes) {
  Graph g;
  Session session(g);
  auto print = [&](const Output& x, const AsStringOptions& options = {}) {
    return session.run(as_string(x, options)).data<std::string>()[0];
  };
  EXPECT_EQ(print(g.constant({1.5}, float32)), "1.500000");
  EXPECT_EQ(print(g.constant({1.5}, float32), {.precision = 2, .width = 7, .fill = "0"}), "0001.50");
  EXPECT_EQ(print(g.constant({1.5}, float32), {.shortest = true}), "1.5");
  EXPECT_EQ(print(g.constant({-12}, int64)), "-12");
  EXPECT_EQ(print(g.constant({true}, boolean)), "true");
  EXPECT_EQ(print(g.constant({7}, int32), {.width = 1000}), std::string(999, ' ') + "7");
}

TEST(AsString, TakesNoFormatFromTheProgram) {
  Graph g;
  for (const char* fill : {"s", "n", "*", "%"}) {
    expect_error([&] { as_string(g.constant({1}, int32), {.width = 9, .fill = fill}); }, Code::InvalidArgument, "Fill");
  }
  expect_error([&] { as_string(g.constant({1}, int32), {.width = INT32_MAX}); }, Code::InvalidArgument, "width");
  expect_error([&] { as_string(g.constant({1}, float32), {.precision = INT32_MAX}); }, Code::InvalidArgument,
               "precision");
}

TEST(DecodeRaw, ReadsBytesInEitherOrder) {
  Graph g;
  Output bytes = g.constant(strings({std::string("\x01\x00\x02\x00", 4), std::string("\x00\x01\xff\xff", 4)}));
  Session session(g);
  expect_same(session.run(decode_raw(bytes, int16)), Tensor::from<int16_t>({1, 2, 256, -1}, {2, 2}));
  expect_same(session.run(decode_raw(bytes, int16, false)), Tensor::from<int16_t>({256, 512, 1, -1}, {2, 2}));
  expect_same(session.run(decode_raw(bytes, uint8)), Tensor::from<uint8_t>({1, 0, 2, 0, 0, 1, 255, 255}, {2, 4}));
  expect_error([&] { session.run(decode_raw(bytes, float64)); }, Code::InvalidArgument, "not a multiple of 8");
}

TEST(StringSplit, GivesASparseMatrix) {
  Graph g;
  SplitStrings pieces = string_split(g.constant(strings({"hello  world", "a", ""})));
  auto values = Session(g).run({pieces.indices, pieces.values, pieces.shape});
  expect_same(values[0], Tensor::from<int64_t>({0, 0, 0, 1, 1, 0}, {3, 2}));
  expect_same(values[1], strings({"hello", "world", "a"}));
  expect_same(values[2], Tensor(std::vector<int64_t>{3, 2}));
}

TEST(Text, CutsAndJoins) {
  Graph g;
  Session session(g);
  Output words = g.constant(strings({" one ", "three"}));
  expect_same(session.run(string_strip(words)), strings({"one", "three"}));
  expect_same(session.run(string_length(words)), Tensor(std::vector<int32_t>{5, 5}));
  expect_same(session.run(substr(words, 1, 3)), strings({"one", "hre"}));
  expect_same(session.run(substr(words, {-2, 0}, {9, 2})), strings({"e ", "th"}));
  expect_error([&] { session.run(substr(words, 6, 1)); }, Code::InvalidArgument, "out of range");
  Output square = g.constant(Tensor::from<std::string>({"a", "b", "c", "d"}, {2, 2}));
  expect_same(session.run(reduce_join(square, {0})), strings({"ac", "bd"}));
  expect_same(session.run(reduce_join(square, {0, 1})), Tensor(std::string("acbd")));
  expect_same(session.run(reduce_join(square, {1, 0})), Tensor(std::string("abcd")));
  expect_same(session.run(reduce_join(square, {-1}, {.keep_dims = true, .separator = "-"})),
              Tensor::from<std::string>({"a-b", "c-d"}, {2, 1}));
}

TEST(EditDistance, CountsEdits) {
  const float infinity = std::numeric_limits<float>::infinity();
  // "cat" against "cart", nothing against nothing, "x" against nothing.
  check_op({.op = "EditDistance",
            .inputs = {{{0, 0}, {0, 1}, {0, 2}, {2, 0}},
                       {3, 1, 20, 24},
                       {3, 3},
                       {{0, 0}, {0, 1}, {0, 2}, {0, 3}},
                       {3, 1, 18, 20},
                       {3, 4}},
            .outputs = {Tensor(std::vector<float>{0.25f, 0, infinity})},
            .bad = {{.inputs = {{{0, 0}}, {3}, {-1, 3}, {{0, 0}}, {3}, {-1, 4}}, .message = "negative size"},
                    {.inputs = {{{9, 0}}, {3}, {3, 3}, {{0, 0}}, {3}, {3, 4}}, .message = "not in"},
                    {.inputs = {{{-1, 0}}, {3}, {3, 3}, {{0, 0}}, {3}, {3, 4}}, .message = "not in"}}});
}

TEST(Base64, IsSafeInFileNames) {
  check_op({.op = "EncodeBase64",
            .inputs = {{"hello", "", "a", "\xff\xfe\xfd"}},
            .outputs = {{"aGVsbG8", "", "YQ", "__79"}}});
  check_op(
      {.op = "EncodeBase64", .inputs = {{"hello", "ab"}}, .attrs = {{"pad", true}}, .outputs = {{"aGVsbG8=", "YWI="}}});
  check_op({.op = "DecodeBase64",
            .inputs = {{"aGVsbG8", "YQ==", "__79"}},
            .outputs = {{"hello", "a", "\xff\xfe\xfd"}},
            .bad = {{.inputs = {{"a b"}}, .message = "Invalid character"},
                    {.inputs = {{"abcde"}}, .message = "modulo 4"},
                    {.inputs = {{"a+b/"}}, .message = "Invalid character"}}});
}

TEST(UnicodeScript, NumbersScriptsAsIcuDoes) {
  check_op({.op = "UnicodeScript",
            .inputs = {{65, 0x411, 0x3042, 0x4e00, 49, -1, 0x110000}},
            .outputs = {{25, 8, 20, 17, 0, -1, -1}}});
}

}  // namespace
}  // namespace weir
