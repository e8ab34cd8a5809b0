#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/errors.h"
#include "io/file.h"
#include "weir/checkpoint.h"
#include "weir/io_ops.h"
#include "weir/session.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

class IoOps : public ::testing::Test {
 protected:
  IoOps() {
    std::string pattern = (fs::temp_directory_path() / "weir_ops_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~IoOps() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

Code code_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

using Strings = std::vector<std::string>;

TEST_F(IoOps, ReadFileReadsInEveryRun) {
  Graph g;
  Output contents = read_file(g, path("f"));
  EXPECT_EQ(contents.shape(), Shape{});
  Session session(g);
  EXPECT_EQ(code_of([&] { session.run(contents); }), Code::NotFound);
  for (const char* text : {"one", "two"}) {
    io::write_file(path("f"), text);
    EXPECT_EQ(session.run(contents).scalar<std::string>(), text);
  }
}

TEST_F(IoOps, WriteFileMakesItsDirectory) {
  Graph g;
  Operation write = write_file(g, path("a/b/f"), "text");
  Session session(g);
  session.run(write);
  EXPECT_EQ(io::read_file(path("a/b/f")), "text");
}

TEST_F(IoOps, MatchingFilesAreSortedAndFoundAnew) {
  Graph g;
  Output found = matching_files(g, Tensor(Strings{path("*.b"), path("*.a")}));
  Session session(g);
  EXPECT_EQ(session.run(found).elements(), 0);
  for (const char* name : {"2.a", "1.b", "3.c", "1.a"}) io::write_file(path(name), "");
  const Tensor names = session.run(found);
  EXPECT_EQ(Strings(names.data<std::string>().begin(), names.data<std::string>().end()),
            (Strings{path("1.a"), path("1.b"), path("2.a")}));
}

TEST_F(IoOps, ShardedNames) {
  Graph g;
  Output name = NodeBuilder("ShardedFilename").graph(g).input("dir/model").input(Tensor(1)).input(Tensor(12)).output();
  Output spec = NodeBuilder("ShardedFilespec").graph(g).input("dir/model").input(Tensor(12)).output();
  Output joined = NodeBuilder("StringJoin")
                      .graph(g)
                      .input(InList{In("x"), In(Tensor(Strings{"a", "b"}))})
                      .attr("separator", std::string("-"))
                      .output();
  Session session(g);
  EXPECT_EQ(session.run(name).scalar<std::string>(), "dir/model-00001-of-00012");
  EXPECT_EQ(session.run(spec).scalar<std::string>(),
            "dir/model-?????"
            "-of-00012");
  EXPECT_EQ(session.run(joined).str(), Tensor(Strings{"x-a", "x-b"}).str());
}

TEST_F(IoOps, SaveAndRestoreOneByOne) {
  for (const char* save : {"Save", "SaveV2"}) {
    Graph g;
    const Tensor matrix = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
    NodeBuilder builder(save);
    builder.graph(g).input(path("c")).input(Tensor(Strings{"m", "s"}));
    if (save == std::string_view("SaveV2")) builder.input(Tensor(Strings{"", ""}));
    Operation write = builder.input(InList{In(matrix), In(Tensor(Strings{"text"}))}).build();
    Output whole = NodeBuilder("Restore").graph(g).input(path("c")).input("s").attr("dt", string).output();
    Output row = NodeBuilder("RestoreSlice")
                     .graph(g)
                     .input(path("c"))
                     .input("m")
                     .input("2 2 1,1:-")
                     .attr("dt", float32)
                     .output();
    Output wrong = NodeBuilder("Restore").graph(g).input(path("c")).input("m").attr("dt", int32).output();
    EXPECT_EQ(row.shape(), (Shape{1, 2}));
    Session session(g);
    EXPECT_EQ(code_of([&] { session.run(whole); }), Code::NotFound);
    session.run(write);
    EXPECT_EQ(session.run(whole).str(), Tensor(Strings{"text"}).str());
    EXPECT_EQ(session.run(row).str(), "float [1,2] [3 4]");
    EXPECT_EQ(code_of([&] { session.run(wrong); }), Code::InvalidArgument);
    train::remove_checkpoint(path("c"));
    EXPECT_TRUE(fs::is_empty(directory_));
  }
}

TEST_F(IoOps, ArgumentsThatDoNotFitAreRefusedWhenTheGraphIsBuilt) {
  Graph g;
  auto save = [&](const Strings& names, const Strings& slices) {
    NodeBuilder("SaveV2").graph(g).input("c").input(Tensor(names)).input(Tensor(slices)).input(InList{In(1.f)}).build();
  };
  EXPECT_EQ(code_of([&] { save({"a", "b"}, {""}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { save({"a"}, {"", ""}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] {
              NodeBuilder("RestoreV2")
                  .graph(g)
                  .input("c")
                  .input(Tensor(Strings{"a"}))
                  .input(Tensor(Strings{"2 0,3"}))
                  .attr("dtypes", std::vector{float32})
                  .build();
            }),
            Code::InvalidArgument);
}

}  // namespace
}  // namespace weir
