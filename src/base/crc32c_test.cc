#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

std::string counting(int first, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(first + i * step);
  return bytes;
}

// RFC 3720, B.4, and the check value of the catalogue of checksums.
TEST(Crc32c, GivesThePublishedValues) {
  for (auto* crc : {crc32c, crc32c_portable}) {
    EXPECT_EQ(crc("", 0), 0u);
    EXPECT_EQ(crc("123456789", 0), 0xe3069283u);
    EXPECT_EQ(crc(std::string(32, '\0'), 0), 0x8a9136aau);
    EXPECT_EQ(crc(std::string(32, '\xff'), 0), 0x62a8ab43u);
    EXPECT_EQ(crc(counting(0, 1), 0), 0x46dd794eu);
    EXPECT_EQ(crc(counting(31, -1), 0), 0x113fdb5cu);
  }
}

TEST(Crc32c, AgreesWithThePortableBuildAtEveryLengthAndAlignment) {
  std::string bytes;
  for (unsigned i = 0; i < 200; ++i) bytes += static_cast<char>(i * 2654435761u >> 13);
  std::string_view view = bytes;
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; begin + size <= view.size(); ++size) {
      std::string_view part = view.substr(begin, size);
      EXPECT_EQ(crc32c(part, 7), crc32c_portable(part, 7)) << begin << " " << size;
    }
  }
}

TEST(Crc32c, AgreesWithThePortableBuildOnLongRuns) {
  std::string bytes;
  for (unsigned i = 0; i < 10000; ++i) bytes += static_cast<char>(i * 2654435761u >> 13);
  std::string_view view = bytes;
  for (size_t size : {3071u, 3072u, 3073u, 6144u, 9999u}) {
    EXPECT_EQ(crc32c(view.substr(1, size), 7), crc32c_portable(view.substr(1, size), 7)) << size;
  }
}

TEST(Crc32c, ExtendsTheChecksumOfEarlierBytes) {
  std::string_view text = "the checksum of a whole is that of its parts";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text));
  }
}

TEST(Crc32c, MaskingIsUndone) {
  uint32_t crc = crc32c("foo");
  EXPECT_NE(mask_crc(crc), crc);
  EXPECT_NE(mask_crc(mask_crc(crc)), crc);
  EXPECT_EQ(unmask_crc(mask_crc(crc)), crc);
  EXPECT_EQ(unmask_crc(unmask_crc(mask_crc(mask_crc(crc)))), crc);
}

}  // namespace
}  // namespace weir
