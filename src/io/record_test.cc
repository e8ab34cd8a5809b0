#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/crc32c.h"
#include "weir/error.h"
#include "weir/records.h"

namespace weir {
namespace {

struct Kind {
  std::string name;
  Compression compression;
};
const std::vector<Kind> kKinds = {
    {"plain", Compression::None}, {"gzip", Compression::Gzip}, {"zlib", Compression::Zlib}};

std::string temporary(const std::string& name) { return ::testing::TempDir() + "weir_" + name; }

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}
void write_file(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);  // some file systems sync what overwrites a file, which takes long
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::string> read_all(const std::string& path, Compression compression = Compression::None) {
  RecordReader reader(path, compression);
  std::vector<std::string> records;
  for (std::string record; reader.next(record);) records.push_back(record);
  return records;
}

// What tests/conformance/record_exchange.py writes with TensorFlow 1.15.
Example example() {
  Example e;
  e.set_ints("label", {7, -1}).set_floats("weights", {0.5f, 1.5f, -2.0f}).set_ints("empty", {});
  e.set_bytes("image", {std::string("\0\xff", 2), ""}).set("nothing", {});
  return e;
}
std::vector<std::string> records() { return {example().serialize(), "", std::string(300, 'x')}; }

TEST(Records, ReadsTheFilesOfTensorFlow) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    std::vector<std::string> found =
        read_all(WEIR_SOURCE_DIR "/tests/data/records/" + kind.name + ".tfrecord", kind.compression);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(Example::parse(found[0]), example());
    EXPECT_EQ(found[1], "");
    EXPECT_EQ(found[2], std::string(300, 'x'));
  }
}

// Left behind for record_exchange.py, which reads them with TensorFlow.
TEST(Records, ReadsWhatItWrote) {
  std::filesystem::create_directories(temporary("records"));
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    std::string path = temporary("records/") + kind.name + ".tfrecord";
    RecordWriter writer(path, kind.compression);
    for (const std::string& record : records()) writer.write(record);
    writer.close();
    writer.close();
    EXPECT_THROW(writer.write("late"), Error);
    EXPECT_EQ(read_all(path, kind.compression), records());
  }
  EXPECT_EQ(contents(temporary("records/plain.tfrecord")).size(),
            contents(WEIR_SOURCE_DIR "/tests/data/records/plain.tfrecord").size());
}

TEST(Records, CarriesRecordsLargerThanEveryBuffer) {
  std::string large;
  for (uint32_t i = 0; large.size() < 3'000'000; ++i) large += std::to_string(i * 2654435761u);
  std::string path = temporary("large.tfrecord");
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    {
      RecordWriter writer(path, kind.compression);
      for (size_t size : {large.size(), size_t{65524}, size_t{65536}, size_t{1}}) writer.write(large.substr(0, size));
    }
    std::vector<std::string> found = read_all(path, kind.compression);
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0], large);
    EXPECT_EQ(found[2], large.substr(0, 65536));
  }
}

TEST(Records, ShowsFlushedRecordsBeforeTheFileIsClosed) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    std::string path = temporary("flushed.tfrecord");
    RecordWriter writer(path, kind.compression);
    writer.write("first");
    writer.flush();
    RecordReader reader(path, kind.compression);
    std::string record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record, "first");
    EXPECT_EQ(reader.offset(), 21);
  }
}

TEST(Records, ReadsConcatenatedGzipFiles) {
  std::string path = temporary("twice.tfrecord");
  {
    RecordWriter writer(path, Compression::Gzip);
    writer.write("a");
  }
  std::string once = contents(path);
  write_file(path, once + once);
  EXPECT_EQ(read_all(path, Compression::Gzip), (std::vector<std::string>{"a", "a"}));
}

Error failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  return Error(Code::Ok, "nothing was thrown");
}

// Every record before the damage is read, and none that is wrong.
void expect_data_loss(const std::string& path, Compression compression, const std::vector<std::string>& whole) {
  RecordReader reader(path, compression);
  std::string record;
  size_t count = 0;
  Error failure = failure_of([&] {
    while (reader.next(record)) {
      ASSERT_LT(count, whole.size());
      EXPECT_EQ(record, whole[count++]);
    }
  });
  EXPECT_EQ(failure.code(), Code::DataLoss) << failure.what();
  EXPECT_NE(failure.message().find(path), std::string::npos) << failure.what();
  EXPECT_EQ(failure_of([&] { reader.next(record); }).message(), failure.message());
}

TEST(Records, FindsEveryFlippedBit) {
  const std::string whole = WEIR_SOURCE_DIR "/tests/data/records/plain.tfrecord";
  const std::string bytes = contents(whole);
  const std::vector<std::string> good = read_all(whole);
  std::string path = temporary("flipped.tfrecord");
  for (size_t i = 0; i < bytes.size(); ++i) {
    SCOPED_TRACE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    write_file(path, damaged);
    expect_data_loss(path, Compression::None, good);
  }
}

TEST(Records, FindsEveryTruncation) {
  std::string path = temporary("cut.tfrecord");
  for (const Kind& kind : kKinds) {
    std::string whole = WEIR_SOURCE_DIR "/tests/data/records/" + kind.name + ".tfrecord";
    const std::string bytes = contents(whole);
    const std::vector<std::string> good = read_all(whole, kind.compression);
    std::vector<size_t> ends;  // of records: where an uncompressed file may end
    if (kind.compression == Compression::None) {
      RecordReader reader(whole);
      for (std::string record; reader.next(record);) ends.push_back(static_cast<size_t>(reader.offset()));
    }
    for (size_t size = 1; size < bytes.size(); ++size) {
      if (std::find(ends.begin(), ends.end(), size) != ends.end()) continue;
      SCOPED_TRACE(kind.name + " " + std::to_string(size));
      write_file(path, bytes.substr(0, size));
      expect_data_loss(path, kind.compression, good);
    }
    write_file(path, "");
    EXPECT_TRUE(read_all(path, kind.compression).empty());
  }
}

