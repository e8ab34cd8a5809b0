#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "data/failure.h"
#include "data/mnist.h"

namespace weir::data {
namespace {

// The contents of a file, unpacked when it is gzipped.
std::string read_unpacked(const std::string& path) {
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) {
    throw failure(errno == ENOENT ? Code::NotFound : Code::Unknown, "cannot open '{}': {}", path, std::strerror(errno));
  }
  std::string contents;
  std::vector<char> chunk(1 << 18);
  int length = 0;
  while ((length = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    contents.append(chunk.data(), static_cast<size_t>(length));
  }
  int zlib_error = Z_OK;
  const std::string reason = gzerror(file, &zlib_error);
  const int status = gzclose_r(file);  // reports a stream that stopped before its end
  if (length < 0) throw failure(Code::DataLoss, "cannot read '{}': {}", path, reason);
  if (status != Z_OK) throw failure(Code::DataLoss, "'{}' is cut short", path);
  return contents;
}

uint32_t big_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Labelled read_labelled(const std::string& images_path, const std::string& labels_path) {
  const Tensor images = read_idx(images_path);
  const Tensor labels = read_idx(labels_path);
  if (images.shape().rank() != 3) {
    throw failure(Code::DataLoss, "'{}' has rank {}, not 3 (images, rows, columns)", images_path,
                  images.shape().rank());
  }
  if (labels.shape().rank() != 1 || labels.shape()[0] != images.shape()[0]) {
    throw failure(Code::DataLoss, "'{}' has shape {}, expected one label for each of the {} images", labels_path,
                  labels.shape().str(), images.shape()[0]);
  }
  const int64_t count = images.shape()[0];
  Labelled result{Tensor(DType::Float32, {count, images.shape()[1] * images.shape()[2]}),
                  Tensor(DType::Int64, {count})};
  std::ranges::transform(images.data<uint8_t>(), result.images.mutable_data<float>(),
                         [](uint8_t pixel) { return static_cast<float>(pixel) * (1.0f / 255.0f); });
  std::ranges::copy(labels.data<uint8_t>(), result.labels.mutable_data<int64_t>());
  return result;
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const std::string contents = read_unpacked(path);
  // Two zero bytes, the element type (8: unsigned byte), the rank, then the sizes.
  if (contents.size() < 4 || contents[0] != 0 || contents[1] != 0 || contents[2] != 8) {
    throw failure(Code::DataLoss, "'{}' is no idx file of bytes: its first bytes are not 00 00 08", path);
  }
  const int rank = static_cast<unsigned char>(contents[3]);
  const size_t header = 4 + 4 * static_cast<size_t>(rank);
  if (contents.size() < header) throw failure(Code::DataLoss, "'{}' is cut short in its header", path);
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.append(big_endian(contents.data() + 4 + 4 * i));
  // A damaged header may announce more elements than fit into 64 bits: compared before any size is computed.
  size_t left = contents.size() - header;
  const bool empty = std::ranges::count(shape.dims(), 0) > 0;
  for (int64_t size : shape.dims()) {
    if (empty) break;
    if (left % static_cast<size_t>(size) != 0) left = 0;
    left /= static_cast<size_t>(size);
  }
  if (empty ? left != 0 : left != 1) {
    throw failure(Code::DataLoss, "'{}' holds {} elements, but its header says {}", path, contents.size() - header,
                  shape.str());
  }
  Tensor result(DType::UInt8, shape);
  std::memcpy(result.mutable_raw(), contents.data() + header, contents.size() - header);
  return result;
}

Mnist read_mnist(const std::string& directory) {
  const auto path = [&](const char* name) { return fmt::format("{}/{}-ubyte.gz", directory, name); };
  return {.train = read_labelled(path("train-images-idx3"), path("train-labels-idx1")),
          .test = read_labelled(path("t10k-images-idx3"), path("t10k-labels-idx1"))};
}

}  // namespace weir::data
