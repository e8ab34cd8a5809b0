#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "data/mnist.h"
#include "weir/error.h"

namespace weir::data {
namespace {

// A file of the given contents in a folder that goes with the test.
class IdxFile : public testing::Test {
 protected:
  IdxFile() : path_(testing::TempDir() + "weir_idx_" + std::to_string(getpid())) {}
  ~IdxFile() override { std::filesystem::remove(path_); }

  void write(const std::string& contents) { std::ofstream(path_, std::ios::binary) << contents; }

  void write_gzipped(const std::string& contents) {
    gzFile file = gzopen(path_.c_str(), "wb");
    gzwrite(file, contents.data(), static_cast<unsigned>(contents.size()));
    gzclose(file);
  }

  Code code_of_reading() {
    try {
      read_idx(path_);
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(path_), std::string::npos) << error.message();
      return error.code();
    }
    return Code::Ok;
  }

  std::string path_;
};

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (int value : values) result.push_back(static_cast<char>(value));
  return result;
}

const std::string kMatrix = bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});

TEST(Mnist, ShippedFilesAreWholeAndNormalised) {
  const Mnist mnist = read_mnist(WEIR_SOURCE_DIR "/data/mnist");
  EXPECT_EQ(mnist.train.images.shape(), (Shape{60000, 784}));
  EXPECT_EQ(mnist.test.images.shape(), (Shape{10000, 784}));
  EXPECT_EQ(mnist.train.labels.shape(), (Shape{60000}));
  EXPECT_EQ(mnist.test.labels.shape(), (Shape{10000}));
  const auto labels = mnist.test.labels.data<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(labels.begin(), labels.begin() + 5), (std::vector<int64_t>{7, 2, 1, 0, 4}));
  const auto pixels = mnist.train.images.data<float>();
  double sum = 0;
  for (float pixel : pixels) {
    ASSERT_TRUE(pixel >= 0 && pixel <= 1);
    sum += pixel;
  }
  EXPECT_NEAR(sum / static_cast<double>(pixels.size()), 0.1307, 1e-4);  // the data set's known mean
}

TEST(Mnist, NamesTheMissingFile) {
  try {
    read_mnist("/nowhere");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::NotFound);
    EXPECT_NE(error.message().find("/nowhere/train-images-idx3-ubyte.gz"), std::string::npos);
  }
}

TEST_F(IdxFile, IsReadGzippedAndPlain) {
  for (bool gzipped : {false, true}) {
    gzipped ? write_gzipped(kMatrix) : write(kMatrix);
    const Tensor matrix = read_idx(path_);
    EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
    EXPECT_EQ(matrix.data<uint8_t>()[5], 255);
  }
}

TEST_F(IdxFile, CutShortAnywhereIsDataLoss) {
  for (size_t length = 0; length < kMatrix.size(); ++length) {
    write(kMatrix.substr(0, length));
    EXPECT_EQ(code_of_reading(), Code::DataLoss) << length;
  }
  write_gzipped(kMatrix);
  std::ifstream file(path_, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (size_t length = 0; length < packed.size(); ++length) {
    write(packed.substr(0, length));
    EXPECT_EQ(code_of_reading(), Code::DataLoss) << length;
  }
}

TEST_F(IdxFile, FlippedBitIsDataLoss) {
  write_gzipped(kMatrix);
  std::ifstream file(path_, std::ios::binary);
  std::string packed((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  packed[packed.size() - 6] ^= 1;  // in the checksum
  write(packed);
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
}

TEST_F(IdxFile, HeaderThatLiesIsDataLoss) {
  write(kMatrix + "x");  // one byte too many
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
  write(bytes({0, 0, 9, 1, 0, 0, 0, 1, 1}));  // another element type
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
  write(bytes({1, 0, 8, 1, 0, 0, 0, 1, 1}));  // no idx file
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
  const std::string huge = bytes({255, 255, 255, 255});
  write(bytes({0, 0, 8, 3}) + huge + huge + huge + "x");  // more elements than 64 bits count
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
  write(bytes({0, 0, 8, 3}) + huge + huge + bytes({0, 0, 0, 0}) + "x");  // none, but a byte follows
  EXPECT_EQ(code_of_reading(), Code::DataLoss);
}

}  // namespace
}  // namespace weir::data