// Damage to the parts of gzip's frame that mean nothing (its time stamp) goes unnoticed; wrong records never appear.
TEST(Records, GivesNoWrongRecordFromDamagedCompressedFiles) {
  std::string path = temporary("flipped_packed.tfrecord");
  for (const Kind& kind : {kKinds[1], kKinds[2]}) {
    std::string whole = WEIR_SOURCE_DIR "/tests/data/records/" + kind.name + ".tfrecord";
    const std::string bytes = contents(whole);
    const std::vector<std::string> good = read_all(whole, kind.compression);
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
      std::string damaged = bytes;
      damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
      write_file(path, damaged);
      RecordReader reader(path, kind.compression);
      std::string record;
      try {
        for (size_t n = 0; reader.next(record); ++n) {
          ASSERT_LT(n, good.size());
          EXPECT_EQ(record, good[n]);
        }
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::DataLoss) << e.what();
      }
    }
  }
}

TEST(Records, AllocatesNoMoreThanTheFileHolds) {
  std::string header = std::string(7, '\0') + '\x10';  // 2^60
  uint32_t crc = mask_crc(crc32c(header));
  for (int i = 0; i < 4; ++i) header += static_cast<char>(crc >> (8 * i));
  std::string path = temporary("huge.tfrecord");
  write_file(path, header + "a few bytes");
  RecordReader reader(path);
  std::string record;
  Error failure = failure_of([&] { reader.next(record); });
  EXPECT_EQ(failure.code(), Code::DataLoss);
  EXPECT_NE(failure.message().find("truncated record at 0 of"), std::string::npos) << failure.what();
  EXPECT_LT(record.capacity(), size_t{1} << 20);
}

TEST(Records, ThreadsThatShareAWriterTearNothing) {
  auto record = [](int thread, int i) {
    return std::to_string(i) + std::string(static_cast<size_t>(i * 37 % 3000), static_cast<char>('a' + thread));
  };
  for (const Kind& kind : kKinds) {
    const std::string path = temporary("shared_" + kind.name);
    constexpr int kThreads = 4, kRecords = 500;
    RecordWriter writer(path, kind.compression);
    std::vector<std::thread> threads;
    std::vector<std::string> expected;
    for (int t = 0; t < kThreads; ++t) {
      for (int i = 0; i < kRecords; ++i) expected.push_back(record(t, i));
      threads.emplace_back([&writer, &record, t] {
        for (int i = 0; i < kRecords; ++i) {
          writer.write(record(t, i));
          if (i % 50 == 0) writer.flush();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    writer.close();

    std::vector<std::string> found = read_all(path, kind.compression);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(found, expected) << kind.name;
  }
}

TEST(Records, SaysWhatTheFileSystemSays) {
  EXPECT_EQ(failure_of([] { RecordReader("/no/such/file"); }).code(), Code::NotFound);
  EXPECT_EQ(failure_of([] { RecordWriter("/no/such/file"); }).code(), Code::NotFound);
  EXPECT_EQ(failure_of([] { RecordWriter writer(::testing::TempDir()); }).code(), Code::FailedPrecondition);
  std::string record;
  EXPECT_EQ(failure_of([&] { RecordReader(::testing::TempDir()).next(record); }).code(), Code::FailedPrecondition);
}

TEST(Records, TellsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  for (const Kind& kind : kKinds) {
    RecordWriter writer("/dev/full", kind.compression);
    writer.write("small enough for the buffer");
    EXPECT_EQ(failure_of([&] { writer.flush(); }).code(), Code::ResourceExhausted);
    EXPECT_EQ(failure_of([&] { writer.close(); }).code(), Code::ResourceExhausted);
    ::testing::internal::CaptureStderr();
    { RecordWriter dropped = std::move(writer); }
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("records are lost"), std::string::npos);
  }
}

TEST(Example, KeepsEveryKindOfFeature) {
  Example e = example();
  EXPECT_EQ(Example::parse(e.serialize()), e);
  EXPECT_EQ(e.ints("label"), (Example::Ints{7, -1}));
  EXPECT_EQ(e.floats("weights"), (Example::Floats{0.5f, 1.5f, -2.0f}));
  EXPECT_EQ(e.bytes("image")[0], std::string("\0\xff", 2));
  EXPECT_TRUE(e.ints("empty").empty());
  EXPECT_TRUE(e.has("nothing"));
  EXPECT_FALSE(e.has("absent"));
  EXPECT_EQ(Example::parse(""), Example());
}

TEST(Example, SaysWhichFeatureIsMissingOrOfAnotherKind) {
  Example e = example();
  Error missing = failure_of([&] { e.ints("absent"); });
  EXPECT_EQ(missing.code(), Code::NotFound);
  EXPECT_NE(missing.message().find("'absent'"), std::string::npos);
  Error other = failure_of([&] { e.ints("weights"); });
  EXPECT_EQ(other.code(), Code::InvalidArgument);
  EXPECT_NE(other.message().find("'weights' is floats, not ints"), std::string::npos);
  EXPECT_EQ(failure_of([&] { e.bytes("nothing"); }).code(), Code::InvalidArgument);
}

TEST(Example, RejectsOtherBytes) {
  for (std::string bytes : {"\x0a\xff", "\x07", "no example"}) {
    EXPECT_EQ(failure_of([&] { Example::parse(bytes); }).code(), Code::DataLoss) << bytes;
  }
  std::string whole = example().serialize();
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      Example::parse(whole.substr(0, size));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::DataLoss);
    }
  }
}

}  // namespace
}  // namespace weir
