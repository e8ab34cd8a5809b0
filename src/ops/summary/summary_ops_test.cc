#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "ops/summary/histogram.h"
#include "proto/summary.pb.h"
#include "tests/support/check_op.h"
#include "tests/support/decode_png.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/summary.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// What TensorFlow 1.15 made of the cases below, recorded by tests/conformance/event_exchange.py.
const std::map<std::string, proto::Summary>& recorded() {
  static const std::map<std::string, proto::Summary> cases = [] {
    std::map<std::string, proto::Summary> result;
    std::ifstream table(WEIR_SOURCE_DIR "/tests/data/summaries-1.15.5.tsv");
    for (std::string name, hex; table >> name >> hex;) {
      std::string bytes;
      for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      EXPECT_TRUE(result[name].ParseFromString(bytes)) << name;
    }
    return result;
  }();
  return cases;
}

proto::Summary run(const Output& summary) {
  proto::Summary message;
  EXPECT_TRUE(message.ParseFromString(Session(summary.graph()).run(summary).scalar<std::string>()));
  return message;
}

void expect_recorded(const std::string& name, const Output& summary) {
  proto::Summary message = run(summary);
  for (proto::Summary::Value& value : *message.mutable_value()) {
    if (!value.has_image()) continue;
    DecodedPng png = decode_png(value.image().encoded_image_string());
    EXPECT_EQ(png.channels, value.image().colorspace());
    value.mutable_image()->set_encoded_image_string(png.pixels);
  }
  ASSERT_TRUE(recorded().contains(name)) << name;
  EXPECT_EQ(message.DebugString(), recorded().at(name).DebugString()) << name;
}

std::vector<double> wave() {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(((i * 7919) % 1000 - 500) / 37.0);
  return values;
}

std::string summary_of(const std::vector<std::pair<std::string, float>>& scalars) {
  proto::Summary message;
  for (const auto& [tag, number] : scalars) {
    message.add_value()->set_tag(tag);
    message.mutable_value()->rbegin()->set_simple_value(number);
  }
  return message.SerializeAsString();
}

TEST(ScalarSummary, HoldsEveryTypeOfNumber) {
  check_op({.op = "ScalarSummary", .inputs = {"cost", 2}, .outputs = {summary_of({{"cost", 2.f}})}});
  check_op({.op = "ScalarSummary",
            .inputs = {{"a", "b"}, {1, 3}},
            .outputs = {summary_of({{"a", 1.f}, {"b", 3.f}})},
            .bad = {{.inputs = {"a", {1, 2}}, .message = "tags and values not the same shape: [] != [2]"},
                    {.inputs = {{"a"}, 1}, .message = "tags and values not the same shape: [1] != []"}}});
  Graph g;
  expect_recorded("scalar_half", summary::scalar("tag", g.constant(0.1, float16)));
  Graph h;
  expect_recorded("scalar_int64", summary::scalar("tag", h.constant(123456789, int64)));
}

TEST(HistogramSummary, CountsAsTensorFlowDoes) {
  std::vector<double> mixed = {-3, -0.5, 0, -0.0, 1e-13, -1e-13, 1e-12, -1e-12, 0.1, 0.1, 1e19, 1e21, -1e25, 3.5};
  std::vector<double> values = wave();
  std::vector<float> floats(values.begin(), values.end());
  std::map<std::string, Tensor> cases = {{"histogram_wave", Tensor(values)},
                                         {"histogram_float", Tensor(floats)},
                                         {"histogram_mixed", Tensor(mixed)},
                                         {"histogram_empty", Tensor(std::vector<float>{})},
                                         {"histogram_int32", Tensor(std::vector<int32_t>{1, 2, 3, 1000, -7})}};
  for (const auto& [name, value] : cases) {
    Graph g;
    expect_recorded(name, summary::histogram("tag", g.constant(value)));
  }
}

