#include "weir/saver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/errors.h"
#include "io/file.h"
#include "proto/meta_graph.pb.h"
#include "weir/ops.h"
#include "weir/state_ops.h"
#include "weir/variable_scope.h"

namespace weir::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTheirs = WEIR_SOURCE_DIR "/tests/data/checkpoints/program";

class SaverTest : public ::testing::Test {
 protected:
  SaverTest() {
    std::string pattern = (fs::temp_directory_path() / "weir_saver_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SaverTest() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.insert(entry.path().filename());
    return names;
  }

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

// The variables of the program in tests/conformance/checkpoint_exchange.py.
struct Program {
  explicit Program(bool partitioned) {
    w = g.get_variable("w", Shape::unknown(), {.initializer = Tensor(std::vector<float>{1, 2})});
    r = g.get_variable("r", {}, {.initializer = Tensor(3.f), .use_resource = true});
    for (int64_t i = 0; partitioned && i < 2; ++i) {
      Variable part = g.get_variable(fmt::format("p/part_{}", i), {2, 2}, {.initializer = ones_initializer()});
      set_save_slice_info(part, {"p", {4, 2}, {2 * i, 0}, {2, 2}});
      parts.push_back(part);
    }
    step = g.get_variable("global_step", {}, {.initializer = zeros_initializer(), .dtype = int64, .trainable = false});
  }
  Graph g;
  Variable w, r, step;
  std::vector<Variable> parts;
};

proto::MetaGraphDef parsed(const std::string& bytes) {
  proto::MetaGraphDef meta;
  EXPECT_TRUE(meta.ParseFromString(bytes));
  return meta;
}

TEST_F(SaverTest, BuildsTensorFlowsNodes) {
  Program program(true);
  Saver saver(program.g, {.max_to_keep = 2});
  const auto ours = parsed(saver.export_meta_graph()),
             theirs = parsed(read_meta_graph(std::string(kTheirs) + "/model.ckpt-2.meta"));
  std::map<std::string, const proto::NodeDef*> nodes;
  std::vector<std::string> our_order, their_order;
  for (const auto& node : ours.graph_def().node()) {
    nodes[node.name()] = &node;
    if (node.name().starts_with("save/")) our_order.push_back(node.name());
  }
  for (const auto& node : theirs.graph_def().node()) {
    if (!node.name().starts_with("save/")) continue;
    their_order.push_back(node.name());
    ASSERT_TRUE(nodes.contains(node.name())) << node.name();
    const proto::NodeDef& own = *nodes[node.name()];
    EXPECT_EQ(own.op(), node.op()) << node.name();
    EXPECT_EQ(own.device(), node.device()) << node.name();
    EXPECT_EQ(std::vector(own.input().begin(), own.input().end()),
              std::vector(node.input().begin(), node.input().end()))
        << node.name();
    for (const auto& [name, value] : node.attr()) {
      if (name == "_output_shapes") continue;
      ASSERT_TRUE(own.attr().contains(name)) << node.name() << " " << name;
      EXPECT_EQ(own.attr().at(name).DebugString(), value.DebugString()) << node.name() << " " << name;
    }
  }
  EXPECT_EQ(our_order, their_order);
  EXPECT_EQ(ours.saver_def().DebugString(), theirs.saver_def().DebugString());
  for (const char* name : {"variables", "trainable_variables"}) {
    const auto& own = ours.collection_def().at(name).bytes_list();
    const auto& their = theirs.collection_def().at(name).bytes_list();
    ASSERT_EQ(own.value_size(), their.value_size());
    for (int i = 0; i < own.value_size(); ++i) {
      proto::VariableDef a, b;
      a.ParseFromString(own.value(i)), b.ParseFromString(their.value(i));
      EXPECT_EQ(a.variable_name(), b.variable_name());
      EXPECT_EQ(a.initializer_name(), b.initializer_name());
      EXPECT_EQ(a.snapshot_name(), b.snapshot_name());
      EXPECT_EQ(a.is_resource(), b.is_resource());
      EXPECT_EQ(a.trainable(), b.trainable());
      EXPECT_EQ(a.save_slice_info_def().DebugString(), b.save_slice_info_def().DebugString());
    }
  }
}

TEST_F(SaverTest, DescribesOperationsAsTensorFlowDoes) {
  Program program(true);
  const auto ours = parsed(Saver(program.g, {.max_to_keep = 2}).export_meta_graph()),
             theirs = parsed(read_meta_graph(std::string(kTheirs) + "/model.ckpt-2.meta"));
  std::map<std::string, std::string> described;
  for (const auto& op : ours.meta_info_def().stripped_op_list().op()) described[op.name()] = op.DebugString();
  int compared = 0;
  for (const auto& op : theirs.meta_info_def().stripped_op_list().op()) {
    auto own = described.find(op.name());
    if (own == described.end()) continue;  // the program's layers need not have the same nodes
    EXPECT_EQ(own->second, op.DebugString());
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

TEST_F(SaverTest, LeavesOtherSaversAndDefaultsOutWhenAsked) {
  Program program(true);
  Saver first(program.g, {.name = "first"}), second(program.g, {.name = "second"});
  const auto whole = parsed(first.export_meta_graph());
  const auto part = parsed(first.export_meta_graph({.clear_extraneous_savers = true, .strip_default_attrs = true}));
  auto count = [](const proto::MetaGraphDef& meta, const std::string& scope) {
    return std::ranges::count_if(meta.graph_def().node(),
                                 [&](const auto& node) { return node.name().starts_with(scope); });
  };
  EXPECT_GT(count(whole, "second/"), 0);
  EXPECT_EQ(count(part, "second/"), 0);
  EXPECT_EQ(count(part, "first/"), count(whole, "first/"));
  EXPECT_FALSE(whole.meta_info_def().stripped_default_attrs());
  EXPECT_TRUE(part.meta_info_def().stripped_default_attrs());
  auto has_container = [](const proto::MetaGraphDef& meta) {
    return std::ranges::any_of(meta.graph_def().node(),
                               [](const auto& node) { return node.attr().contains("container"); });
  };
  EXPECT_TRUE(has_container(whole));
  EXPECT_FALSE(has_container(part));
  Graph again;
  auto saver = import_meta_graph(again, part.SerializeAsString());
  EXPECT_TRUE(saver.has_value());
}

TEST_F(SaverTest, RestoresWhatItSaved) {
  for (bool sharded : {false, true}) {
    for (auto version : {SaverDef::Version::V1, SaverDef::Version::V2}) {
      Program program(true);
      Saver saver(program.g, {.sharded = sharded, .write_version = version});
      Operation init = program.g.global_variables_initializer();
      Output change = assign_add(program.w, Tensor(std::vector<float>{10, 10}));
      Output change_part = assign(program.parts[1], Tensor::from<float>({1, 2, 3, 4}, {2, 2}));
      Session session(program.g);
      session.run(init);
      session.run({change, change_part});
      const std::string name = fmt::format("c{}{}", sharded, static_cast<int>(version));
      const std::string saved = saver.save(session, path(name));
      session.run(init);
      saver.restore(session, saved);
      EXPECT_EQ(session.run(program.w).str(), "float [2] [11 12]");
      EXPECT_EQ(session.run(program.r).scalar<float>(), 3);
      EXPECT_EQ(session.run(program.parts[1]).str(), "float [2,2] [1 2 3 4]");
      EXPECT_EQ(CheckpointReader(saved).get_tensor("p").str(), "float [4,2] [1 1 1 1 1 2 3 4]");
      EXPECT_EQ(latest_checkpoint(directory_), saved);
      EXPECT_TRUE(io::file_exists(path(name) + ".meta"));

      Session another(program.g);
      saver.restore(another, saved);
      EXPECT_EQ(another.run(program.w).str(), "float [2] [11 12]");
    }
  }
}

TEST_F(SaverTest, KeepsTheNewestAndNamesThemAsTensorFlowDoes) {
  Program program(false);
  Saver saver(program.g, {.max_to_keep = 2});
  Session session(program.g);
  session.run(program.g.global_variables_initializer());
  fs::current_path(directory_);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(saver.save(session, "model.ckpt", {.global_step = i, .write_meta_graph = i == 2}),
              fmt::format("model.ckpt-{}", i));
  }
  EXPECT_EQ(io::read_file("checkpoint"), io::read_file(std::string(kTheirs) + "/checkpoint"));
  EXPECT_EQ(files(),
            (std::set<std::string>{"checkpoint", "model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index",
                                   "model.ckpt-2.data-00000-of-00001", "model.ckpt-2.index", "model.ckpt-2.meta"}));
  EXPECT_EQ(saver.last_checkpoints(), (std::vector<std::string>{"model.ckpt-1", "model.ckpt-2"}));

  Saver later(program.g, {.max_to_keep = 2, .name = "later"});
  later.recover_last_checkpoints({"model.ckpt-0", "model.ckpt-1", "model.ckpt-2"});
  EXPECT_EQ(later.last_checkpoints(), saver.last_checkpoints());
  later.save(session, path("model.ckpt"), {.global_step = 3});
  EXPECT_FALSE(checkpoint_exists("model.ckpt-1"));
  // A directory with an absolute path: absolute paths are written, unless relative ones are asked for.
  EXPECT_NE(io::read_file("checkpoint").find(path("model.ckpt-3")), std::string::npos);
  Saver relative(program.g, {.name = "relative", .pad_step_number = true, .save_relative_paths = true});
  relative.save(session, path("model.ckpt"), {.global_step = 4});
  EXPECT_NE(io::read_file("checkpoint").find("\"model.ckpt-00000004\""), std::string::npos);
  EXPECT_EQ(latest_checkpoint(directory_), path("model.ckpt-00000004"));
}

TEST_F(SaverTest, LatestCheckpointIsAlwaysAWholeOne) {
  EXPECT_EQ(latest_checkpoint(directory_), std::nullopt);
  Program program(false);
  Saver saver(program.g);
  Session session(program.g);
  session.run(program.g.global_variables_initializer());
  for (int64_t i = 0; i < 2; ++i) saver.save(session, path("c"), {.global_step = i});
  EXPECT_EQ(latest_checkpoint(directory_), path("c-1"));
  fs::resize_file(path("c-1.data-00000-of-00001"), 3);
  EXPECT_EQ(latest_checkpoint(directory_), path("c-0"));
  io::remove_file(path("c-0.data-00000-of-00001"));
  EXPECT_EQ(latest_checkpoint(directory_), std::nullopt);
  io::write_file(path("checkpoint"), "no text proto {");
  EXPECT_FALSE(get_checkpoint_state(directory_));
}

TEST_F(SaverTest, SavesFromSeveralThreads) {
  Program program(false);
  Saver saver(program.g, {.max_to_keep = 3});
  Session session(program.g);
  session.run(program.g.global_variables_initializer());
  std::vector<std::jthread> threads;
  for (int64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < 8; ++i) saver.save(session, path("c"), {.global_step = thread * 100 + i});
    });
  }
  threads.clear();
  const std::vector<std::string> last = saver.last_checkpoints();
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(latest_checkpoint(directory_), last.back());
  EXPECT_EQ(get_checkpoint_state(directory_)->all_model_checkpoint_paths, last);
  for (const std::string& checkpoint : last) EXPECT_TRUE(checkpoint_exists(checkpoint)) << checkpoint;
}

