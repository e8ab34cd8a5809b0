#include "weir/graph_html.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/errors.h"
#include "graph/graph_def.h"
#include "io/file.h"
#include "io/text_proto.h"
#include "proto/event.pb.h"
#include "proto/meta_graph.pb.h"
#include "tensor/tensor_proto.h"
#include "weir/records.h"

namespace weir {
namespace {

// The page with a place for the title and one for the data; made from graph_page.html.
constexpr std::string_view kPage =
#include "io/graph_page.inc"
    ;
constexpr std::string_view kTitlePlace = "{{title}}", kDataPlace = "{{graph}}";

constexpr int64_t kMostElements = 8;      // of a constant
constexpr int kMostItems = 16;            // of a list
constexpr size_t kMostStringBytes = 200;  // of a string attribute
// Constants of one graph that say "a billion zeros" are not worth more memory than this.
constexpr int64_t kMostExpansion = int64_t{1} << 24;

bool parse(std::string_view bytes, google::protobuf::Message& message) {
  google::protobuf::LogSilencer silence;  // what is wrong is said by the exception, not on the terminal
  return bytes.size() <= INT32_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Bytes of the UTF-8 character at the front of the text; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond Unicode.
  const bool bad = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                   (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return bad ? 0 : length;
}

// Appends a JSON string that can stand inside a script element: nothing in it looks like markup to an HTML parser.
// Bytes that are no UTF-8 are shown as \xNN.
void append_string(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      fmt::format_to(std::back_inserter(json), "\\\\x{:02x}", c);
    } else if (length == 1 && (c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')) {
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", c);
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  json += '"';
}

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string type_text(int type) {
  constexpr int kReference = 100;  // TensorFlow's reference types are the types, plus 100
  const bool reference = type > kReference;
  const DType dtype = static_cast<DType>(reference ? type - kReference : type);
  return fmt::format("{}{}", dtype_name(dtype), reference ? "_ref" : "");
}

std::string shape_text(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < std::min(shape.dim_size(), kMostItems); ++i) {
    if (i > 0) text += ',';
    text += shape.dim(i).size() < 0 ? "?" : fmt::format("{}", shape.dim(i).size());
  }
  return text + (shape.dim_size() > kMostItems ? ",...]" : "]");
}

std::string shortened(std::string text) {
  if (text.size() <= kMostStringBytes) return text;
  const size_t bytes = text.size();
  size_t end = kMostStringBytes;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // not within a character
  text.resize(end);
  return fmt::format("{}... ({} bytes)", text, bytes);
}

// Writes attributes as text for people.
class AttrText {
 public:
  std::string of(const proto::AttrValue& value) {
    switch (value.value_case()) {
      case proto::AttrValue::kS:
        return shortened(value.s());
      case proto::AttrValue::kI:
        return fmt::format("{}", value.i());
      case proto::AttrValue::kF:
        return fmt::format("{}", value.f());
      case proto::AttrValue::kB:
        return value.b() ? "true" : "false";
      case proto::AttrValue::kType:
        return type_text(value.type());
      case proto::AttrValue::kShape:
        return shape_text(value.shape());
      case proto::AttrValue::kTensor:
        return of_tensor(value.tensor());
      case proto::AttrValue::kList:
        return of_list(value.list());
      case proto::AttrValue::kFunc:
        return shortened(value.func().name());
      case proto::AttrValue::kPlaceholder:
        return shortened("$" + value.placeholder());
      default:
        return "";
    }
  }

 private:
  std::string of_tensor(const proto::TensorProto& message) {
    try {
      return shortened(tensor_from_proto(message, allowance_).str(kMostElements));
    } catch (const Error&) {  // damaged, of a type without values, or too large to unfold
      return fmt::format("{} {}", type_text(message.dtype()), shape_text(message.tensor_shape()));
    }
  }

  std::string of_list(const proto::AttrValue::ListValue& list) {
    std::string text = "[";
    int items = 0;
    const auto add = [&](const auto& values, auto item_text) {
      for (int i = 0; i < values.size() && items <= kMostItems; ++i, ++items) {
        if (items > 0) text += ", ";
        text += items == kMostItems ? "..." : item_text(values.Get(i));
      }
    };
    const auto number = [](auto value) { return fmt::format("{}", value); };
    add(list.s(), shortened);
    add(list.i(), number);
    add(list.f(), number);
    add(list.b(), number);
    add(list.type(), type_text);
    add(list.shape(), shape_text);
    add(list.tensor(), [this](const proto::TensorProto& tensor) { return of_tensor(tensor); });
    add(list.func(), [](const proto::NameAttrList& function) { return shortened(function.name()); });
    return text + "]";
  }

  ExpansionAllowance allowance_{kMostExpansion};
};

// The graph as the page's script reads it:
//   {"nodes": [{"n": name, "o": type, "d": device, "i": inputs, "a": [[name, value], ...], "s": shapes}, ...]}
// An input is [node, output], with output -1 for a control dependency, or a string where there is no such node.
// Fields that would be empty are left out.
class DataWriter {
 public:
  explicit DataWriter(const proto::GraphDef& graph) {
    for (int i = 0; i < graph.node_size(); ++i) index_.emplace(graph.node(i).name(), i);
    json_ = "{\"nodes\":[";
    for (int i = 0; i < graph.node_size(); ++i) {
      json_ += i > 0 ? ",\n" : "\n";
      add_node(graph.node(i));
    }
    json_ += "]}";
  }

  const std::string& json() const { return json_; }

 private:
  void add_node(const proto::NodeDef& node) {
    json_ += "{\"n\":";
    append_string(json_, node.name());
    json_ += ",\"o\":";
    append_string(json_, node.op());
    if (!node.device().empty()) {
      json_ += ",\"d\":";
      append_string(json_, node.device());
    }
    add_list("i", node.input(), [this](const std::string& input) { add_input(input); });
    std::map<std::string_view, const proto::AttrValue*> attrs;  // the message's own order is none
    for (const auto& [name, value] : node.attr()) attrs.emplace(name, &value);
    const auto shapes = attrs.extract("_output_shapes");
    add_list("a", attrs, [this](const auto& attr) {
      json_ += '[';
      append_string(json_, attr.first);
      json_ += ',';
      append_string(json_, text_.of(*attr.second));
      json_ += ']';
    });
    if (!shapes.empty()) {
      add_list("s", shapes.mapped()->list().shape(),
               [this](const proto::TensorShapeProto& shape) { append_string(json_, shape_text(shape)); });
    }
    json_ += '}';
  }

  template <class Items, class F>
  void add_list(const char* name, const Items& items, F add_item) {
    if (items.empty()) return;
    fmt::format_to(std::back_inserter(json_), ",\"{}\":", name);
    char before = '[';
    for (const auto& item : items) {
      json_ += std::exchange(before, ',');
      add_item(item);
    }
    json_ += ']';
  }

  void add_input(std::string_view input) {
    std::string_view name = input;
    int output = 0;
    if (name.starts_with('^')) {
      name.remove_prefix(1);
      output = -1;
    } else if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) {
      const char* end = name.data() + name.size();
      const auto [stop, failure] = std::from_chars(name.data() + colon + 1, end, output);
      if (failure == std::errc() && stop == end && output >= 0) name = name.substr(0, colon);
    }
    if (const auto found = index_.find(name); found != index_.end()) {
      fmt::format_to(std::back_inserter(json_), "[{},{}]", found->second, output);
    } else {
      append_string(json_, input);
    }
  }

  std::unordered_map<std::string_view, int> index_;
  AttrText text_;
  std::string json_;
};

std::string page_of(const proto::GraphDef& graph, const GraphHtmlOptions& options) {
  const DataWriter data(graph);
  const std::string title = html_escaped(options.title);
  std::string page;
  page.reserve(kPage.size() + data.json().size() + title.size());
  // Places are looked for in the page only, so nothing in a title or a graph is taken for one.
  for (std::string_view rest = kPage;;) {
    const size_t place = rest.find("{{");
    page += rest.substr(0, place);
    if (place == std::string_view::npos) return page;
    rest.remove_prefix(place);
    const bool is_title = rest.starts_with(kTitlePlace);
    page += is_title ? title : data.json();
    rest.remove_prefix(is_title ? kTitlePlace.size() : kDataPlace.size());
  }
}

// A MetaGraphDef may parse as a GraphDef, and the other way round, but not into nodes that make sense.
bool is_plausible(const proto::GraphDef& graph) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '>' || c == '-';
  };
  return std::ranges::all_of(graph.node(), [&](const proto::NodeDef& node) {
    return !node.name().empty() && !node.op().empty() && std::ranges::all_of(node.op(), is_word);
  });
}

