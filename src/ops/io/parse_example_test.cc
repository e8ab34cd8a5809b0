#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/parsing_ops.h"
#include "weir/records.h"
#include "weir/session.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_same;
using Strings = std::vector<std::string>;

std::string example(const std::function<void(Example&)>& fill) {
  Example e;
  fill(e);
  return e.serialize();
}

// Parses a batch in a session.
struct Parsed {
  Parsed(const Strings& serialized, const FeatureSpecs& features, const Strings& names = {})
      : session(g),
        parsed(parse_example(g.placeholder(string, Shape{static_cast<int64_t>(serialized.size())}, "in"), features,
                             {.names = In(g.constant(Tensor(names)))})),
        feed(serialized) {}

  Tensor dense(const std::string& name) { return run(parsed[name]); }
  Tensor run(const Output& output) { return session.run(output, {{g.output("in:0"), feed}}); }

  Graph g;
  Session session;
  ParsedFeatures parsed;
  Tensor feed;
};

TEST(ParseExample, GivesDenseFeaturesOfEachType) {
  Parsed p({example([](Example& e) {
              e.set_floats("f", {1, 2}).set_ints("i", {-3}).set_bytes("b", "x");
            }),
            example([](Example& e) {
              e.set_floats("f", {3, 4}).set_ints("i", {1LL << 62}).set_bytes("b", std::string(100, 'y'));
            })},
           {{"f", FixedLenFeature{{2, 1}, float32}},
            {"i", FixedLenFeature{{}, int64}},
            {"b", FixedLenFeature{{1}, string}}});
  expect_same(p.dense("f"), Tensor::from<float>({1, 2, 3, 4}, {2, 2, 1}));
  expect_same(p.dense("i"), Tensor(std::vector<int64_t>{-3, 1LL << 62}));
  EXPECT_EQ(p.dense("b").data<std::string>()[1], std::string(100, 'y'));
  EXPECT_EQ(p.parsed["f"].shape(), (Shape{2, 2, 1}));
}

TEST(ParseExample, GivesFeaturesOfAnyLengthAsSparseTensors) {
  Parsed p({example([](Example& e) {
              e.set_ints("v", {5, 6});
            }),
            example([](Example&) {}), example([](Example& e) { e.set_ints("v", {300}); })},
           {{"v", VarLenFeature{int64}}});
  const SparseOutput& v = p.parsed.sparse("v");
  expect_same(p.run(v.indices), Tensor::from<int64_t>({0, 0, 0, 1, 2, 0}, {3, 2}));
  expect_same(p.run(v.values), Tensor(std::vector<int64_t>{5, 6, 300}));
  expect_same(p.run(v.dense_shape), Tensor(std::vector<int64_t>{3, 2}));
}

TEST(ParseExample, PadsRowsWithTheDefault) {
  Parsed p({example([](Example& e) {
              e.set_floats("v", {1, 2, 3, 4});
            }),
            example([](Example& e) {
              e.set_floats("v", {5, 6});
            }),
            example([](Example&) {})},
           {{"v", FixedLenSequenceFeature{{2}, float32, true, Tensor(-1.f)}}});
  expect_same(p.dense("v"), Tensor::from<float>({1, 2, 3, 4, 5, 6, -1, -1, -1, -1, -1, -1}, {3, 2, 2}));
}

TEST(ParseExample, TakesDefaultsForWhatIsMissing) {
  Parsed p({example([](Example&) {}), example([](Example& e) { e.set("s", std::monostate()); })},
           {{"s", FixedLenFeature{{2}, string, Tensor(Strings{"a", "b"})}}});
  expect_same(p.dense("s"), Tensor::from<std::string>({"a", "b", "a", "b"}, {2, 2}));
}

TEST(ParseExample, LetsTheLastEntryOfANameCount) {
  // Messages behind each other are one message, so this one has two entries of the same name.
  const std::string twice =
      example([](Example& e) { e.set_ints("x", {1}); }) + example([](Example& e) { e.set_ints("x", {2}); });
  Parsed p({twice}, {{"x", FixedLenFeature{{}, int64}}});
  expect_same(p.dense("x"), Tensor(std::vector<int64_t>{2}));
}

TEST(ParseExample, ReadsListsThatAreNotPacked) {
  // {features {feature {key "x" value {int64_list {value: 5 value: 300}}}}}, each number with a tag of its own
  const std::string list = "\x08\x05\x08\xac\x02", feature = "\x1a\x05" + list;
  const std::string entry = std::string("\x0a\x01x\x12\x07") + feature;
  const std::string map = "\x0a\x0c" + entry, message = "\x0a\x0e" + map;
  Parsed p({message}, {{"x", FixedLenFeature{{2}, int64}}});
  expect_same(p.dense("x"), Tensor::from<int64_t>({5, 300}, {1, 2}));
}

