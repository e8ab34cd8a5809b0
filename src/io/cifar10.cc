#include "weir/cifar10.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "base/thread_pool.h"
#include "io/jpeg.h"
#include "weir/records.h"

namespace weir::data {
namespace {

constexpr int64_t kSize = 32, kClasses = 10;
constexpr size_t kPictureBytes = kSize * kSize * 3;

std::vector<std::string> read_records(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw not_found(
        "there is no file '{}'. CIFAR-10 is read from train.tfrecord and test.tfrecord: record files of Examples with "
        "image/encoded (JPEG, 32 x 32 pixels) and image/class/label (0 to 9)",
        path);
  }
  RecordReader reader(path);
  std::vector<std::string> records;
  for (std::string record; reader.next(record);) records.push_back(std::move(record));
  if (records.empty()) throw invalid_argument("'{}' holds no records", path);
  return records;
}

// The picture into `rgb`; gives the label.
int64_t read_picture(const std::string& record, std::span<uint8_t> rgb) {
  const Example example = Example::parse(record);
  const Example::Bytes& encoded = example.bytes("image/encoded");
  const Example::Ints& label = example.ints("image/class/label");
  if (encoded.size() != 1 || label.size() != 1) {
    throw invalid_argument("expected one picture and one label, got {} and {}", encoded.size(), label.size());
  }
  if (label[0] < 0 || label[0] >= kClasses) throw invalid_argument("label {} is outside [0, {})", label[0], kClasses);
  decode_jpeg(encoded[0], {kSize, kSize}, rgb);
  return label[0];
}

}  // namespace

Pictures read_cifar10(const std::string& directory, Cifar10Part part, int threads) {
  const std::string path = directory + (part == Cifar10Part::Train ? "/train.tfrecord" : "/test.tfrecord");
  const std::vector<std::string> records = read_records(path);
  const auto count = static_cast<int64_t>(records.size());
  Pictures pictures{Tensor(DType::UInt8, {count, kSize, kSize, 3}), Tensor(DType::Int64, {count})};
  uint8_t* images = pictures.images.mutable_data<uint8_t>();
  int64_t* labels = pictures.labels.mutable_data<int64_t>();
  ThreadPool pool(threads > 0 ? std::min(threads, 256) : static_cast<int>(std::thread::hardware_concurrency()));
  pool.parallel_for(count, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      try {
        labels[i] = read_picture(records[static_cast<size_t>(i)],
                                 {images + static_cast<size_t>(i) * kPictureBytes, kPictureBytes});
      } catch (const Error& e) {
        // A feature that is not there is a wrong file, not a missing one.
        throw error(e.code() == Code::NotFound ? Code::InvalidArgument : e.code(), "'{}', record {}: {}", path, i,
                    e.message());
      }
    }
  });
  return pictures;
}

}  // namespace weir::data
