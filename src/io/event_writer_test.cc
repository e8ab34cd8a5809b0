#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "proto/config.pb.h"
#include "proto/event.pb.h"
#include "proto/graph.pb.h"
#include "proto/meta_graph.pb.h"
#include "weir/ops.h"
#include "weir/records.h"
#include "weir/session.h"
#include "weir/summary.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using summary::FileWriter;

std::string fresh_directory(const std::string& name) {
  std::string path = ::testing::TempDir() + "weir_" + name;
  fs::remove_all(path);
  return path;
}

std::vector<proto::Event> events_of(const std::string& path) {
  RecordReader reader(path);
  std::vector<proto::Event> events;
  for (std::string record; reader.next(record);) EXPECT_TRUE(events.emplace_back().ParseFromString(record));
  return events;
}

std::string scalar(const std::string& tag, float number) {
  proto::Summary message;
  message.add_value()->set_tag(tag);
  message.mutable_value(0)->set_simple_value(number);
  return message.SerializeAsString();
}

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

// Left behind for tests/conformance/event_exchange.py, which reads it with TensorFlow and TensorBoard.
TEST(FileWriter, WritesWhatAProgramShows) {
  Graph g;
  Output step_number = g.placeholder(float32, Shape{}, "step");
  summary::scalar("loss", 1 / (step_number + 1));
  summary::histogram("weights", g.constant({-1, 0.5, 1, 2}, float32));
  summary::image("picture", g.constant(Tensor::from<float>({0, 1, 2, 4}, {1, 2, 2, 1})), {.max_outputs = 1});
  summary::text("note", g.constant(Tensor("hello")));
  Output all = summary::merge_all(g);
  Session session(g);

  std::string logdir = fresh_directory("events");
  FileWriter writer(logdir, g);
  for (int step = 0; step < 10; ++step) {
    writer.add(session.run(all, {{step_number, Tensor(static_cast<float>(step))}}), step);
  }
  writer.add_session_log(summary::SessionStatus::Checkpoint, 9, "model.ckpt");
  proto::RunMetadata metadata;
  writer.add_run_metadata(metadata.SerializeAsString(), "step 9", 9);
  EXPECT_EQ(code_of([&] { writer.add_run_metadata("", "step 9", 9); }), Code::InvalidArgument);
  proto::MetaGraphDef meta_graph;
  meta_graph.mutable_meta_info_def()->set_meta_graph_version("1");
  writer.add_meta_graph(meta_graph.SerializeAsString());
  writer.close();

  std::string name = fs::path(writer.path()).filename();
  EXPECT_EQ(fs::path(writer.path()).parent_path(), logdir);
  EXPECT_TRUE(name.starts_with("events.out.tfevents.")) << name;
  EXPECT_EQ(name.find('.', 20), 30u) << "ten digits of seconds: " << name;
  std::vector<proto::Event> events = events_of(writer.path());
  ASSERT_EQ(events.size(), 15u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 1e9);
  proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[1].graph_def()));
  EXPECT_EQ(graph.node(0).attr().at("_output_shapes").list().shape_size(), 1);
  EXPECT_EQ(events[11].step(), 9);
  EXPECT_FLOAT_EQ(events[11].summary().value(0).simple_value(), 0.1f);
  EXPECT_TRUE(events[2].summary().value(3).has_metadata());
  EXPECT_FALSE(events[3].summary().value(3).has_metadata()) << "once for each tag";
  EXPECT_EQ(events[12].session_log().checkpoint_path(), "model.ckpt");
  EXPECT_EQ(events[13].tagged_run_metadata().tag(), "step 9");
  EXPECT_FALSE(events[14].meta_graph_def().empty());

  RecordReader reader(writer.path());
  std::vector<summary::Event> seen;
  for (std::string record; reader.next(record);) seen.push_back(summary::Event::parse(record));
  EXPECT_EQ(seen[0].text, "brain.Event:2");
  EXPECT_EQ(seen[1].kind, "graph_def");
  ASSERT_EQ(seen[11].values.size(), 4u);
  EXPECT_EQ(seen[11].step, 9);
  EXPECT_FLOAT_EQ(static_cast<float>(seen[11].values[0].scalar), 0.1f);
  EXPECT_EQ(seen[11].values[1].text, "4 values from -1 to 2, mean 0.625");
  EXPECT_EQ(seen[11].values[2].text, "2 x 2 x 1");
  EXPECT_EQ(seen[11].values[2].encoded.substr(1, 3), "PNG");
  EXPECT_EQ(seen[11].values[3].kind, "tensor");
  EXPECT_EQ(seen[12].text, "CHECKPOINT model.ckpt");
  EXPECT_EQ(code_of([] { summary::Event::parse("zzzz"); }), Code::DataLoss);
}

