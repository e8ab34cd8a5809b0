#include "data/cifar10.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "data/failure.h"
#include "weir/image_codecs.h"
#include "weir/records.h"

namespace weir::data {
namespace {

constexpr int64_t kSize = 32, kClasses = 10;
constexpr size_t kPictureBytes = kSize * kSize * 3;

std::vector<std::string> read_records(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw failure(
        Code::NotFound,
        "there is no file '{}'. CIFAR-10 is read from train.tfrecord and test.tfrecord: record files of Examples with "
        "image/encoded (JPEG, 32 x 32 pixels) and image/class/label (0 to 9)",
        path);
  }
  RecordReader reader(path);
  std::vector<std::string> records;
  for (std::string record; reader.next(record);) records.push_back(std::move(record));
  if (records.empty()) throw failure(Code::InvalidArgument, "'{}' holds no records", path);
  return records;
}

// The picture into `rgb`; gives the label.
int64_t read_picture(const std::string& record, std::span<uint8_t> rgb) {
  const Example example = Example::parse(record);
  const Example::Bytes& encoded = example.bytes("image/encoded");
  const Example::Ints& label = example.ints("image/class/label");
  if (encoded.size() != 1 || label.size() != 1) {
    throw failure(Code::InvalidArgument, "expected one picture and one label, got {} and {}", encoded.size(),
                  label.size());
  }
  if (label[0] < 0 || label[0] >= kClasses)
    throw failure(Code::InvalidArgument, "label {} is outside [0, {})", label[0], kClasses);
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
  std::atomic<int64_t> next{0};
  std::exception_ptr failed;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        try {
          labels[i] = read_picture(records[static_cast<size_t>(i)],
                                   {images + static_cast<size_t>(i) * kPictureBytes, kPictureBytes});
        } catch (const Error& e) {
          // A feature that is not there is a wrong file, not a missing one.
          throw failure(e.code() == Code::NotFound ? Code::InvalidArgument : e.code(), "'{}', record {}: {}", path, i,
                        e.message());
        }
      }
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  {
    const int wanted = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
    std::vector<std::jthread> others;
    try {
      for (int i = 1; i < std::min(wanted, 256); ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // fewer threads do it too
    }
    work();
  }
  if (failed) std::rethrow_exception(failed);
  return pictures;
}

}  // namespace weir::data
