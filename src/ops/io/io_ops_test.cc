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

TEST_F(IoOps, RefusesToRestoreWhatNoSliceHas) {
  Graph g;
  Operation write = NodeBuilder("SaveSlices")
                        .graph(g)
                        .input(path("c"))
                        .input(Tensor(Strings{"m"}))
                        .input(Tensor(Strings{"4 2 0,2:-"}))
                        .input(InList{In(Tensor::from<float>({1, 2, 3, 4}, {2, 2}))})
                        .build();
  auto restored = [&](const char* slice) {
    return NodeBuilder("RestoreSlice").graph(g).input(path("c")).input("m").input(slice).attr("dt", float32).output();
  };
  Session session(g);
  session.run(write);
  EXPECT_EQ(session.run(restored("4 2 1,1:-")).str(), "float [1,2] [3 4]");
  EXPECT_EQ(code_of([&] { session.run(restored("4 2 -:-")); }), Code::InvalidArgument);
  train::remove_checkpoint(path("c"));
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

TEST_F(IoOps, ImmutableConstIsTheBytesOfAFile) {
  io::write_file(path("bytes"), std::string("\x01\x00\x02\x00\x03\x00", 6));
  auto value = [&](DType type, const Shape& shape) {
    Graph g;
    return Session(g).run(NodeBuilder("ImmutableConst")
                              .graph(g)
                              .attr("dtype", type)
                              .attr("shape", shape)
                              .attr("memory_region_name", path("bytes"))
                              .output());
  };
  EXPECT_EQ(value(DType::Int16, {3}).data<int16_t>()[2], 3);
  EXPECT_EQ(code_of([&] { value(DType::Int16, {4}); }), Code::Internal);
  EXPECT_EQ(code_of([&] { value(DType::String, {1}); }), Code::Unimplemented);
  EXPECT_EQ(code_of([&] { value(DType::Int16, {kUnknown}); }), Code::InvalidArgument);
}

TEST_F(IoOps, LoadAndRemapMatrixPutsRowsAndColumnsInOrder) {
  {
    Graph g;
    Output matrix = g.constant(Tensor::from<float>({0, 1, 2, 3, 4, 5, 6, 7, 8}, {3, 3}));
    Session(g).run(NodeBuilder("SaveV2")
                       .input(path("m"))
                       .input(g.constant(Tensor(Strings{"m"})))
                       .input(g.constant(Tensor(Strings{""})))
                       .input(InList{matrix})
                       .build());
  }
  auto loaded = [&](std::vector<int64_t> rows, std::vector<int64_t> columns, std::vector<float> rest, int64_t width,
                    int64_t piece = -1) {
    Graph g;
    Output matrix = NodeBuilder("LoadAndRemapMatrix")
                        .input(g.constant(Tensor(path("m"))))
                        .input("m")
                        .input(g.constant(Tensor(rows)))
                        .input(g.constant(Tensor(columns)))
                        .input(g.constant(Tensor(rest)))
                        .attr("num_rows", static_cast<int64_t>(rows.size()))
                        .attr("num_cols", width)
                        .attr("max_rows_in_memory", piece)
                        .output();
    const Tensor t = Session(g).run(matrix);
    return std::vector<float>(t.data<float>().begin(), t.data<float>().end());
  };
  EXPECT_EQ(loaded({2, 0}, {}, {}, 3, 1), (std::vector<float>{6, 7, 8, 0, 1, 2}));
  EXPECT_EQ(loaded({-1, 1}, {2, -1}, {9, 8, 7}, 2), (std::vector<float>{9, 8, 5, 7}));
  EXPECT_EQ(code_of([&] { loaded({1, 1}, {}, {}, 3); }), Code::Unimplemented);
  EXPECT_EQ(code_of([&] { loaded({1}, {}, {1}, 3); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { loaded({-1}, {}, {1}, 3); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { loaded({9}, {}, {}, 3); }), Code::Internal);
  EXPECT_EQ(code_of([&] { loaded({1}, {}, {}, 2); }), Code::InvalidArgument);
}

TEST_F(IoOps, GenerateVocabRemappingFindsOldLines) {
  io::write_file(path("new"), "a\nb\r\nc\n");
  io::write_file(path("old"), "c\nx\na");
  auto remapped = [&](int64_t offset, int64_t count, int64_t old) {
    Graph g;
    Operation op = NodeBuilder("GenerateVocabRemapping")
                       .input(g.constant(Tensor(path("new"))))
                       .input(g.constant(Tensor(path("old"))))
                       .attr("new_vocab_offset", offset)
                       .attr("num_new_vocab", count)
                       .attr("old_vocab_size", old)
                       .build();
    const auto out = Session(g).run({op.output(0), op.output(1)});
    std::vector<int64_t> all(out[0].data<int64_t>().begin(), out[0].data<int64_t>().end());
    all.push_back(out[1].scalar<int32_t>());
    return all;
  };
  EXPECT_EQ(remapped(0, 3, -1), (std::vector<int64_t>{2, -1, 0, 2}));
  EXPECT_EQ(remapped(0, 3, 2), (std::vector<int64_t>{-1, -1, 0, 1}));
  EXPECT_EQ(code_of([&] { remapped(1, 3, -1); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { remapped(0, 1, 4); }), Code::InvalidArgument);
}

// An Event: step is field 2, file_version field 3.
TEST_F(IoOps, ProtosAreDecodedAndEncoded) {
  const std::string event = std::string("\x10\x07\x1a\x02hi", 6);
  auto decoded = [&](const Strings& texts, const std::string& type, const Strings& fields,
                     const std::vector<DType>& types, const char* format = "binary") {
    Graph g;
    Operation op = NodeBuilder("DecodeProtoV2")
                       .input(g.constant(Tensor(texts)))
                       .attr("message_type", type)
                       .attr("field_names", fields)
                       .attr("output_types", types)
                       .attr("message_format", format)
                       .build();
    std::vector<Output> outputs;
    for (size_t i = 0; i <= fields.size(); ++i) outputs.push_back(op.output(static_cast<int>(i)));
    return Session(g).run(outputs);
  };
  const auto out = decoded({event, ""}, "tensorflow.Event", {"file_version", "step"}, {DType::String, DType::Int64});
  EXPECT_EQ(out[0].data<int32_t>()[0], 1);
  EXPECT_EQ(out[0].data<int32_t>()[2], 0);
  EXPECT_EQ(out[1].data<std::string>()[0], "hi");
  EXPECT_EQ(out[2].data<int64_t>()[0], 7);
  EXPECT_EQ(out[2].data<int64_t>()[1], 0);
  EXPECT_EQ(decoded({"step: 9"}, "tensorflow.Event", {"step"}, {DType::Int64}, "text")[1].data<int64_t>()[0], 9);
  EXPECT_EQ(code_of([&] { decoded({"\xff"}, "tensorflow.Event", {"step"}, {DType::Int64}); }), Code::DataLoss);
  EXPECT_EQ(code_of([&] { decoded({""}, "tensorflow.Nothing", {"step"}, {DType::Int64}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { decoded({""}, "tensorflow.Event", {"stop"}, {DType::Int64}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { decoded({""}, "tensorflow.Event", {"step"}, {DType::Float32}); }), Code::InvalidArgument);
  Graph g;
  auto encoded = [&](int32_t size) {
    return NodeBuilder("EncodeProto")
        .input(g.constant(Tensor::from<int32_t>({1, size}, {1, 2})))
        .input(InList{g.constant(Tensor::from<std::string>({"hi"}, {1, 1})),
                      g.constant(Tensor::from<int64_t>({7}, {1, 1}))})
        .attr("field_names", Strings{"file_version", "step"})
        .attr("message_type", "tensorflow.Event")
        .output();
  };
  EXPECT_EQ(Session(g).run(encoded(1)).data<std::string>()[0], event);
  EXPECT_EQ(code_of([&] { Session(g).run(encoded(2)); }), Code::InvalidArgument);
}

}  // namespace
}  // namespace weir