TEST(FileWriter, ShowsEventsAfterFlush) {
  FileWriter writer(fresh_directory("events_flush") + "/a/b", {.flush_every = std::chrono::hours(1)});
  for (int i = 0; i < 100; ++i) writer.add_summary(scalar("x", 1), i);
  writer.flush();
  EXPECT_EQ(events_of(writer.path()).size(), 101u);
  writer.flush();
}

TEST(FileWriter, FlushesByItself) {
  FileWriter writer(fresh_directory("events_timer"), {.flush_every = std::chrono::milliseconds(1)});
  for (size_t i = 0; i < 3; ++i) {
    writer.add_summary(scalar("x", 1), static_cast<int64_t>(i));
    while (events_of(writer.path()).size() < i + 2) std::this_thread::yield();
  }
}

TEST(FileWriter, EndsAtOnceWhileAFlushIsFarAway) {
  std::string path;
  {
    FileWriter writer(fresh_directory("events_end"), {.flush_every = std::chrono::hours(1)});
    for (int i = 0; i < 3; ++i) writer.add_summary(scalar("x", 1), i);
    path = writer.path();
  }
  EXPECT_EQ(events_of(path).size(), 4u);
}

TEST(FileWriter, TakesEventsFromManyThreads) {
  FileWriter writer(fresh_directory("events_threads"), {.max_queue = 1, .filename_suffix = ".v2"});
  EXPECT_TRUE(writer.path().ends_with(".v2"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < 50; ++i) writer.add_summary(scalar("thread" + std::to_string(t), 1), i);
      writer.flush();
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.close();
  EXPECT_EQ(events_of(writer.path()).size(), 201u);
}

TEST(FileWriter, ReopensWithANewFile) {
  std::string logdir = fresh_directory("events_reopen");
  FileWriter writer(logdir);
  std::string first = writer.path();
  writer.add_summary(scalar("x", 1), 1);
  writer.close();
  writer.close();
  EXPECT_TRUE(writer.closed());
  EXPECT_EQ(code_of([&] { writer.add_summary(scalar("x", 1), 2); }), Code::FailedPrecondition);
  writer.flush();
  writer.reopen();
  writer.add_summary(scalar("x", 1), 3);
  writer.reopen();
  writer.close();
  EXPECT_NE(writer.path(), first);
  EXPECT_LT(first, writer.path()) << "readers go by the order of names";
  EXPECT_EQ(events_of(first).size(), 2u);
  EXPECT_EQ(events_of(writer.path()).size(), 2u);
}

TEST(FileWriter, LeavesTheFileOfAnotherWriterAlone) {
  std::string logdir = fresh_directory("events_two");
  FileWriter a(logdir), b(logdir);
  EXPECT_NE(a.path(), b.path());
}

TEST(FileWriter, GoesOnInANewFileWhenItsOwnIsDeleted) {
  std::string logdir = fresh_directory("events_deleted");
  FileWriter writer(logdir);
  writer.add_summary(scalar("x", 1), 1);
  writer.flush();
  fs::remove_all(logdir);
  writer.add_summary(scalar("x", 1), 2);
  writer.close();
  EXPECT_EQ(events_of(writer.path()).size(), 2u);
}

TEST(FileWriter, BelongsToTheProcessThatMadeIt) {
  auto writer = std::make_unique<FileWriter>(fresh_directory("events_of_a_child"));
  const std::string path = writer->path();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs is ended by a signal
    const bool refused = code_of([&] { writer->add_summary(scalar("x", 1)); }) == Code::FailedPrecondition &&
                         code_of([&] { writer->flush(); }) == Code::FailedPrecondition;
    writer->close();
    writer.reset();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  writer->add_summary(scalar("x", 2));
  writer->close();
  EXPECT_EQ(events_of(path).size(), 2u);  // the version, and the parent's
}

TEST(FileWriter, RejectsWhatIsNoMessage) {
  FileWriter writer(fresh_directory("events_bad"));
  for (const auto& add : std::vector<std::function<void(std::string_view)>>{
           [&](std::string_view m) { writer.add_summary(m); }, [&](std::string_view m) { writer.add_event(m); },
           [&](std::string_view m) { writer.add_graph_def(m); }, [&](std::string_view m) { writer.add_meta_graph(m); },
           [&](std::string_view m) { writer.add_run_metadata(m, "tag"); },
           [&](std::string_view m) { writer.add(Tensor(std::string(m))); }}) {
    EXPECT_EQ(code_of([&] { add("zzzz"); }), Code::InvalidArgument);
  }
  EXPECT_EQ(code_of([&] { writer.add(Tensor(1.f)); }), Code::InvalidArgument);
}

TEST(FileWriter, TellsAFolderThatCannotBeMade) {
  std::string file = ::testing::TempDir() + "weir_no_folder";
  std::ofstream(file) << "a file";
  EXPECT_EQ(code_of([&] { FileWriter writer(file + "/logs"); }), Code::FailedPrecondition);
  EXPECT_NE(code_of([&] { FileWriter writer(file); }), Code::Ok);
}

// Stands in for a full disk: files of this process may not grow beyond a limit.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(FileWriter, TellsAFullDiskAndLosesNothingOnceThereIsRoom) {
  FileWriter writer(fresh_directory("events_full"), {.flush_every = std::chrono::milliseconds(0)});
  int taken = 0, refused = 0;
  {
    SizeLimit limit(4000);
    for (int i = 0; i < 500; ++i) {
      if (code_of([&] { writer.add_summary(scalar("a tag of some length", 1), i); }) == Code::Ok) {
        ++taken;
      } else {
        ++refused;
      }
    }
    EXPECT_NE(code_of([&] { writer.flush(); }), Code::Ok);
    EXPECT_NE(code_of([&] { writer.flush(); }), Code::Ok);
    EXPECT_GT(refused, 0);
  }
  writer.flush();
  writer.add_summary(scalar("x", 1), 500);
  writer.close();
  std::vector<proto::Event> events = events_of(writer.path());
  EXPECT_EQ(events.size(), static_cast<size_t>(taken) + 2);
  for (size_t i = 2; i < events.size(); ++i) EXPECT_LT(events[i - 1].step(), events[i].step());
}

TEST(FileWriter, SaysSoWhenEventsAreLostAtTheEnd) {
  SizeLimit limit(200);
  ::testing::internal::CaptureStderr();
  {
    FileWriter writer(fresh_directory("events_lost"), {.max_queue = 100});
    try {
      for (int i = 0; i < 50; ++i) writer.add_summary(scalar("a tag of some length", 1), i);
    } catch (const Error&) {
    }
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("events are lost"), std::string::npos);
  FileWriter closed(fresh_directory("events_lost"), {.max_queue = 100});
  try {
    for (int i = 0; i < 50; ++i) closed.add_summary(scalar("a tag of some length", 1), i);
  } catch (const Error&) {
  }
  EXPECT_NE(code_of([&] { closed.close(); }), Code::Ok);
}

}  // namespace
}  // namespace weir
