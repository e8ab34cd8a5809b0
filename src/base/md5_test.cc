#include "base/md5.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

std::string hex(std::string_view data) {
  std::string text;
  for (uint8_t byte : md5(data)) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(Md5, HasTheDigestsOfTheRfc) {
  EXPECT_EQ(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
}  // namespace weir
