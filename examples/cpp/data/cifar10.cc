#include "data/cifar10.h"

#include <weir/weir.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "data/failure.h"

namespace weir::data {
namespace {

constexpr int64_t kSize = 32, kCropped = 24, kBinaryRecord = 1 + 3 * kSize * kSize;

using Picture = std::pair<Output, Output>;  // and its label

Picture from_example(const Output& record) {
  ParsedFeatures example = parse_single_example(
      record, {{"image/encoded", FixedLenFeature{{}, string}}, {"image/class/label", FixedLenFeature{{}, int64}}});
  Output picture = image::decode_jpeg(example["image/encoded"], {.channels = 3, .dct_method = "INTEGER_ACCURATE"});
  return {ensure_shape(picture, {kSize, kSize, 3}), example["image/class/label"]};
}

// A byte of label, then the red, green and blue pixels, row by row.
Picture from_binary(const Output& record) {
  Output bytes = decode_raw(record, uint8);
  Output planes = reshape(slice(bytes, {1}, {kBinaryRecord - 1}), {3, kSize, kSize});
  return {transpose(planes, {1, 2, 0}), cast(reshape(slice(bytes, {0}, {1}), Shape{}), int64)};
}

std::vector<std::string> binary_files(const std::filesystem::path& folder, Cifar10Part part) {
  if (part == Cifar10Part::Test) return {folder / "test_batch.bin"};
  std::vector<std::string> files;
  for (char number = '1'; number <= '5'; ++number)
    files.push_back(folder / (std::string("data_batch_") + number + ".bin"));
  return files;
}

Picture distort(const Output& picture, const Output& label, int64_t seed) {
  seed *= 4;  // a seed for each: with one for all the same numbers would decide where, whether and how much
  Output x = image::random_crop(cast(picture, float32), {kCropped, kCropped, int64_t{3}}, {.seed = seed});
  x = image::random_flip_left_right(x, {.seed = seed + 1});
  x = image::random_brightness(x, 63, {.seed = seed + 2});
  x = image::random_contrast(x, 0.2f, 1.8f, {.seed = seed + 3});
  return {image::per_image_standardization(ensure_shape(x, {kCropped, kCropped, 3})), label};
}

Picture central(const Output& picture, const Output& label) {
  Output x = image::resize_with_crop_or_pad(cast(picture, float32), kCropped, kCropped);
  return {image::per_image_standardization(x), label};
}

}  // namespace

Dataset cifar10(Graph& g, const std::string& folder, Cifar10Part part) {
  namespace fs = std::filesystem;
  const fs::path records = fs::path(folder) / (part == Cifar10Part::Train ? "train.tfrecord" : "test.tfrecord");
  if (fs::exists(records)) return tf_records(g, records.string()).map(from_example, {.num_parallel_calls = -1});
  for (const fs::path& place : {fs::path(folder), fs::path(folder) / "cifar-10-batches-bin"}) {
    const std::vector<std::string> files = binary_files(place, part);
    if (fs::exists(files[0])) return fixed_length_records(g, Tensor(files), kBinaryRecord).map(from_binary);
  }
  throw failure(
      Code::NotFound,
      "'{}' is not there, nor '{}': CIFAR-10 is a folder with train.tfrecord and test.tfrecord, files of Examples "
      "with the features image/encoded (a JPEG file of 32 x 32 pixels) and image/class/label (0 to 9), or with "
      "the original archive, cifar-10-binary.tar.gz, unpacked",
      records.string(), binary_files(folder, part)[0]);
}

Dataset distorted_cifar10(Graph& g, const std::string& folder, const DistortedOptions& options) {
  constexpr int64_t kShuffled = 20000;
  return cifar10(g, folder, Cifar10Part::Train)
      .cache()
      .shuffle(kShuffled, {.seed = options.seed})
      .repeat()
      .map([&](const Output& picture, const Output& label) { return distort(picture, label, options.seed); })
      .batch(options.batch_size, {.drop_remainder = true})
      .prefetch(options.prefetch);
}

Dataset central_cifar10(Graph& g, const std::string& folder, Cifar10Part part, int64_t batch_size) {
  return cifar10(g, folder, part).map(central).batch(batch_size).prefetch(2);
}

}  // namespace weir::data
