#include <gtest/gtest.h>

#include "io/deflate.h"
#include "tests/support/check_op.h"
#include "weir/parsing_ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using testing::check_op;
using testing::expect_error;
using testing::expect_same;
using Strings = std::vector<std::string>;

std::vector<Tensor> csv(const Strings& records, const std::vector<Tensor>& defaults,
                        const DecodeCsvOptions& options = {}) {
  Graph g;
  Output in = g.placeholder(string, Shape::unknown());
  std::vector<Output> columns = decode_csv(in, defaults, options);
  Session session(g);
  return session.run(columns, {{in, Tensor(records)}});
}

TEST(DecodeCSV, ReadsEveryType) {
  const std::vector<Tensor> columns = csv({"1, 2 ,+3.5,-4e2,text", "-5,6,nan,1e400,\"a \"\"b\"\", c\""},
                                          {Tensor(0), Tensor(int64_t{0}), Tensor(0.f), Tensor(0.), Tensor("")});
  expect_same(columns[0], Tensor(std::vector<int32_t>{1, -5}));
  expect_same(columns[1], Tensor(std::vector<int64_t>{2, 6}));
  EXPECT_EQ(columns[2].data<float>()[0], 3.5f);
  EXPECT_TRUE(std::isnan(columns[2].data<float>()[1]));
  EXPECT_EQ(columns[3].data<double>()[1], std::numeric_limits<double>::infinity());
  expect_same(columns[4], Tensor(Strings{"text", "a \"b\", c"}));
}

TEST(DecodeCSV, TakesDefaultsForEmptyFields) {
  const std::vector<Tensor> columns =
      csv({",NA,", "1,2,3"}, {Tensor(7), Tensor(8.f), Tensor("nine")}, {.na_value = "NA"});
  expect_same(columns[0], Tensor(std::vector<int32_t>{7, 1}));
  expect_same(columns[1], Tensor(std::vector<float>{8, 2}));
  expect_same(columns[2], Tensor(Strings{"nine", "3"}));
}

TEST(DecodeCSV, TakesOnlyTheColumnsThatAreSelected) {
  const std::vector<Tensor> columns = csv({"a,1,b,2,\"", "c,3,d,4"}, {Tensor(0), Tensor(0)}, {.select_cols = {1, 3}});
  expect_same(columns[0], Tensor(std::vector<int32_t>{1, 3}));
  expect_same(columns[1], Tensor(std::vector<int32_t>{2, 4}));
}

TEST(DecodeCSV, LeavesQuotesAloneWhenAsked) {
  expect_same(csv({"1|\"a"}, {Tensor(0), Tensor("")}, {.field_delim = "|", .use_quote_delim = false})[1],
              Tensor(Strings{"\"a"}));
}

TEST(DecodeCSV, TellsFieldAndRecord) {
  auto fails = [](const Strings& records, const std::vector<Tensor>& defaults, const std::string& text,
                  const DecodeCsvOptions& options = {}) {
    expect_error([&] { csv(records, defaults, options); }, Code::InvalidArgument, text);
  };
  const Tensor required(DType::Int32, Shape{0});
  fails({"1,2", "3"}, {Tensor(0), Tensor(0)}, "Expect 2 fields but have 1 in record 1");
  fails({"1,2,3"}, {Tensor(0), Tensor(0)}, "Expect 2 fields but have 3 in record 0");
  fails({""}, {Tensor(0)}, "Expect 1 fields but have 0 in record 0");
  fails({"1,x"}, {Tensor(0), Tensor(0)}, "Field 1 in record 0 is not a valid int32: x");
  fails({"1,1.5"}, {Tensor(0), Tensor(int64_t{0})}, "Field 1 in record 0 is not a valid int64: 1.5");
  fails({"99999999999"}, {Tensor(0)}, "is not a valid int32: 99999999999");
  fails({"1,", "1,2"}, {Tensor(0), required}, "Field 1 is required but missing in record 0!");
  fails({"1,a\"b"}, {Tensor(0), Tensor("")}, "Unquoted fields cannot have quotes/CRLFs inside");
  fails({"1\n2"}, {Tensor(0)}, "Unquoted fields cannot have quotes/CRLFs inside");
  fails({"\"a"}, {Tensor("")}, "Quoted field has to end with quote followed by delim or end");
  fails({"\"a\"b"}, {Tensor("")}, "Quote inside a string has to be escaped by another quote");
  fails({"1"}, {Tensor(0)}, "field_delim should be only 1 char", {.field_delim = "ab"});
  fails({"1"}, {Tensor(0), Tensor(0)}, "select_cols should be strictly increasing indices", {.select_cols = {2, 1}});
  fails({"1"}, {Tensor(std::vector<int32_t>{1, 2})}, "default");
}

