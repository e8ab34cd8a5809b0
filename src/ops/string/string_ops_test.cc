#include <gtest/gtest.h>

#include "ops/string/hash.h"
#include "tests/support/check_op.h"
#include "weir/session.h"
#include "weir/string_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

Tensor strings(std::vector<std::string> values) { return Tensor(values); }
Tensor ints(std::vector<int64_t> values) { return Tensor(values); }

// Vectors of the functions' own authors, and of TensorFlow's tests.
TEST(Hash, GivesTensorFlowsNumbers) {
  EXPECT_EQ(ops::fingerprint64("a"), 12917804110809363939ull);
  std::string text;
  for (char i = 0; i < 15; ++i) text += i;
  EXPECT_EQ(ops::keyed_hash64(text, 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull), 0xa129ca6149be45e5ull);
}

TEST(StringToHashBucket, PutsStringsIntoTensorFlowsBuckets) {
  const Tensor input = strings({"a", "b", "c", "d"});
  check_op(
      {.op = "StringToHashBucketFast", .inputs = {input}, .attrs = {{"num_buckets", 10}}, .outputs = {{9, 2, 2, 5}}});
  check_op({.op = "StringToHashBucket", .inputs = {input}, .attrs = {{"num_buckets", 10}}, .outputs = {{8, 0, 7, 9}}});
  check_op(
      {.op = "StringToHashBucketStrong",
       .inputs = {strings({"a", "b", "c"})},
       .attrs = {{"num_buckets", 10}, {"key", std::vector<int64_t>{98765, 132}}},
       .outputs = {{4, 2, 8}},
       .bad = {
           {.inputs = {input}, .attrs = {{"key", std::vector<int64_t>{1}}}, .message = "Key must have 2 elements"}}});
}

TEST(Fingerprint, IsEightBytesOfEachRow) {
  check_op({.op = "Fingerprint",
            .inputs = {strings({"a"}), "farmhash64"},
            .attrs = {{"T", DType::String}},
            .outputs = {{{227, 117, 223, 182, 101, 66, 69, 179}}},
            .bad = {{.inputs = {strings({"a"}), "md5"}, .message = "Unsupported fingerprint method"}}});
}

TEST(Regex, MatchesWholeStringsAndReplaces) {
  const Tensor input = strings({"abc", "a1b2", ""});
  check_op({.op = "RegexFullMatch",
            .inputs = {input, "[a-z]+"},
            .outputs = {Tensor::from<bool>({true, false, false}, {3})},
            .bad = {{.inputs = {input, "(["}, .message = "Invalid pattern"},
                    {.inputs = {input, strings({"a", "b"})}, .message = "Pattern must be scalar"}}});
  check_op({.op = "StaticRegexFullMatch",
            .inputs = {input},
            .attrs = {{"pattern", "[a-z]+"}},
            .outputs = {Tensor::from<bool>({true, false, false}, {3})}});
  check_op(
      {.op = "RegexReplace", .inputs = {input, "([0-9])", "<\\1>"}, .outputs = {strings({"abc", "a<1>b<2>", ""})}});
  check_op({.op = "StaticRegexReplace",
            .inputs = {input},
            .attrs = {{"pattern", "[0-9]"}, {"rewrite", "-"}, {"replace_global", false}},
            .outputs = {strings({"abc", "a-b2", ""})},
            .bad = {{.inputs = {input}, .attrs = {{"pattern", "*"}}, .message = "Invalid pattern"}}});
}

TEST(StringCase, ChangesLettersOfAllAlphabetsWhenTold) {
  check_op({.op = "StringLower", .inputs = {strings({"AbC\xc3\x89"})}, .outputs = {strings({"abc\xc3\x89"})}});
  check_op({.op = "StringLower",
            .inputs = {strings({"AbC\xc3\x89"})},
            .attrs = {{"encoding", "utf-8"}},
            .outputs = {strings({"abc\xc3\xa9"})},
            .bad = {{.inputs = {strings({"a"})}, .attrs = {{"encoding", "latin"}}, .message = "only utf-8"}}});
  check_op({.op = "StringUpper",
            .inputs = {strings({"abc\xc3\xa9"})},
            .attrs = {{"encoding", "utf-8"}},
            .outputs = {strings({"ABC\xc3\x89"})}});
}

TEST(StringSplitV2, CutsAsPythonDoes) {
  check_op({.op = "StringSplitV2",
            .inputs = {strings({" a  b ", "", "c"}), ""},
            .outputs = {{{0, 0}, {0, 1}, {2, 0}}, strings({"a", "b", "c"}), {3, 2}}});
  check_op({.op = "StringSplitV2",
            .inputs = {strings({"a<>b<>c", ""}), "<>"},
            .attrs = {{"maxsplit", 1}},
            .outputs = {{{0, 0}, {0, 1}, {1, 0}}, strings({"a", "b<>c", ""}), {2, 2}},
            .bad = {{.inputs = {"a", ","}, .message = "rank"}}});
}