TEST(HistogramSummary, TakesEveryTypeAndRejectsWhatIsNotFinite) {
  proto::Summary expected;
  expected.add_value()->set_tag("h");
  ops::Histogram histogram;
  for (double value : {1, 2, 2, 100}) histogram.add(value);
  histogram.encode(*expected.mutable_value(0)->mutable_histo());
  check_op({.op = "HistogramSummary",
            .inputs = {"h", {{1, 2}, {2, 100}}},
            .outputs = {expected.SerializeAsString()},
            .bad = {{.inputs = {"h", {1, kNan}}, .message = "Nan in summary histogram for: HistogramSummary"},
                    {.inputs = {"h", {1, -kInf}}, .message = "Infinity in summary histogram for: HistogramSummary"},
                    {.inputs = {{"h"}, {1}}, .message = "tags must be scalar"}}});
}

// The table that finds buckets against the definition: the first limit that is greater than the value.
TEST(Histogram, PutsEveryValueIntoItsBucket) {
  std::vector<double> limits;
  for (double x = 1e-12; x < 1e20; x *= 1.1) limits.push_back(x);
  std::vector<double> values = {0, 5e-324, 1e-300, 1e20, 1e300, std::numeric_limits<double>::max()};
  for (double x : limits) {
    for (double y : {x, std::nextafter(x, 0), std::nextafter(x, kInf), x * 1.03}) values.push_back(y);
  }
  std::vector<double> all = {0};
  for (double x : limits) all.insert(all.end(), {x, -x});
  all.insert(all.end(), {std::numeric_limits<double>::max(), -std::numeric_limits<double>::max()});
  std::sort(all.begin(), all.end());
  for (double sign : {1.0, -1.0}) {
    for (double value : values) {
      ops::Histogram histogram;
      histogram.add(sign * value);
      proto::HistogramProto message;
      histogram.encode(message);
      auto expected = std::upper_bound(all.begin(), all.end(), sign * value);
      if (expected == all.end()) --expected;
      auto filled = std::find(message.bucket().begin(), message.bucket().end(), 1.0) - message.bucket().begin();
      EXPECT_EQ(message.bucket_limit(static_cast<int>(filled)), *expected) << sign * value;
      EXPECT_EQ(*message.bucket_limit().rbegin(), std::numeric_limits<double>::max());
    }
  }
}

TEST(ImageSummary, ScalesAsTensorFlowDoes) {
  Graph g;
  Tensor floats = Tensor::from<double>({0, .5, 1, 2, .25, kNan, 1.999, 1e-3}, {1, 2, 4, 1});
  Tensor dark = Tensor::from<double>({0, .5e-7, 1e-7, 2e-7, .25e-7, kNan, 1.999e-7, 1e-10}, {1, 2, 4, 1});
  Tensor signed_values = Tensor::from<double>({-1, 0, .5, 1, -3, 2, kInf, 0, 0, .1, .2, .3}, {1, 2, 2, 3});
  Tensor bytes(uint8, {2, 3, 1, 4});
  for (int i = 0; i < 24; ++i) bytes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 10);
  auto image = [&](const Tensor& value, const summary::ImageOptions& options = {}) {
    return summary::v0::image_summary("tag", g.constant(value), options.max_outputs);
  };
  expect_recorded("image_float", image(converted(floats, float32)));
  expect_recorded("image_double", image(floats, {.max_outputs = 1}));
  expect_recorded("image_half", image(converted(floats, float16)));
  expect_recorded("image_signed", image(converted(signed_values, float32)));
  expect_recorded("image_dark", image(converted(dark, float32)));
  expect_recorded("image_uint8", image(bytes));
}

TEST(ImageSummary, RejectsWhatIsNoPicture) {
  check_op({.op = "ImageSummary",
            .inputs = {"tag", zeros({0, 2, 2, 3})},
            .outputs = {""},
            .bad = {{.inputs = {"tag", zeros({2, 2, 3})}, .message = "Tensor must be 4-D"},
                    {.inputs = {"tag", zeros({1, 2, 2, 2})}, .message = "with last dim 1, 3, or 4, not [1,2,2,2]"},
                    {.inputs = {"tag", zeros({1, 0, 2, 3})}, .message = "non-zero dims"},
                    {.inputs = {"tag", zeros({1, 2, 2, 3})},
                     .attrs = {{"bad_color", Tensor(std::vector<uint8_t>{1, 2})}},
                     .message = "expected depth <= bad_color.size, got depth = 3, bad_color.size = 2"},
                    {.inputs = {"tag", zeros({1, 2, 2, 3})},
                     .attrs = {{"bad_color", Tensor(std::vector<int32_t>{1, 2, 3})}},
                     .message = "bad_color must be uint8, got int32"},
                    {.inputs = {{"tag"}, zeros({1, 2, 2, 3})}, .message = "tags must be scalar"}}});
  Graph g;
  EXPECT_NO_THROW(summary::image("features", g.constant(zeros({1, 2, 2, 64}))));  // a graph may have it, unrun
  // A scale beyond half's range is no reason to fail.
  Tensor faint = converted(Tensor::from<double>({0, 1e-5}, {1, 1, 2, 1}), float16);
  EXPECT_EQ(decode_png(run(summary::image("x", g.constant(faint))).value(0).image().encoded_image_string()).pixels,
            std::string("\0\xff", 2));
}