TEST(DecodeCSV, TellsTheFirstBadRecordWhateverTheThreads) {
  Strings records(50000, "1,2,3");
  for (size_t i = 777; i < records.size(); i += 11) records[i] = "1,2";
  expect_error([&] { csv(records, {Tensor(0), Tensor(0), Tensor(0)}); }, Code::InvalidArgument, "in record 777");
}

TEST(DecodeCompressed, UnpacksBothKinds) {
  for (auto [name, kind] : {std::pair("ZLIB", Compression::Zlib), std::pair("GZIP", Compression::Gzip)}) {
    std::string packed, text(100000, 'x');
    io::Deflater(kind, {}).pack(text, Z_FINISH, packed);
    Graph g;
    Output out = decode_compressed(g.constant(Tensor(Strings{packed, packed})), name);
    Session session(g);
    expect_same(session.run(out), Tensor(Strings{text, text}));
    Output bad = decode_compressed(g.constant(Tensor(packed.substr(0, packed.size() / 2))), name);
    expect_error([&] { session.run(bad); }, Code::DataLoss, "cut short");
  }
  Graph g;
  Output none = decode_compressed(g.constant(Tensor("as it is")));
  Output damaged = decode_compressed(g.constant(Tensor("zz")), "ZLIB"),
         other = decode_compressed(g.constant(Tensor("")), "LZ4");
  Session session(g);
  expect_same(session.run(none), Tensor("as it is"));
  expect_error([&] { session.run(damaged); }, Code::DataLoss, "inflate() failed with error");
  expect_error([&] { session.run(other); }, Code::InvalidArgument,
               "Only ZLIB, GZIP or NONE are supported compressions");
}

TEST(DecodeJSONExample, GivesTheMessage) {
  Graph g;
  Output message =
      decode_json_example(g.constant(Tensor(R"({"features":{"feature":{"x":{"int64List":{"value":["3"]}}}}})")));
  Output bad = decode_json_example(g.constant(Tensor("{")));
  Output x = parse_single_example(message, {{"x", FixedLenFeature{{}, int64}}})["x"];
  Session session(g);
  expect_same(session.run(x), Tensor(int64_t{3}));
  expect_error([&] { session.run(bad); }, Code::InvalidArgument, "Error while parsing JSON: ");
}

TEST(DecodePaddedRaw, CutsAndPads) {
  Graph g;
  const Tensor texts(Strings{"abcdef", "gh", ""});
  Output little = decode_padded_raw(g.constant(texts), 4, int16),
         big = decode_padded_raw(g.constant(texts), 4, int16, false);
  EXPECT_EQ(little.shape(), (Shape{3, 2}));
  Session session(g);
  expect_same(session.run(little), Tensor::from<int16_t>({0x6261, 0x6463, 0x6867, 0, 0, 0}, {3, 2}));
  expect_same(session.run(big), Tensor::from<int16_t>({0x6162, 0x6364, 0x6768, 0, 0, 0}, {3, 2}));
  expect_error([&] { decode_padded_raw(g.constant(texts), 3, int16); }, Code::InvalidArgument, "multiple");
  expect_error([&] { decode_padded_raw(g.constant(texts), 0, int8); }, Code::InvalidArgument,
               "must be greater than zero");
}

TEST(SerializeTensor, WritesASingleNumberAsItsBytes) {
  Graph g;
  const Tensor bytes = Session(g).run(serialize_tensor(g.constant(Tensor(1.5f))));
  EXPECT_EQ(bytes.scalar<std::string>(), std::string("\x08\x01\x12\x00\x22\x04\x00\x00\xc0\x3f", 10));
}

TEST(SerializeTensor, IsReadBackByParseTensor) {
  Graph g;
  Session session(g);
  for (const Tensor& value : {Tensor::from<float>({1, 2}, {1, 2}), Tensor(Strings{"a", "bc"}), Tensor(true),
                              Tensor(DType::Int8, Shape{0, 3})}) {
    Output bytes = serialize_tensor(g.constant(value));
    expect_same(session.run(parse_tensor(bytes, value.dtype())), value);
  }
  Output wrong = parse_tensor(serialize_tensor(g.constant(Tensor(1.f))), int32),
         bad = parse_tensor(g.constant(Tensor("xx")), int32);
  expect_error([&] { session.run(wrong); }, Code::InvalidArgument,
               "Type mismatch between parsed tensor (float) and dtype (int32)");
  expect_error([&] { session.run(bad); }, Code::InvalidArgument, "Could not parse `serialized` as TensorProto");
}

}  // namespace
}  // namespace weir