bool graph_of_binary(std::string_view bytes, proto::GraphDef& graph) {
  proto::MetaGraphDef meta;
  if (parse(bytes, meta) && meta.graph_def().node_size() > 0 && is_plausible(meta.graph_def())) {
    graph.Swap(meta.mutable_graph_def());
    return true;
  }
  return parse(bytes, graph) && is_plausible(graph) && (graph.node_size() > 0 || graph.has_versions());
}

bool graph_of_text(const std::string& text, proto::GraphDef& graph) {
  if (io::parse_text(text, graph)) return true;
  proto::MetaGraphDef meta;
  if (!io::parse_text(text, meta) || !meta.has_graph_def()) return false;
  graph.Swap(meta.mutable_graph_def());
  return true;
}

// False when the file is no event file; NotFound when it is one without a graph.
bool graph_of_events(const std::string& path, proto::GraphDef& graph) {
  bool found = false;
  int64_t events = 0;
  try {
    RecordReader reader(path);
    for (std::string record; reader.next(record); ++events) {
      proto::Event event;
      if (!parse(record, event)) break;
      if (event.what_case() == proto::Event::kGraphDef || event.what_case() == proto::Event::kMetaGraphDef) {
        found = graph_of_binary(event.graph_def() + event.meta_graph_def(), graph) || found;
      }
    }
  } catch (const Error& e) {
    if (e.code() != Code::DataLoss) throw;  // the end of a file that is being written, or no record file at all
  }
  if (!found && events > 0) throw not_found("the event file '{}' holds no graph", path);
  return found;
}

}  // namespace

std::string graph_html(const Graph& graph, const GraphHtmlOptions& options) {
  return graph_html(graph_def_with_shapes(graph), options);
}

std::string graph_html(std::string_view graph_def, const GraphHtmlOptions& options) {
  proto::GraphDef message;
  if (!parse(graph_def, message)) throw invalid_argument("these {} bytes are no GraphDef", graph_def.size());
  return page_of(message, options);
}

std::string read_graph_def(const std::string& path) {
  const std::string bytes = io::read_file(path);
  proto::GraphDef graph;
  if (bytes.empty() ||
      !(graph_of_events(path, graph) || graph_of_binary(bytes, graph) || graph_of_text(bytes, graph))) {
    throw error(Code::DataLoss, "'{}' is no GraphDef, MetaGraphDef or event file", path);
  }
  return graph.SerializeAsString();
}

void write_graph_html(const std::string& path, std::string_view html) {
  // A rename would put a file where the device was.
  const auto status = std::filesystem::status(path);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    io::write_file(path, html);
  } else {
    io::write_file_durably(path, html);
  }
}

}  // namespace weir
