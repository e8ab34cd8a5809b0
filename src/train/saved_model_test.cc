#include "weir/saved_model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "io/file.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::train {
namespace {

using weir::testing::expect_error;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_model_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// y = w x, with w = 3.
struct Model {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown}, "x");
  Variable w = g.variable("w", 3.f);
  Output y = multiply(w, x, "y");
};

TEST(SavedModel, ComesBackWithItsVariablesAndSignatures) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/model";
  {
    Model m;
    Session session(m.g);
    session.run(m.g.global_variables_initializer());
    simple_save(session, path, {{"pictures", m.x}}, {{"scores", m.y}});
  }
  EXPECT_TRUE(is_saved_model(path));
  EXPECT_TRUE(io::file_exists(path + "/variables/variables.index"));
  Graph g;
  Session session(g);
  LoadedModel model = load_saved_model(session, {"serve"}, path);
  EXPECT_EQ(model.signatures.at("serving_default").method_name, kPredictMethod);
  EXPECT_EQ(model.signatures.at("serving_default").inputs.at("pictures").dtype, float32);
  const Tensor scores = session.run(model.output("scores"), {{model.input("pictures"), std::vector<float>{1, 2}}});
  EXPECT_EQ(scores.data<float>()[1], 6);
  expect_error([&] { model.output("nothing"); }, Code::NotFound, "has no tensor 'nothing'");
}

TEST(SavedModel, IsFoundByExactlyItsTags) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/model";
  Model m;
  Session session(m.g);
  session.run(m.g.global_variables_initializer());
  SavedModelBuilder builder(path);
  expect_error([&] { builder.add_meta_graph(m.g); }, Code::FailedPrecondition, "has not been saved yet");
  builder.add_meta_graph_and_variables(session, {.tags = {"train", "gpu"}});
  builder.add_meta_graph(m.g, {.tags = {"serve"}});
  expect_error([&] { builder.add_meta_graph_and_variables(session); }, Code::FailedPrecondition, "already been saved");
  EXPECT_EQ(builder.save(/*as_text=*/true), path + "/saved_model.pbtxt");
  Graph g;
  Session other(g);
  expect_error([&] { load_saved_model(other, {"train"}, path); }, Code::NotFound, "[train, gpu], [serve]");
  load_saved_model(other, {"gpu", "train"}, path, {.import_scope = "model"});
  EXPECT_EQ(other.run(g.output("model/w:0")).scalar<float>(), 3);
}

TEST(SavedModel, TakesItsAssetsAlongAndRunsItsMainOperation) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/model", words = directory.path() + "/words.txt";
  std::ofstream(words) << "a b c";
  {
    Graph g;
    Output file = g.constant(words, "words_file");
    Variable text = g.variable("text", "");
    Operation init = assign(text, read_file(g, file), {}, "init_words").op();
    Session session(g);
    session.run(g.global_variables_initializer());
    SavedModelBuilder builder(path);
    builder.add_meta_graph_and_variables(session, {.main_op = init, .assets = {file}});
    builder.save();
  }
  std::filesystem::remove(words);
  Graph g;
  Session session(g);
  load_saved_model(session, {"serve"}, path);
  EXPECT_EQ(session.run(g.output("text:0")).data<std::string>()[0], "a b c");
}

TEST(SavedModel, RefusesFoldersThatHoldSomethingAndThoseWithoutAModel) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/something") << "x";
  expect_error([&] { SavedModelBuilder builder(directory.path()); }, Code::AlreadyExists, "isn't empty");
  Graph g;
  Session session(g);
  expect_error([&] { load_saved_model(session, {"serve"}, directory.path()); }, Code::NotFound,
               "SavedModel file does not exist at");
  std::ofstream(directory.path() + "/saved_model.pb") << "\xff\xff\xff";
  expect_error([&] { load_saved_model(session, {"serve"}, directory.path()); }, Code::DataLoss, "Cannot parse file");
}

}  // namespace
}  // namespace weir::train