TEST(AudioSummary, IsAWavFile) {
  Graph g;
  Tensor sound = converted(Tensor::from<double>({.5, -1, 1, .00002, 2, -2, kNan, 0}, {2, 2, 2}), float32);
  expect_recorded("audio", summary::audio("tag", g.constant(sound), 10));
  Output old = NodeBuilder("AudioSummary").input("tag").input(g.constant(sound)).attr("sample_rate", 10.f).output();
  expect_recorded("audio", old);
  check_op({.op = "AudioSummaryV2",
            .inputs = {"tag", zeros({0, 4}), 10},
            .outputs = {""},
            .bad = {{.inputs = {"tag", zeros({2}), 10}, .message = "Tensor must be 3-D or 2-D, got: [2]"},
                    {.inputs = {"tag", zeros({2, 2}), -1}, .message = "sample_rate must be > 0"},
                    {.inputs = {"tag", zeros({2, 2}), kNan}, .message = "sample_rate must be > 0"},
                    {.inputs = {"tag", zeros({2, 2}), 1e30}, .message = "does not fit into a WAV file"},
                    {.inputs = {"tag", zeros({2, 0, 2}), 10}, .message = "the audio is empty"},
                    {.inputs = {"tag", zeros({2, 2}), {10, 10}}, .message = "sample_rate must be a single number"}}});
}

TEST(TensorSummary, HoldsTensorsOfEveryType) {
  Graph g;
  expect_recorded("tensor",
                  summary::tensor("tag", g.constant({{1, 2, 3}}, int32), {.description = "d", .display_name = "n"}));
  Graph h;
  expect_recorded("text", summary::text("tag", h.constant(Tensor(std::vector<std::string>{"a", "bc"}))));
  Output old = NodeBuilder("TensorSummary", "ts").input(g.constant({{1, 2, 3}}, int32)).output();
  proto::Summary message = run(old);
  EXPECT_EQ(message.value(0).node_name(), "ts");
  EXPECT_EQ(message.value(0).tensor().tensor_content().size(), 12u);
  EXPECT_THROW(summary::text("number", g.constant(1, float32)), Error);
  EXPECT_THROW(summary::tensor("x", g.constant(1, float32), {.metadata = "zzz"}), Error);
  check_op({.op = "TensorSummaryV2",
            .inputs = {"t", Tensor(1.f), ""},
            .attrs = {{"T", float32}},
            .outputs = {run(summary::tensor("t", Graph().constant(1, float32))).SerializeAsString()},
            .bad = {{.inputs = {"t", Tensor(1.f), "zzz"}, .message = "no SummaryMetadata"},
                    {.inputs = {{"t"}, Tensor(1.f), ""}, .message = "tags must be scalar"}}});
}

TEST(MergeSummary, JoinsSummariesAndRejectsCommonTags) {
  std::string a = summary_of({{"a", 1}}), b = summary_of({{"b", 2}, {"c", 3}});
  check_op({.op = "MergeSummary",
            .inputs = {a, b, ""},
            .attrs = {{"N", int64_t{3}}},
            .outputs = {summary_of({{"a", 1}, {"b", 2}, {"c", 3}})},
            .bad = {{.inputs = {a, b, a}, .message = "Duplicate tag a found in summary inputs"},
                    {.inputs = {a, "zzzz", b}, .message = "Could not parse one of the summary inputs"}}});
}

}  // namespace
}  // namespace weir::testing
