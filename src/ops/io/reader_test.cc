#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "io/deflate.h"
#include "io/file.h"
#include "tests/support/check_op.h"
#include "weir/queue_ops.h"
#include "weir/readers.h"
#include "weir/session.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using Strings = std::vector<std::string>;

class Readers : public ::testing::Test {
 protected:
  Readers() {
    std::string pattern = (fs::temp_directory_path() / "weir_readers_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~Readers() override { fs::remove_all(directory_); }
  std::string file(const std::string& name, std::string_view contents) const {
    io::write_file(directory_ + "/" + name, contents);
    return directory_ + "/" + name;
  }

  std::string directory_;
};

// A queue of names, and one reader.
template <class R>
struct Reading {
  template <class... Args>
  explicit Reading(Args&&... args)
      : queue(g, {string}, {.shapes = {Shape{}}}),
        name(g.placeholder(string, Shape{}, "name")),
        enqueue(queue.enqueue({name})),
        close(queue.close()),
        reader(g, std::forward<Args>(args)...),
        record(reader.read(queue.handle())),
        session(g) {}

  void put(const Strings& names) {
    for (const std::string& one : names) session.run(enqueue, {{name, Tensor(one)}});
  }
  // "key=value"
  std::string next() {
    auto both = session.run({record.key, record.value});
    return both[0].scalar<std::string>() + "=" + both[1].scalar<std::string>();
  }
  void expect_end() {
    expect_error([&] { next(); }, Code::OutOfRange,
                 "is closed and has insufficient elements (requested 1, current size 0)");
  }
  int64_t number(const Output& o) { return session.run(o).template scalar<int64_t>(); }

  Graph g;
  FifoQueue queue;
  Output name;
  Operation enqueue, close;
  R reader;
  ReaderBase::Record record;
  Session session;
};

TEST_F(Readers, IdentityReaderGivesWorkAndCounts) {
  Reading<IdentityReader> r;
  Output produced = r.reader.num_records_produced(), completed = r.reader.num_work_units_completed();
  r.put({"A", "B"});
  r.session.run(r.close);
  EXPECT_EQ(r.next(), "A=A");
  EXPECT_EQ(r.number(produced), 1);
  EXPECT_EQ(r.next(), "B=B");
  EXPECT_EQ(r.number(completed), 2);
  r.expect_end();
}

TEST_F(Readers, StateIsRestored) {
  Reading<IdentityReader> r;
  Output state = r.reader.serialize_state(), produced = r.reader.num_records_produced();
  Output given = r.g.placeholder(string, Shape{});
  Operation restore = r.reader.restore_state(given), reset = r.reader.reset();
  r.put({"X", "Y"});
  r.next();
  const Tensor saved = r.session.run(state);
  r.next();
  EXPECT_EQ(r.number(produced), 2);
  r.session.run(restore, {{given, saved}});
  EXPECT_EQ(r.number(produced), 1);
  const std::string good = saved.scalar<std::string>();
  for (const std::string& bad :
       {good.substr(1), good.substr(0, good.size() - 1), good + "ExtraJunk", "PREFIX" + good}) {
    expect_error(
        [&] {
          r.session.run(restore, {{given, Tensor(bad)}});
        },
        Code::InvalidArgument, "Could not parse state for IdentityReader '");
  }
  r.session.run(reset);
  EXPECT_EQ(r.number(produced), 0);
}

TEST_F(Readers, OnlyReadersWithoutPositionSaveTheirState) {
  Reading<TextLineReader> r;
  Output state = r.reader.serialize_state();
  expect_error([&] { r.session.run(state); }, Code::Unimplemented, "Reader SerializeState");
}

TEST_F(Readers, WholeFileReaderGivesContents) {
  Reading<WholeFileReader> r;
  const std::string a = file("a", "one\ntwo"), b = file("b", "");
  r.put({a, b});
  EXPECT_EQ(r.next(), a + "=one\ntwo");
  EXPECT_EQ(r.next(), b + "=");
}

TEST_F(Readers, TextLineReaderTakesBothLineEndsAndSkipsHeaders) {
  Reading<TextLineReader> r(1);
  const std::string a = file("a", "header\none\r\n\nthree"), b = file("b", ""), c = file("c", "h\nlast\n");
  r.put({a, b, c});
  r.session.run(r.close);
  EXPECT_EQ(r.next(), a + ":2=one");
  EXPECT_EQ(r.next(), a + ":3=");
  EXPECT_EQ(r.next(), a + ":4=three");
  EXPECT_EQ(r.next(), c + ":2=last");
  r.expect_end();
}

TEST_F(Readers, FixedLengthRecordReaderLeavesHeaderAndFooterOut) {
  Reading<FixedLengthRecordReader> r(FixedLengthRecordOptions{.record_bytes = 3, .header_bytes = 2, .footer_bytes = 1});
  const std::string a = file("a", "HHabcdefF"), b = file("b", "HHF"), c = file("c", "HHghiF+");
  r.put({a, b, c});
  r.session.run(r.close);
  EXPECT_EQ(r.next(), a + ":0=abc");
  EXPECT_EQ(r.next(), a + ":1=def");
  EXPECT_EQ(r.next(), c + ":0=ghi");
  r.expect_end();
}

TEST_F(Readers, FixedLengthRecordReaderHopsThroughPackedFiles) {
  std::string packed;
  io::Deflater(Compression::Gzip, {}).pack("0123456", Z_FINISH, packed);
  Reading<FixedLengthRecordReader> r(
      FixedLengthRecordOptions{.record_bytes = 3, .hop_bytes = 2, .compression = Compression::Gzip});
  const std::string a = file("a", packed);
  r.put({a});
  EXPECT_EQ(r.next(), a + ":0=012");
  EXPECT_EQ(r.next(), a + ":1=234");
  EXPECT_EQ(r.next(), a + ":2=456");
}

TEST_F(Readers, FixedLengthRecordReaderRefusesSizesThatAreNone) {
  expect_error([] { Reading<FixedLengthRecordReader>(FixedLengthRecordOptions{.record_bytes = 0}).next(); },
               Code::InvalidArgument, "record_bytes must be >= 1 not 0");
}

TEST_F(Readers, TFRecordReaderGivesOffsets) {
  const std::string path = directory_ + "/r";
  RecordWriter writer(path);
  writer.write("one");
  writer.write("");
  writer.close();
  Reading<TFRecordReader> r;
  r.put({path});
  r.session.run(r.close);
  EXPECT_EQ(r.next(), path + ":0=one");
  EXPECT_EQ(r.next(), path + ":19=");
  r.expect_end();
}

TEST_F(Readers, DamageIsToldWithFileAndOffset) {
  const std::string path = directory_ + "/r";
  RecordWriter writer(path);
  for (const char* text : {"first", "second"}) writer.write(text);
  writer.close();
  std::string bytes = io::read_file(path);
  bytes.pop_back();
  io::write_file(path, bytes);
  Reading<TFRecordReader> r;
  r.put({path});
  EXPECT_EQ(r.next(), path + ":0=first");
  for (int i = 0; i < 2; ++i)
    expect_error([&] { r.next(); }, Code::DataLoss, "truncated record at 21 of '" + path + "'");
}

TEST_F(Readers, FilesThatCannotBeOpenedAreLeftOut) {
  Reading<TextLineReader> r;
  r.put({directory_ + "/none", file("a", "text")});
  expect_error([&] { r.next(); }, Code::NotFound, directory_ + "/none");
  EXPECT_EQ(r.next(), directory_ + "/a:1=text");
}

TEST_F(Readers, ReadUpToGivesRecordsOfOneFile) {
  Reading<TextLineReader> r;
  auto [keys, values] = r.reader.read_up_to(r.queue.handle(), 2);
  EXPECT_EQ(keys.shape(), (Shape{kUnknown}));
  r.put({file("a", "1\n2\n3\n"), file("b", "4\n")});
  auto lines = [&] { return r.session.run(values).str(); };
  EXPECT_EQ(lines(), Tensor(Strings{"1", "2"}).str());
  EXPECT_EQ(lines(), Tensor(Strings{"3"}).str());
  EXPECT_EQ(lines(), Tensor(Strings{"4"}).str());
  Output none = r.reader.read_up_to(r.queue.handle(), 0).value;
  expect_error([&] { r.session.run(none); }, Code::InvalidArgument, "num_records must be positive");
}

TEST_F(Readers, AQueueOfSomethingElseIsRefused) {
  Graph g;
  FifoQueue queue(g, {int32});
  Output value = TextLineReader(g).read(queue.handle()).value;
  Session session(g);
  expect_error([&] { session.run(value); }, Code::InvalidArgument,
               "takes the names of files from a queue of single strings");
}

TEST_F(Readers, ManyEmptyFilesNeedNoStack) {
  Reading<TextLineReader> r;
  const std::string empty = file("empty", ""), last = file("last", "text");
  r.put(Strings(5000, empty));
  r.put({last});
  EXPECT_EQ(r.next(), last + ":1=text");
}

TEST_F(Readers, ThreadsShareRecordsExactly) {
  constexpr int kFiles = 20, kLines = 50, kThreads = 16;
  Reading<TextLineReader> r;
  Strings files;
  for (int f = 0; f < kFiles; ++f) {
    std::string text;
    for (int i = 0; i < kLines; ++i) text += "line\n";
    files.push_back(file("f" + std::to_string(f), text));
  }
  std::mutex mutex;
  std::multiset<std::string> seen;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      try {
        for (;;) {
          const std::string record = r.next();
          std::lock_guard lock(mutex);
          seen.insert(record);
        }
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::OutOfRange) << e.what();
      }
    });
  }
  r.put(files);  // while they wait
  r.session.run(r.close);
  threads.clear();
  EXPECT_EQ(seen.size(), size_t{kFiles * kLines});
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
  Output completed = r.reader.num_work_units_completed();
  EXPECT_EQ(r.number(completed), kFiles);
}

TEST_F(Readers, RunsThatWaitAreCancelledOneByOne) {
  Reading<TextLineReader> r;
  std::vector<std::stop_source> stops(3);
  std::vector<std::jthread> threads;
  std::atomic<int> cancelled = 0;
  for (std::stop_source& stop : stops) {
    threads.emplace_back([&] {
      try {
        r.session.run({r.record.value}, {}, {}, {.stop = stop.get_token()});
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::Cancelled) << e.what();
        ++cancelled;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stops[1].request_stop();  // one that stands behind
  stops[0].request_stop();
  threads[1].join();
  threads[0].join();
  EXPECT_EQ(cancelled, 2);
  r.put({file("a", "text")});
  threads[2].join();  // was served
  EXPECT_EQ(cancelled, 2);
}

}  // namespace
}  // namespace weir
