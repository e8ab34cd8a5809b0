#include "io/lmdb.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "io/file.h"
#include "tests/support/check_op.h"

namespace weir::io {
namespace {

const std::string kFile = WEIR_SOURCE_DIR "/tests/data/records/small.mdb";  // that the library itself wrote

std::string all(const std::string& path) {
  LmdbReader reader(path);
  std::string key, value, pairs;
  while (reader.next(key, value)) pairs += key + "=" + value + " ";
  return pairs;
}

TEST(Lmdb, GivesPairsInTheOrderOfTheirKeys) { EXPECT_EQ(all(kFile), "0=a 1=b 2=c 3=d 4=e 5=f 6=g 7=h 8=i 9=j "); }

// Whatever is wrong with a file, reading it ends, with an error or with some pairs.
TEST(Lmdb, SurvivesDamagedFiles) {
  const std::string whole = read_file(kFile);
  std::string pattern = (std::filesystem::temp_directory_path() / "weir_lmdb_XXXXXX").string();
  const std::string directory = ::mkdtemp(pattern.data()), path = directory + "/data.mdb";
  std::mt19937 random(1);
  auto read = [&](const std::string& bytes) {
    write_file(path, bytes);
    try {
      all(directory);  // a folder works as well
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::DataLoss || e.code() == Code::Unimplemented) << e.what();
    }
  };
  for (size_t length :
       {size_t{0}, size_t{10}, size_t{151}, size_t{152}, size_t{4096}, size_t{5000}, size_t{8192}, size_t{12287}}) {
    read(whole.substr(0, length));
  }
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    // Half of the time where it matters: in the descriptions and the headers of pages and entries.
    const size_t places[] = {random() % bytes.size(), (random() % 3) * 4096 + random() % 160};
    for (size_t place : places) bytes[place] = static_cast<char>(random());
    read(bytes);
  }
  std::filesystem::remove_all(directory);
  testing::expect_error([&] { LmdbReader reader(path); }, Code::NotFound, path);
}

}  // namespace
}  // namespace weir::io
