#include "weir/graph_html.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "io/file.h"
#include "proto/meta_graph.pb.h"
#include "weir/ops.h"
#include "weir/summary.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

class GraphHtml : public ::testing::Test {
 protected:
  GraphHtml() { fs::create_directories(directory_); }
  ~GraphHtml() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string written(const std::string& name, const std::string& bytes) const {
    io::write_file(path(name), bytes);
    return path(name);
  }

 private:
  std::string directory_ =
      ::testing::TempDir() + "weir_graph_html_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

proto::GraphDef small_graph() {
  proto::GraphDef graph;
  proto::NodeDef* a = graph.add_node();
  a->set_name("layer/a");
  a->set_op("Placeholder");
  proto::NodeDef* b = graph.add_node();
  b->set_name("layer/b");
  b->set_op("Unheard");
  b->set_device("/cpu:0");
  for (const char* input : {"layer/a", "layer/a:1", "^layer/a", "elsewhere:3"}) b->add_input(input);
  return graph;
}

// The data of a page, a node a line.
std::string data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="graph">)";
  const size_t start = page.find(begin) + begin.size();
  return page.substr(start, page.find("</script>", start) - start);
}

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Ok;
}

TEST_F(GraphHtml, HoldsNodesInputsAndDevices) {
  EXPECT_EQ(data_of(graph_html(small_graph().SerializeAsString())), R"({"nodes":[
{"n":"layer/a","o":"Placeholder"},
{"n":"layer/b","o":"Unheard","d":"/cpu:0","i":[[0,0],[0,1],[0,-1],"elsewhere:3"]}]})");
}

TEST_F(GraphHtml, ShowsShapesAndShortensConstants) {
  Graph g;
  g.constant(std::vector<float>(100, 0.5f));
  const std::string data = data_of(graph_html(g));
  EXPECT_NE(data.find(R"("s":["[100]"])"), std::string::npos) << data;
  EXPECT_NE(data.find(R"(["dtype","float"])"), std::string::npos) << data;
  EXPECT_NE(data.find("0.5"), std::string::npos) << data;
  EXPECT_LT(data.size(), 400u) << data;
}

TEST_F(GraphHtml, TurnsNoTextIntoMarkup) {
  proto::GraphDef graph;
  proto::NodeDef* node = graph.add_node();
  node->set_name("</script><script>alert(1)</script>\"'\\\n\u2028");
  node->set_op("<!--<script>{{graph}}");
  node->set_device("<img src=x onerror=alert(1)>");
  node->add_input("<b>&amp;");
  (*node->mutable_attr())["<i>"].set_s("\xff</script>\x01");
  const std::string title = "</title><script>\"{{graph}}";
  const std::string page = graph_html(graph.SerializeAsString(), {.title = title});
  EXPECT_EQ(data_of(page).find_first_of("<>&"), std::string::npos) << data_of(page);
  EXPECT_NE(data_of(page).find(R"(\\xff\u003c/script\u003e\u0001)"), std::string::npos) << data_of(page);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;script&gt;&quot;{{graph}}</title>"), std::string::npos);
  // The page of an empty graph with a plain title has as many elements.
  const auto tags = [](const std::string& text) { return std::ranges::count(text, '<'); };
  EXPECT_EQ(tags(page), tags(graph_html(std::string_view())));
}

TEST_F(GraphHtml, SurvivesConstantsThatLie) {
  proto::GraphDef graph;
  for (int i = 0; i < 3; ++i) {
    proto::NodeDef* node = graph.add_node();
    node->set_name("c" + std::to_string(i));
    node->set_op("Const");
    proto::TensorProto* tensor = (*node->mutable_attr())["value"].mutable_tensor();
    tensor->set_dtype(i == 2 ? static_cast<proto::DataType>(77) : proto::DT_FLOAT);
    for (int d = 0; d < (i == 1 ? 4 : 1); ++d) tensor->mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 40);
    tensor->add_float_val(1);
  }
  const std::string data = data_of(graph_html(graph.SerializeAsString()));
  EXPECT_NE(data.find("[1099511627776]"), std::string::npos) << data;
}

TEST_F(GraphHtml, RefusesBytesThatAreNoGraph) {
  EXPECT_EQ(code_of([] { graph_html("no graph"); }), Code::InvalidArgument);
}

TEST_F(GraphHtml, ReadsGraphsBinaryAndText) {
  const proto::GraphDef graph = small_graph();
  proto::MetaGraphDef meta;
  *meta.mutable_graph_def() = graph;
  meta.mutable_meta_info_def()->set_tensorflow_version("1.15.5");
  meta.mutable_meta_info_def()->add_tags("train");
  std::string graph_text, meta_text;
  google::protobuf::TextFormat::PrintToString(graph, &graph_text);
  google::protobuf::TextFormat::PrintToString(meta, &meta_text);
  for (const std::string& bytes : {graph.SerializeAsString(), graph_text, meta.SerializeAsString(), meta_text}) {
    EXPECT_EQ(read_graph_def(written("file", bytes)), graph.SerializeAsString());
  }
}

TEST_F(GraphHtml, ReadsGraphsOfTensorFlow) {
  const std::string data = WEIR_SOURCE_DIR "/tests/data/";
  proto::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(read_graph_def(data + "graphs/convnet.pb")));
  EXPECT_EQ(graph.node_size(), 209);
  EXPECT_TRUE(graph.ParseFromString(read_graph_def(data + "checkpoints/program/model.ckpt-2.meta")));
  EXPECT_EQ(graph.node_size(), 47);
}

TEST_F(GraphHtml, ReadsTheLastGraphOfAnEventFile) {
  summary::FileWriter writer(path("events"));
  writer.add_graph_def(proto::GraphDef().SerializeAsString());
  writer.add_graph_def(small_graph().SerializeAsString());
  writer.close();
  EXPECT_EQ(read_graph_def(writer.path()), small_graph().SerializeAsString());
  // A file that is being written ends anywhere.
  const std::string bytes = io::read_file(writer.path());
  EXPECT_EQ(read_graph_def(written("cut", bytes + bytes.substr(0, 7))), small_graph().SerializeAsString());

  summary::FileWriter empty(path("no_graph"));
  empty.close();
  EXPECT_EQ(code_of([&] { read_graph_def(empty.path()); }), Code::NotFound);
}

TEST_F(GraphHtml, RefusesOtherFiles) {
  EXPECT_EQ(code_of([&] { read_graph_def(path("absent")); }), Code::NotFound);
  for (const char* bytes : {"", "root:x:0:0::/root:/bin/sh\n", "\x0a\x03\x0a\x01"}) {
    EXPECT_EQ(code_of([&] { read_graph_def(written("file", bytes)); }), Code::DataLoss) << bytes;
  }
}

TEST_F(GraphHtml, WritesWholePagesOnly) {
  write_graph_html(path("page.html"), "page");
  EXPECT_EQ(io::read_file(path("page.html")), "page");
  EXPECT_EQ(code_of([&] { write_graph_html(path("absent/page.html"), "page"); }), Code::NotFound);
  EXPECT_EQ(code_of([&] { write_graph_html(path(""), "page"); }), Code::FailedPrecondition);
  write_graph_html("/dev/null", "page");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace weir
