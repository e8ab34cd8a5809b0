#include "data/cifar10.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "tests/support/check_op.h"
#include "weir/error.h"
#include "weir/records.h"
#include "weir/session.h"

namespace weir::data {
namespace {

using testing::expect_error;

const std::string kData = WEIR_SOURCE_DIR "/tests/data/cifar10";

struct Pictures {
  std::vector<Tensor> images, labels;
};

// Of the first `count` elements, or of all.
Pictures take(const std::function<Dataset(Graph&)>& make, int count = 1000) {
  Graph g;
  auto [image, label] = make(g).one_shot_iterator().get_next<2>();
  Session session(g);
  Pictures pictures;
  try {
    for (int i = 0; i < count; ++i) {
      auto [x, y] = session.run({image, label});
      pictures.images.push_back(x.copy());
      pictures.labels.push_back(y.copy());
    }
  } catch (const Error& e) {
    if (e.code() != Code::OutOfRange) throw;
  }
  return pictures;
}

Pictures read(const std::string& folder, Cifar10Part part) {
  return take([&](Graph& g) { return cifar10(g, folder, part); });
}

uint32_t checksum(const Tensor& picture) {
  return static_cast<uint32_t>(crc32(0, picture.data<uint8_t>().data(), 3072));
}

TEST(Cifar10, GivesTensorFlowsPixelsAndTheLabels) {
  const Pictures test = read(kData, Cifar10Part::Test);
  ASSERT_EQ(test.images.size(), 20u);
  EXPECT_EQ(test.images[0].shape(), (Shape{32, 32, 3}));
  EXPECT_EQ(checksum(test.images[0]), 2111305568u);
  EXPECT_EQ(checksum(test.images[7]), 523602873u);
  EXPECT_EQ(checksum(test.images[19]), 2183821940u);
  std::vector<int64_t> labels;
  for (const Tensor& label : test.labels) labels.push_back(label.scalar<int64_t>());
  EXPECT_EQ(labels, (std::vector<int64_t>{2, 1, 0, 8, 0, 4, 5, 6, 9, 7, 2, 4, 9, 4, 1, 2, 0, 8, 9, 5}));
  const Pictures train = read(kData, Cifar10Part::Train);
  ASSERT_EQ(train.images.size(), 40u);
  EXPECT_EQ(checksum(train.images[39]), 3036622710u);
}

TEST(Cifar10, DistortedBatchesFollowFromTheSeed) {
  auto batches = [](int64_t seed) {
    return take([=](Graph& g) { return distorted_cifar10(g, kData, {.batch_size = 8, .seed = seed}); }, 12);
  };
  const Pictures one = batches(3), again = batches(3), other = batches(4);
  ASSERT_EQ(one.images.size(), 12u) << "more than the files hold";
  EXPECT_EQ(one.images[0].shape(), (Shape{8, 24, 24, 3}));
  for (size_t i = 0; i < one.images.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(one.images[i].data<float>(), again.images[i].data<float>())) << i;
    EXPECT_FALSE(std::ranges::equal(one.images[i].data<float>(), other.images[i].data<float>())) << i;
  }
  double sum = 0, squares = 0;
  for (float x : one.images[0].data<float>()) sum += x, squares += x * x;
  EXPECT_NEAR(sum, 0, 1e-2);
  EXPECT_NEAR(squares / (8 * 24 * 24 * 3), 1, 1e-4);
}

TEST(Cifar10, CentralBatchesEndWithASmallerOne) {
  const Pictures batches = take([](Graph& g) { return central_cifar10(g, kData, Cifar10Part::Test, 12); });
  ASSERT_EQ(batches.images.size(), 2u);
  EXPECT_EQ(batches.images[1].shape(), (Shape{8, 24, 24, 3}));
  EXPECT_EQ(batches.labels[1].data<int64_t>()[7], 5);
}

// Folders with files that a test writes.
class Cifar10Files : public ::testing::Test {
 protected:
  Cifar10Files() : folder_(::testing::TempDir() + "weir_cifar10_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    RecordReader reader(kData + "/test.tfrecord");
    reader.next(record_);
  }
  ~Cifar10Files() override { std::filesystem::remove_all(folder_); }

  // A good record and one that is changed.
  void write(const std::function<void(Example&)>& change) {
    Example example = Example::parse(record_);
    change(example);
    RecordWriter writer(folder_ + "/test.tfrecord");
    writer.write(record_);
    writer.write(example.serialize());
  }
  void expect(Code code, const std::string& text) {
    expect_error([&] { read(folder_, Cifar10Part::Test); }, code, text);
  }

  std::string folder_, record_;
};

TEST_F(Cifar10Files, OfTheOriginalArchiveAreRead) {
  std::filesystem::create_directories(folder_ + "/cifar-10-batches-bin");
  for (int file = 1; file <= 5; ++file) {
    std::ofstream out(folder_ + "/cifar-10-batches-bin/data_batch_" + std::to_string(file) + ".bin", std::ios::binary);
    for (int picture = 0; picture < 2; ++picture) {
      out.put(static_cast<char>(file + picture));
      for (int plane = 0; plane < 3; ++plane) {
        for (int pixel = 0; pixel < 1024; ++pixel) out.put(static_cast<char>(100 * plane + pixel / 32 + pixel % 32));
      }
    }
  }
  const Pictures train = read(folder_, Cifar10Part::Train);
  ASSERT_EQ(train.images.size(), 10u);
  EXPECT_EQ(train.labels[3].scalar<int64_t>(), 3);
  const auto pixels = train.images[3].data<uint8_t>();
  EXPECT_EQ(pixels[(5 * 32 + 7) * 3], 12);
  EXPECT_EQ(pixels[(5 * 32 + 7) * 3 + 2], 212);
}

TEST_F(Cifar10Files, ThatAreMissingAreNamedWithWhatIsExpected) {
  expect(Code::NotFound, folder_ + "/test.tfrecord");
  expect(Code::NotFound, "test_batch.bin");
  expect(Code::NotFound, "image/encoded");
}

TEST_F(Cifar10Files, WithOtherFeaturesOrDamageFailTheRun) {
  write([](Example& e) { e.set_ints("image/class/label", {}); });
  expect(Code::InvalidArgument, "image/class/label");
  write([](Example& e) { e = Example().set_ints("image/class/label", {1}); });
  expect(Code::InvalidArgument, "image/encoded");
  write([](Example& e) { e.set_bytes("image/encoded", "a picture"); });
  expect(Code::InvalidArgument, "JPEG");
  write([](Example&) {});
  std::filesystem::resize_file(folder_ + "/test.tfrecord", 100);
  expect(Code::DataLoss, "test.tfrecord");
}

}  // namespace
}  // namespace weir::data
