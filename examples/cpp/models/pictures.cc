#include "models/pictures.h"

#include <algorithm>
#include <fstream>

#include "weir/error.h"

namespace weir::examples {

void write_digits(const std::string& path, const Tensor& pictures) {
  constexpr int kSide = 28, kRow = 4 * kSide;
  if (pictures.elements() < 16 * kSide * kSide) {
    throw Error(Code::InvalidArgument, "sixteen pictures of 28 by 28 are needed, not " + pictures.shape().str());
  }
  std::string page(static_cast<size_t>(kRow * kRow), '\0');
  for (int i = 0; i < kRow * kRow; ++i) {
    const int y = i / kRow, x = i % kRow, picture = y / kSide * 4 + x / kSide;
    const float value = pictures.data<float>()[static_cast<size_t>((picture * kSide + y % kSide) * kSide + x % kSide)];
    page[static_cast<size_t>(i)] = static_cast<char>(static_cast<unsigned char>(std::clamp(value, 0.f, 1.f) * 255));
  }
  std::ofstream file(path, std::ios::binary);
  file << "P5 " << kRow << " " << kRow << " 255\n" << page;
  if (!file.flush()) throw Error(Code::NotFound, path + ": cannot be written");
}

}  // namespace weir::examples