TEST_F(SaverTest, ImportsTensorFlowsMetaGraph) {
  Graph g;
  auto saver = import_meta_graph(g, read_meta_graph(std::string(kTheirs) + "/model.ckpt-2.meta"));
  ASSERT_TRUE(saver);
  Session session(g);
  saver->restore(session, std::string(kTheirs) + "/model.ckpt-2");
  std::vector<std::string> names;
  for (const Variable& v : g.global_variables()) names.push_back(v.name());
  EXPECT_EQ(names, (std::vector<std::string>{"w", "r", "p/part_0", "p/part_1", "global_step"}));
  EXPECT_EQ(g.trainable_variables().size(), 4u);
  EXPECT_EQ(session.run(g.global_variables()[0]).str(), "float [2] [1 2]");
  EXPECT_EQ(session.run(g.global_variables()[4]).scalar<int64_t>(), 2);
  EXPECT_EQ(save_slice_info(g.global_variables()[3])->var_offset, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(std::any_cast<Output>(g.collection("losses")[0]).name(), "loss:0");
  EXPECT_EQ(std::any_cast<int64_t>(g.collection("numbers")[0]), 7);
  EXPECT_EQ(std::any_cast<std::string>(g.collection("words")[0]), "word");

  // What comes back out is what came in.
  const auto again = parsed(saver->export_meta_graph());
  const auto before = parsed(read_meta_graph(std::string(kTheirs) + "/model.ckpt-2.meta"));
  ASSERT_EQ(again.collection_def_size(), before.collection_def_size());
  for (const auto& [name, list] : before.collection_def()) {
    std::string expected = list.DebugString();
    // How replicas of the step are to be combined: a matter of TensorFlow's distribution strategies.
    if (const size_t at = expected.find("H\\003"); at != std::string::npos) expected.erase(at, 5);
    EXPECT_EQ(again.collection_def().at(name).DebugString(), expected) << name;
  }
  EXPECT_EQ(again.saver_def().DebugString(), before.saver_def().DebugString());

  Graph scoped;
  auto inside = import_meta_graph(scoped, saver->export_meta_graph(), {.import_scope = "model"});
  EXPECT_EQ(scoped.global_variables()[0].name(), "model/w");
  Session scoped_session(scoped);
  inside->restore(scoped_session, std::string(kTheirs) + "/model.ckpt-2");
  EXPECT_EQ(scoped_session.run(scoped.global_variables()[0]).str(), "float [2] [1 2]");
}

TEST_F(SaverTest, SavesUnderOtherNamesAndReshapes) {
  Graph g;
  Variable a = g.variable("a", Tensor(std::vector<float>{1, 2, 3, 4}));
  Saver saver(g, {.var_list = {{{"old/a", a}}}});
  Session session(g);
  session.run(g.global_variables_initializer());
  saver.save(session, path("c"));
  EXPECT_TRUE(CheckpointReader(path("c")).has_tensor("old/a"));

  Graph other;
  Variable b = other.variable("b", Tensor::zeros(float32, {2, 2}));
  Saver strict(other, {.var_list = {{{"old/a", b}}}});
  Saver reshaping(other, {.var_list = {{{"old/a", b}}}, .reshape = true});
  Session other_session(other);
  EXPECT_EQ(code_of([&] { strict.restore(other_session, path("c")); }), Code::InvalidArgument);
  reshaping.restore(other_session, path("c"));
  EXPECT_EQ(other_session.run(b).str(), "float [2,2] [1 2 3 4]");
}

TEST_F(SaverTest, SaysWhatIsWrong) {
  Graph g;
  EXPECT_EQ(code_of([&] { Saver saver(g); }), Code::InvalidArgument);
  Saver empty(g, {.allow_empty = true});
  Variable a = g.variable("a", 1.f), b = g.variable("b", 2);
  EXPECT_EQ(code_of([&] { Saver saver(g, {.var_list = {{{"x", a}, {"x", b}}}}); }), Code::InvalidArgument);
  Saver saver(g), only_a(g, {.var_list = {{a}}}), swapped(g, {.var_list = {{{"a", b}}}});
  Session session(g);
  EXPECT_EQ(code_of([&] { saver.save(session, path("c")); }), Code::FailedPrecondition);  // not initialised
  EXPECT_EQ(code_of([&] { saver.restore(session, path("c")); }), Code::InvalidArgument);  // nothing there
  session.run(g.global_variables_initializer());
  only_a.save(session, path("c"));
  EXPECT_EQ(code_of([&] { saver.restore(session, path("c")); }), Code::NotFound);           // no b in it
  EXPECT_EQ(code_of([&] { swapped.restore(session, path("c")); }), Code::InvalidArgument);  // a is no int32
  EXPECT_EQ(code_of([&] { saver.save(session, path("checkpoint")); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { saver.save(session, path("c"), {.latest_filename = "a/b"}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { import_meta_graph(g, "no message"); }), Code::InvalidArgument);
}

TEST_F(SaverTest, NamesTheVariablesThatACheckpointDoesNotFit) {
  {
    Graph g;
    g.variable("same", 1.f);
    g.variable("longer", std::vector<float>{1, 2});
    Session session(g);
    session.run(g.global_variables_initializer());
    Saver(g).save(session, path("c"));
  }
  Graph g;
  g.variable("same", 1.f);
  g.variable("longer", std::vector<float>{1, 2, 3});
  Saver saver(g);
  Session session(g);
  try {
    saver.restore(session, path("c"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::InvalidArgument);
    EXPECT_NE(error.message().find("'longer' is float [3] in the graph and float [2] in the checkpoint"),
              std::string::npos)
        << error.message();
    EXPECT_EQ(error.message().find("'same'"), std::string::npos);
  }
}

// For tests/conformance/checkpoint_exchange.py, which lets TensorFlow restore it.
TEST_F(SaverTest, LeavesAProgramForTensorFlow) {
  const std::string directory = (fs::temp_directory_path() / "weir_checkpoints/program").string();
  fs::remove_all(directory);
  Program program(false);
  program.g.add_to_collection("losses", program.g.constant(Tensor(1.f), "loss"));
  program.g.add_to_collection("numbers", int64_t{7});
  Saver saver(program.g, {.max_to_keep = 2});
  Output count = assign_add(program.step, 1);
  Session session(program.g);
  session.run(program.g.global_variables_initializer());
  for (int64_t i = 0; i < 3; ++i) {
    saver.save(session, directory + "/model.ckpt", {.global_step = i});
    if (i < 2) session.run(count);
  }
  EXPECT_EQ(latest_checkpoint(directory), directory + "/model.ckpt-2");
}

}  // namespace
}  // namespace weir::train