TEST(ParseExample, TellsExampleFeatureAndReason) {
  const std::string good = example([](Example& e) { e.set_floats("x", {1, 2}); });
  auto parse = [](const Strings& serialized, const FeatureSpec& feature, const Strings& names = {}) {
    Parsed p(serialized, {{"x", feature}}, names);
    p.run(std::holds_alternative<VarLenFeature>(feature) ? p.parsed.sparse("x").values : p.parsed["x"]);
  };
  auto fails = [](const std::function<void()>& run, const std::string& text) {
    expect_error(run, Code::InvalidArgument, text);
  };
  fails(
      [&] {
        parse({good}, FixedLenFeature{{2}, int64});
      },
      "Name: <unknown>, Key: x, Index: 0.  Data types don't match. Data type: float but expected type: int64");
  fails([&] { parse({good}, VarLenFeature{string}); },
        "Data types don't match. Expected type: string, Actual type: float");
  fails(
      [&] {
        parse({good, good}, FixedLenFeature{{3}, float32}, {"a", "b"});
      },
      "Name: a, Key: x, Index: 0.  Number of float values != expected.  Values size: 2 but output shape: [3]");
  fails(
      [&] {
        parse({good, ""}, FixedLenFeature{{2}, float32}, {"a", "b"});
      },
      "Name: b, Feature: x (data type: float) is required but could not be found.");
  fails(
      [&] {
        parse({good}, FixedLenSequenceFeature{{3}, float32, true});
      },
      "is not a multiple of stride length. Saw 2");
  fails(
      [&] {
        parse({good, "\xffzz"}, FixedLenFeature{{2}, float32});
      },
      "Could not parse example input, value: '\xffzz'");
  fails([&] { parse({good}, FixedLenFeature{{2}, float32}, {"a", "b"}); }, "Expected len(names) == len(serialized)");
}

TEST(ParseExample, TellsTheFirstBadExampleWhateverTheThreads) {
  Strings many(4000, example([](Example& e) { e.set_bytes("x", std::string(1000, 'x')); }));
  for (size_t i = 1234; i < many.size(); i += 7) many[i] = "";
  Parsed p(many, {{"x", FixedLenFeature{{}, string}}});
  Strings names;
  for (size_t i = 0; i < many.size(); ++i) names.push_back("n" + std::to_string(i));
  Parsed named(many, {{"x", FixedLenFeature{{}, string}}}, names);
  expect_error([&] { named.dense("x"); }, Code::InvalidArgument, "Name: n1234, Feature: x");
}

TEST(ParseExample, SurvivesEveryBitThatFlips) {
  const std::string good = example([](Example& e) {
    e.set_floats("f", {1, 2}).set_ints("i", {-3, 4}).set_bytes("b", Example::Bytes{"x", "yz"});
  });
  Graph g;
  Output in = g.placeholder(string, Shape{1});
  ParsedFeatures parsed = parse_example(
      in, {{"f", FixedLenFeature{{2}, float32}}, {"i", VarLenFeature{int64}}, {"b", VarLenFeature{string}}});
  Session session(g);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    for (const std::string& message : {bad, bad.substr(0, bit / 8)}) {
      try {
        session.run({parsed["f"], parsed.sparse("i").values, parsed.sparse("b").values},
                    {{in, Tensor(Strings{message})}});
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
      }
    }
  }
}

TEST(ParseSingleExample, GivesFeaturesWithoutABatch) {
  Graph g;
  Output in = g.placeholder(string, Shape{});
  ParsedFeatures parsed = parse_single_example(in, {{"d", FixedLenFeature{{2}, float32}},
                                                    {"s", VarLenFeature{int64}},
                                                    {"r", FixedLenSequenceFeature{{2}, int64, true}},
                                                    {"none", FixedLenSequenceFeature{{3}, int64, true}}});
  Session session(g);
  auto run = [&](const Output& o) {
    return session.run(o, {{in, Tensor(example([](Example& e) {
                              e.set_floats("d", {1, 2}).set_ints("s", {7}).set_ints("r", {1, 2, 3, 4});
                            }))}});
  };
  expect_same(run(parsed["d"]), Tensor(std::vector<float>{1, 2}));
  expect_same(run(parsed["r"]), Tensor::from<int64_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(run(parsed["none"]).shape(), (Shape{0, 3}));
  expect_same(run(parsed.sparse("s").indices), Tensor::from<int64_t>({0}, {1, 1}));
  expect_same(run(parsed.sparse("s").dense_shape), Tensor(std::vector<int64_t>{1}));
  expect_error(
      [&] {
        session.run(parsed["d"], {{in, Tensor("")}});
      },
      Code::InvalidArgument, "Feature: d (data type: float) is required but could not be found.");
  expect_error([&] { parsed["s"]; }, Code::NotFound, "a sparse feature");
}

}  // namespace
}  // namespace weir
