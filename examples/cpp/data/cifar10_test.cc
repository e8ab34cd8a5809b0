#include "data/cifar10.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "tests/support/check_op.h"
#include "weir/error.h"
#include "weir/records.h"

namespace weir::data {
namespace {

using testing::expect_error;

const std::string kData = WEIR_SOURCE_DIR "/tests/data/cifar10";

uint32_t checksum(const Pictures& pictures, int64_t row) {
  return static_cast<uint32_t>(crc32(0, pictures.images.data<uint8_t>().data() + row * 3072, 3072));
}

TEST(ReadCifar10, GivesTensorFlowsPixelsAndTheLabels) {
  const Pictures test = read_cifar10(kData, Cifar10Part::Test);
  ASSERT_EQ(test.images.shape(), (Shape{20, 32, 32, 3}));
  ASSERT_EQ(test.labels.shape(), (Shape{20}));
  EXPECT_EQ(checksum(test, 0), 2111305568u);
  EXPECT_EQ(checksum(test, 7), 523602873u);
  EXPECT_EQ(checksum(test, 19), 2183821940u);
  const auto labels = test.labels.data<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(labels.begin(), labels.end()),
            (std::vector<int64_t>{2, 1, 0, 8, 0, 4, 5, 6, 9, 7, 2, 4, 9, 4, 1, 2, 0, 8, 9, 5}));
  const Pictures train = read_cifar10(kData, Cifar10Part::Train);
  ASSERT_EQ(train.images.shape(), (Shape{40, 32, 32, 3}));
  EXPECT_EQ(checksum(train, 39), 3036622710u);
}

TEST(ReadCifar10, GivesTheSameForAnyNumberOfThreads) {
  const Pictures one = read_cifar10(kData, Cifar10Part::Train, 1), three = read_cifar10(kData, Cifar10Part::Train, 3);
  EXPECT_TRUE(std::ranges::equal(one.images.data<uint8_t>(), three.images.data<uint8_t>()));
  EXPECT_TRUE(std::ranges::equal(one.labels.data<int64_t>(), three.labels.data<int64_t>()));
}

// Folders whose test.tfrecord holds a good record and then one that is changed.
class BadCifar10 : public ::testing::Test {
 protected:
  BadCifar10() : folder_(::testing::TempDir() + "weir_cifar10_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    RecordReader reader(kData + "/test.tfrecord");
    reader.next(record_);
  }
  ~BadCifar10() override { std::filesystem::remove_all(folder_); }

  void write(const std::function<void(Example&)>& change) {
    Example example = Example::parse(record_);
    change(example);
    write_records({record_, example.serialize()});
  }
  void write_records(const std::vector<std::string>& records) {
    RecordWriter writer(folder_ + "/test.tfrecord");
    for (const std::string& record : records) writer.write(record);
    writer.close();
  }
  void expect(Code code, const std::string& text) {
    expect_error([&] { read_cifar10(folder_, Cifar10Part::Test); }, code, text);
  }

  std::string folder_, record_;
};

TEST_F(BadCifar10, AMissingFileIsNamedWithWhatIsExpected) {
  expect(Code::NotFound, folder_ + "/test.tfrecord");
  expect(Code::NotFound, "train.tfrecord and test.tfrecord");
  expect(Code::NotFound, "image/encoded");
}

TEST_F(BadCifar10, WrongFeaturesAreRefusedWithTheRecordsNumber) {
  write([](Example& e) { e.set_ints("image/class/label", {10}); });
  expect(Code::InvalidArgument, "record 1: label 10 is outside [0, 10)");
  write([](Example& e) { e.set_ints("image/class/label", {}); });
  expect(Code::InvalidArgument, "one picture and one label, got 1 and 0");
  write([](Example& e) { e.set_floats("image/class/label", {1}); });
  expect(Code::InvalidArgument, "is floats, not ints");
  write([](Example& e) { e = Example().set_ints("image/class/label", {1}); });
  expect(Code::InvalidArgument, "no feature 'image/encoded'");
  write([](Example& e) { e.set_bytes("image/encoded", "a picture"); });
  expect(Code::InvalidArgument, "no JPEG file");
}

TEST_F(BadCifar10, DamagedFilesAreDataLoss) {
  write([](Example& e) {
    const std::string jpeg = e.bytes("image/encoded")[0];
    e.set_bytes("image/encoded", jpeg.substr(0, jpeg.size() / 2));
  });
  expect(Code::DataLoss, "record 1: the JPEG file");
  write_records({"no example"});
  expect(Code::DataLoss, "record 0");
  write_records({record_});
  std::filesystem::resize_file(folder_ + "/test.tfrecord", 100);
  expect(Code::DataLoss, "test.tfrecord");
  write_records({});
  expect(Code::InvalidArgument, "holds no records");
}

}  // namespace
}  // namespace weir::data
