#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/support/check_op.h"
#include "weir/records.h"
#include "weir/session.h"
#include "weir/weir.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using Strings = std::vector<std::string>;

class RecordInput : public ::testing::Test {
 protected:
  RecordInput() {
    std::string pattern = (fs::temp_directory_path() / "weir_record_input_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~RecordInput() override { fs::remove_all(directory_); }

  void write(const std::string& name, int first, int count, Compression compression = Compression::None) const {
    RecordWriter writer(directory_ + "/" + name, compression);
    for (int i = first; i < first + count; ++i) writer.write(std::to_string(i));
    writer.close();
  }
  Operation node(Graph& g, const std::string& pattern, AttrMap attrs) const {
    attrs.set("file_pattern", directory_ + "/" + pattern);
    return g.add({.op = "RecordInput", .attrs = std::move(attrs)});
  }
  static Strings batch(Session& session, const Output& records) {
    const Tensor got = session.run(records);
    return {got.data<std::string>().begin(), got.data<std::string>().end()};
  }

  std::string directory_;
};

TEST_F(RecordInput, GivesEveryRecordOnceInEachEpoch) {
  for (int i = 0; i < 5; ++i) write("part" + std::to_string(i), 20 * i, 20);
  for (int64_t buffer : {1, 7, 1000}) {
    for (int64_t parallelism : {1, 3, 16}) {
      Graph g;
      const Output records = node(g, "part*",
                                  {{"batch_size", int64_t{25}},
                                   {"file_buffer_size", buffer},
                                   {"file_parallelism", parallelism},
                                   {"file_shuffle_shift_ratio", 0.5f}})
                                 .output();
      EXPECT_EQ(records.shape(), Shape{25});
      Session session(g), again(g);
      for (int epoch = 0; epoch < 3; ++epoch) {
        std::set<std::string> seen;
        for (int i = 0; i < 4; ++i) {
          const Strings now = batch(session, records);
          seen.insert(now.begin(), now.end());
          EXPECT_EQ(now, batch(again, records)) << "the order depends on the seed alone";
        }
        EXPECT_EQ(seen.size(), 100u);
      }
    }
  }
}

// The order of TensorFlow 1.15.5 for one file that fits into half of the buffer: there its threads do not race.
TEST_F(RecordInput, GivesTensorFlowsOrder) {
  write("file", 0, 20);
  Graph g;
  const Output records = node(g, "file", {{"batch_size", int64_t{20}}}).output();
  Session session(g);
  EXPECT_EQ(batch(session, records), (Strings{"6", "15", "12", "18", "2",  "0",  "10", "9", "4",  "7",
                                              "5", "19", "3",  "8",  "16", "17", "13", "1", "11", "14"}));
}

TEST_F(RecordInput, ReadsPackedFiles) {
  write("packed", 0, 3, Compression::Gzip);
  Graph g;
  const Output records =
      node(g, "packed", {{"batch_size", int64_t{3}}, {"compression_type", std::string("GZIP")}}).output();
  Session session(g);
  const Strings got = batch(session, records);
  EXPECT_EQ(std::set<std::string>(got.begin(), got.end()), (std::set<std::string>{"0", "1", "2"}));
}

TEST_F(RecordInput, SaysWhatIsWrong) {
  write("empty", 0, 0);
  write("whole", 0, 40);
  write("cut", 0, 40);
  fs::resize_file(directory_ + "/cut", fs::file_size(directory_ + "/cut") - 3);
  Graph g;
  Session session(g);
  auto run = [&](const std::string& pattern, AttrMap attrs = {}) {
    const Output records = node(g, pattern, std::move(attrs)).output();
    return [&session, records] {
      for (int i = 0; i < 4; ++i) batch(session, records);
    };
  };
  expect_error(run("none*"), Code::NotFound, "Found no files at");
  expect_error(run("empty"), Code::OutOfRange, "hold no records");
  expect_error(run("cut"), Code::DataLoss, "cut");
  expect_error(run("whole", {{"file_buffer_size", int64_t{0}}}), Code::InvalidArgument, "file_buffer_size");
  expect_error(run("whole", {{"file_parallelism", int64_t{-1}}}), Code::InvalidArgument, "file_parallelism");
  expect_error([&] { run("whole", {{"batch_size", int64_t{-1}}}); }, Code::InvalidArgument, "batch_size");
  expect_error(run("whole", {{"compression_type", std::string("RAR")}}), Code::InvalidArgument, "compression");
}

}  // namespace
}  // namespace weir