TEST(StringNGrams, PadsAndJoinsWords) {
  const AttrMap attrs = {{"separator", "|"}, {"ngram_widths", std::vector<int64_t>{3}},
                         {"left_pad", "LP"}, {"right_pad", "RP"},
                         {"pad_width", -1},  {"preserve_short_sequences", false}};
  check_op({.op = "StringNGrams",
            .inputs = {strings({"a", "b", "c", "d"}), ints({0, 3, 4})},
            .attrs = attrs,
            .outputs = {strings({"LP|LP|a", "LP|a|b", "a|b|c", "b|c|RP", "c|RP|RP", "LP|LP|d", "LP|d|RP", "d|RP|RP"}),
                        {0, 5, 8}},
            .bad = {{.inputs = {strings({"a"}), ints({0, 3})}, .message = "Invalid split value"},
                    {.inputs = {strings({"a"}), ints({1, 1})}, .message = "First split value must be 0"}}});
}

TEST(UnsortedSegmentJoin, JoinsStringsOfEqualIds) {
  check_op({.op = "UnsortedSegmentJoin",
            .inputs = {strings({"a", "b", "c", "d"}), {1, 0, 1, -1}, 3},
            .attrs = {{"separator", ":"}},
            .outputs = {strings({"b", "a:c", ""})},
            .bad = {{.inputs = {strings({"a"}), {3}, 2}, .message = "out of range"},
                    {.inputs = {strings({"a"}), {0}, -1}, .message = "non-negative"}}});
}

TEST(StringFormat, PutsTensorsIntoText) {
  check_op(
      {.op = "StringFormat",
       .inputs = {{{1, 2}, {3, 4}}, strings({"x"})},
       .attrs = {{"T", std::vector<DType>{int32, string}}, {"template", "a {} b {}"}, {"placeholder", "{}"}},
       .outputs = {"a [[1 2]\n [3 4]] b [\"x\"]"},
       .bad = {
           {.inputs = {{{1, 2}, {3, 4}}, strings({"x"})}, .attrs = {{"template", "{}"}}, .message = "placeholders"}}});
}

TEST(Substr, BroadcastsAndCountsCharacters) {
  check_op({.op = "Substr",
            .inputs = {strings({"hello", "world"}), 1, 3},
            .outputs = {strings({"ell", "orl"})},
            .bad = {{.inputs = {strings({"a"}), 7, 1}, .message = "pos 7 out of range for string b'a'"},
                    {.inputs = {strings({"a"}), {1, 2}, 1}, .message = "pos and len shapes must match"}}});
  check_op({.op = "Substr",
            .inputs = {"hello", {{0, -2}}, {{2, 9}}},
            .outputs = {Tensor::from<std::string>({"he", "lo"}, {1, 2})}});
  check_op({.op = "Substr",
            .inputs = {strings({"\xc3\xa9t\xc3\xa9"}), -2, 2},
            .attrs = {{"unit", "UTF8_CHAR"}},
            .outputs = {strings({"t\xc3\xa9"})},
            .bad = {{.inputs = {strings({"\xc3\xa9"}), 2, 1}, .message = "out of range"}}});
}

TEST(Unicode, DecodesEncodesAndTranscodes) {
  check_op({.op = "UnicodeDecodeWithOffsets",
            .inputs = {strings({"G\xc3\xb6",
                                "\xff"
                                "a"})},
            .attrs = {{"input_encoding", "UTF-8"}},
            .outputs = {{0, 2, 4}, {71, 246, 65533, 97}, {0, 1, 0, 1}},
            .bad = {{.inputs = {strings({"\xff"})}, .attrs = {{"errors", "strict"}}, .message = "Invalid formatting"},
                    {.inputs = {strings({"a"})},
                     .attrs = {{"input_encoding", "none"}},
                     .message = "Could not create converter"}}});
  check_op({.op = "UnicodeDecode",
            .inputs = {strings({"\xe9"})},
            .attrs = {{"input_encoding", "latin1"}},
            .outputs = {{0, 1}, {0xe9}}});
  check_op({.op = "UnicodeEncode",
            .inputs = {{71, 246, 65533}, ints({0, 2, 3})},
            .attrs = {{"output_encoding", "UTF-8"}},
            .outputs = {strings({"G\xc3\xb6", "\xef\xbf\xbd"})},
            .bad = {{.inputs = {{71}, ints({0, 2})}, .message = "Last value"},
                    {.inputs = {{0x110000}, ints({0, 1})}, .attrs = {{"errors", "strict"}}, .message = "Code point"}}});
  check_op({.op = "UnicodeTranscode",
            .inputs = {strings({std::string("\xd8\x3d\xde\x00\0a", 6)})},
            .attrs = {{"input_encoding", "UTF-16-BE"}, {"output_encoding", "UTF-8"}},
            .outputs = {strings({"\xf0\x9f\x98\x80"
                                 "a"})}});
}

}  // namespace
}  // namespace weir
