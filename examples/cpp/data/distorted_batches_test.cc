#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "data/cifar10.h"
#include "tests/support/check_op.h"
#include "weir/error.h"

namespace weir::data {
namespace {

using testing::expect_error;

Pictures test_pictures() { return read_cifar10(WEIR_SOURCE_DIR "/tests/data/cifar10", Cifar10Part::Test); }

std::vector<float> floats(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }
std::vector<int64_t> ints(const Tensor& tensor) {
  return {tensor.data<int64_t>().begin(), tensor.data<int64_t>().end()};
}

// Nothing but the given size is distorted.
Distortions only_cut(int64_t height, int64_t width) {
  return {.height = height,
          .width = width,
          .flip = false,
          .max_brightness = 0,
          .lower_contrast = 1,
          .upper_contrast = 1,
          .whiten = false};
}

TEST(CentralBatch, IsWhitenedAsTensorFlowDoes) {
  const Batches::Batch batch = central_batch(test_pictures(), 0, 3);
  ASSERT_EQ(batch.images.shape(), (Shape{3, 24, 24, 3}));
  EXPECT_EQ(ints(batch.labels), (std::vector<int64_t>{2, 1, 0}));
  // tf.image.per_image_standardization of tf.image.resize_with_crop_or_pad.
  const float first[] = {1.460256f, 0.8786338f, 0.6643519f}, last[] = {0.6337402f, 0.2051763f, 0.1745646f};
  const auto values = batch.images.data<float>();
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(values[c], first[c], 2e-6);
    EXPECT_NEAR(values[24 * 24 * 3 - 3 + c], last[c], 2e-6);
  }
}

TEST(CentralBatch, APictureOfOneColourStaysFinite) {
  Pictures grey{Tensor::zeros(uint8, {1, 4, 4, 3}), Tensor::zeros(int64, {1})};
  std::fill_n(grey.images.mutable_data<uint8_t>(), 48, uint8_t{77});
  for (float value : floats(central_batch(grey, 0, 1, 2, 2).images)) EXPECT_NEAR(value, 0, 1e-4);
}

TEST(CentralBatch, RefusesRowsThatAreNotThere) {
  const Pictures pictures = test_pictures();
  EXPECT_EQ(central_batch(pictures, 20, 0).images.shape(), (Shape{0, 24, 24, 3}));
  for (auto [begin, count] : {std::pair<int64_t, int64_t>{20, 1}, {-1, 1}, {0, -1}, {0, 21}, {5, INT64_MAX}}) {
    expect_error([&, b = begin, n = count] { central_batch(pictures, b, n); }, Code::InvalidArgument, "only 20 in all");
  }
  expect_error([&] { central_batch(pictures, 0, 1, 33, 24); }, Code::InvalidArgument, "33 x 24");
}

TEST(DistortedBatches, WithoutDistortionsGiveThePicturesThemselves) {
  const Pictures pictures = test_pictures();
  DistortedBatches batches(pictures, {.batch_size = 20, .distortions = only_cut(32, 32)});
  const Batches::Batch batch = batches.next();
  std::multiset<std::vector<float>> expected, got;
  const auto bytes = pictures.images.data<uint8_t>();
  const std::vector<float> values = floats(batch.images);
  for (size_t i = 0; i < 20; ++i) {
    expected.emplace(bytes.begin() + static_cast<int64_t>(i * 3072),
                     bytes.begin() + static_cast<int64_t>(i + 1) * 3072);
    got.emplace(values.begin() + static_cast<int64_t>(i * 3072), values.begin() + static_cast<int64_t>(i + 1) * 3072);
  }
  EXPECT_EQ(got, expected);
}

// One picture of 4 x 5 pixels, whose values tell where they are: 60 y + 12 x + 4 c.
Pictures one_picture() {
  Pictures p{Tensor(uint8, {1, 4, 5, 3}), Tensor::from<int64_t>({7}, {1})};
  for (int i = 0; i < 60; ++i) p.images.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(4 * i);
  return p;
}

TEST(DistortedBatches, CutsAndFlipsComeInEveryKindEquallyOften) {
  Distortions distortions = only_cut(2, 3);
  distortions.flip = true;
  DistortedBatches batches(one_picture(), {.batch_size = 3600, .distortions = distortions});
  const std::vector<float> values = floats(batches.next().images);
  std::map<std::pair<float, bool>, int> counts;  // place of the cut's left upper corner, flipped
  for (size_t at = 0; at < values.size(); at += 18) {
    const bool flipped = values[at + 3] < values[at];
    const float corner = values[flipped ? at + 6 : at];
    ++counts[{corner, flipped}];
    for (size_t y = 0; y < 2; ++y) {
      for (size_t x = 0; x < 3; ++x) {
        for (size_t c = 0; c < 3; ++c) {
          ASSERT_EQ(values[at + 9 * y + 3 * x + c],
                    corner + static_cast<float>(60 * y + 12 * (flipped ? 2 - x : x) + 4 * c));
        }
      }
    }
  }
  EXPECT_EQ(counts.size(), 3u * 3u * 2u);
  for (const auto& [kind, count] : counts) EXPECT_NEAR(count, 200, 70);
}

TEST(DistortedBatches, BrightnessAddsOneNumberToAPicture) {
  Distortions distortions = only_cut(4, 5);
  distortions.max_brightness = 63;
  DistortedBatches batches(one_picture(), {.batch_size = 1000, .distortions = distortions});
  const std::vector<float> values = floats(batches.next().images);
  float least = 0, most = 0;
  for (size_t at = 0; at < values.size(); at += 60) {
    least = std::min(least, values[at]);
    most = std::max(most, values[at]);
    for (size_t i = 0; i < 60; ++i) ASSERT_NEAR(values[at + i] - values[at], 4 * i, 1e-3);
  }
  EXPECT_TRUE(-63 <= least && least < -60 && 60 < most && most < 63) << least << " " << most;
}

TEST(DistortedBatches, ContrastScalesDifferencesFromTheChannelsMeans) {
  Distortions distortions = only_cut(4, 5);
  distortions.lower_contrast = distortions.upper_contrast = 0.5f;
  DistortedBatches batches(one_picture(), {.batch_size = 1, .distortions = distortions});
  const std::vector<float> values = floats(batches.next().images);
  for (size_t i = 0; i < 60; ++i) {
    const double mean = 114 + 4 * static_cast<double>(i % 3);
    EXPECT_NEAR(values[i], (4 * static_cast<double>(i) - mean) * 0.5 + mean, 1e-4);
  }
}

TEST(DistortedBatches, WhitenedPicturesHaveMeanZeroAndDeviationOne) {
  DistortedBatches batches(test_pictures(), {.batch_size = 200});
  const std::vector<float> values = floats(batches.next().images);
  for (size_t at = 0; at < values.size(); at += 1728) {
    double sum = 0, squares = 0;
    for (size_t i = at; i < at + 1728; ++i) {
      sum += values[i];
      squares += values[i] * values[i];
    }
    EXPECT_NEAR(sum / 1728, 0, 1e-5);
    EXPECT_NEAR(squares / 1728, 1, 1e-5);
  }
}

TEST(DistortedBatches, WhiteningAfterContrastIsTensorFlows) {
  // The first test picture's middle: adjust_contrast(0.5), then per_image_standardization.
  Pictures middle{Tensor(uint8, {1, 24, 24, 3}), Tensor::zeros(int64, {1})};
  const Pictures pictures = test_pictures();
  for (int64_t y = 0; y < 24; ++y) {
    std::copy_n(pictures.images.data<uint8_t>().data() + ((y + 4) * 32 + 4) * 3, 72,
                middle.images.mutable_data<uint8_t>() + y * 72);
  }
  DistortedBatches batches(
      middle, {.batch_size = 1, .distortions = {.flip = false, .lower_contrast = 0.5f, .upper_contrast = 0.5f}});
  const std::vector<float> values = floats(batches.next().images);
  const float last[] = {1.51887f, 0.8575627f, 0.3902265f};  // of the flipped picture: the end of the first row
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(values[23 * 3 + c], last[c], 1e-5);
}

TEST(DistortedBatches, EveryPassHoldsEachPictureOnceInANewOrder) {
  Pictures pictures{Tensor::zeros(uint8, {10, 1, 1, 3}), Tensor(int64, {10})};
  for (int i = 0; i < 10; ++i) pictures.labels.mutable_data<int64_t>()[i] = i;
  DistortedBatches batches(pictures, {.batch_size = 4, .distortions = only_cut(1, 1)});
  std::vector<int64_t> labels;
  for (int i = 0; i < 10; ++i) {
    for (int64_t label : ints(batches.next().labels)) labels.push_back(label);
  }
  std::set<std::vector<int64_t>> orders;
  for (auto at = labels.begin(); at != labels.end(); at += 10) {
    EXPECT_EQ(std::set<int64_t>(at, at + 10).size(), 10u);
    orders.emplace(at, at + 10);
  }
  EXPECT_EQ(orders.size(), 4u);
}

TEST(DistortedBatches, TheSeedAloneFixesThem) {
  const Pictures pictures = test_pictures();
  auto run = [&](const DistortedBatchesOptions& options, int count) {
    DistortedBatches batches(pictures, options);
    std::vector<std::pair<std::vector<float>, std::vector<int64_t>>> all;
    for (int i = 0; i < count; ++i) {
      const Batches::Batch batch = batches.next();
      all.emplace_back(floats(batch.images), ints(batch.labels));
    }
    return all;
  };
  const auto expected = run({.batch_size = 7, .seed = 3}, 12);
  EXPECT_EQ(run({.batch_size = 7, .seed = 3, .threads = 4, .prefetch = 3}, 12), expected);
  EXPECT_EQ(run({.batch_size = 7, .seed = 3, .threads = 3, .prefetch = 1}, 12), expected);
  EXPECT_NE(run({.batch_size = 7, .seed = 4}, 12), expected);
  const std::vector late(expected.begin() + 9, expected.end());
  EXPECT_EQ(run({.batch_size = 7, .seed = 3, .first_batch = 9}, 3), late);
}

TEST(DistortedBatches, SeveralThreadsMayTakeThem) {
  DistortedBatches batches(test_pictures(), {.batch_size = 10, .threads = 2, .prefetch = 2});
  std::vector<std::thread> takers;
  std::vector<std::map<int64_t, int>> counts(3);
  for (auto& count : counts) {
    takers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        for (int64_t label : ints(batches.next().labels)) ++count[label];
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  std::map<int64_t, int> sum;
  for (const auto& count : counts) {
    for (auto [label, n] : count) sum[label] += n;
  }
  EXPECT_EQ(sum[2], 30 * 3);  // three of the twenty pictures are birds; 600 were taken
}

TEST(DistortedBatches, EndWhileBatchesAreMadeOrWait) {
  for (int i = 0; i < 50; ++i) {
    DistortedBatches batches(test_pictures(), {.batch_size = 64, .threads = 3, .prefetch = 2});
    if (i % 2) batches.next();
  }
}

TEST(DistortedBatches, RefuseWhatCannotBe) {
  const Pictures good = test_pictures();
  auto refuse = [](const Pictures& p, const DistortedBatchesOptions& options, const std::string& text) {
    expect_error([&] { DistortedBatches(p, options); }, Code::InvalidArgument, text);
  };
  refuse(good, {.batch_size = 0}, "batches of 0");
  refuse(good, {.first_batch = -1}, "from number -1");
  refuse(good, {.first_batch = INT64_MAX / 4}, "not possible");
  refuse(good, {.threads = 0}, "0 threads");
  refuse(good, {.threads = 257}, "257 threads");
  refuse(good, {.prefetch = 0}, "0 ahead");
  refuse(good, {.prefetch = 4097}, "4097 ahead");
  refuse(good, {.distortions = {.height = 33}}, "33 x 24");
  refuse(good, {.distortions = {.width = 0}}, "24 x 0");
  refuse(good, {.distortions = {.max_brightness = -1}}, "brightness");
  refuse(good, {.distortions = {.lower_contrast = 2}}, "contrast");
  refuse(good, {.distortions = {.upper_contrast = std::numeric_limits<float>::quiet_NaN()}}, "contrast");
  refuse({good.images, Tensor::zeros(int64, {19})}, {}, "int64 [19]");
  refuse({Tensor::zeros(float32, {20, 32, 32, 3}), good.labels}, {}, "got float");
  refuse({Tensor::zeros(uint8, {0, 32, 32, 3}), Tensor::zeros(int64, {0})}, {}, "[0,32,32,3]");
}

}  // namespace
}  // namespace weir::data
