#include <fmt/core.h>

#include <charconv>
#include <cstring>

#include "command.h"
#include "weir/error.h"
#include "weir/saved_model.h"
#include "weir/session.h"

namespace weir::tool {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format("--inputs: {}: {}", text, why));
}

// A value as people write it: 3, [1, 2.5], [["a", "b"]]. Sizes and elements, as text.
struct Literal {
  std::vector<int64_t> sizes;
  std::vector<std::string> elements;
};

class LiteralParser {
 public:
  explicit LiteralParser(const std::string& text) : text_(text) {}

  Literal parse() {
    Literal literal;
    value(0, literal);
    skip();
    if (at_ != text_.size()) refuse(text_, "there is something behind the value");
    return literal;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void value(size_t depth, Literal& literal) {
    constexpr size_t kMaxDepth = 32;
    if (depth > kMaxDepth) refuse(text_, "too many brackets");
    if (!take('[')) {
      if (deepest_ && *deepest_ != depth) refuse(text_, "its rows are of different depths");
      deepest_ = depth;
      literal.elements.push_back(element());
      return;
    }
    if (literal.sizes.size() <= depth) literal.sizes.resize(depth + 1, -1);
    int64_t size = 0;
    if (!take(']')) {
      do {
        value(depth + 1, literal);
        ++size;
      } while (take(','));
      if (!take(']')) refuse(text_, "']' is missing");
    }
    if (literal.sizes[depth] >= 0 && literal.sizes[depth] != size) refuse(text_, "its rows are of different lengths");
    literal.sizes[depth] = size;
  }

  std::string element() {
    skip();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const size_t end = text_.find(text_[at_], at_ + 1);
      if (end == std::string::npos) refuse(text_, "a quotation mark is missing");
      std::string inside = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return inside;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !std::strchr("[], \t", text_[at_])) ++at_;
    if (at_ == begin) refuse(text_, "a value is missing");
    return text_.substr(begin, at_ - begin);
  }

  const std::string& text_;
  size_t at_ = 0;
  std::optional<size_t> deepest_;
};

double number(const std::string& text, const std::string& all) {
  if (text == "true" || text == "True") return 1;
  if (text == "false" || text == "False") return 0;
  double value = 0;
  const char* end = text.data() + text.size();
  auto [read, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || read != end) refuse(all, fmt::format("'{}' is no number", text));
  return value;
}

template <class T>
Tensor filled(const Literal& literal, const Shape& shape, const std::string& all) {
  Tensor tensor(dtype_of<T>, shape);
  T* to = tensor.mutable_data<T>();
  for (size_t i = 0; i < literal.elements.size(); ++i) to[i] = static_cast<T>(number(literal.elements[i], all));
  return tensor;
}

Tensor to_tensor(const std::string& text, DType dtype) {
  const Literal literal = LiteralParser(text).parse();
  const Shape shape(literal.sizes);
  if (shape.elements() != static_cast<int64_t>(literal.elements.size()))
    refuse(text, "its rows are of different lengths");
  switch (dtype) {
    case DType::Float32:
      return filled<float>(literal, shape, text);
    case DType::Float64:
      return filled<double>(literal, shape, text);
    case DType::Int32:
      return filled<int32_t>(literal, shape, text);
    case DType::Int64:
      return filled<int64_t>(literal, shape, text);
    case DType::UInt8:
      return filled<uint8_t>(literal, shape, text);
    case DType::Bool:
      return filled<bool>(literal, shape, text);
    case DType::String: {
      Tensor tensor(DType::String, shape);
      std::copy(literal.elements.begin(), literal.elements.end(), tensor.mutable_data<std::string>());
      return tensor;
    }
    default:
      refuse(text, fmt::format("values of type {} cannot be written", dtype_name(dtype)));
  }
}

void print_tensors(const char* title, const std::map<std::string, train::TensorInfo>& tensors) {
  for (const auto& [key, info] : tensors) {
    fmt::print("  {:<7} {:<20} {:<8} {:<14} {}\n", title, key, dtype_name(info.dtype), info.shape.str(),
               info.name.empty() ? info.values + " (sparse)" : info.name);
  }
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(by, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

int run(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(words, {"--tags", "--signature", "--inputs"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one model is wanted");
  const std::string& path = arguments.positional[0];
  Graph graph;
  Session session(graph, {.allow_soft_placement = true});
  const train::LoadedModel model =
      train::load_saved_model(session, split(arguments.value("--tags").value_or("serve"), ','), path);
  if (!arguments.has("--inputs")) {
    for (const auto& [name, signature] : model.signatures) {
      fmt::print("{} ({})\n", name, signature.method_name);
      print_tensors("input", signature.inputs);
      print_tensors("output", signature.outputs);
    }
    return 0;
  }
  const std::string name = arguments.value("--signature").value_or(std::string(train::kServingDefault));
  auto signature = model.signatures.find(name);
  if (signature == model.signatures.end()) throw Error(Code::NotFound, fmt::format("there is no signature '{}'", name));
  std::vector<Feed> feeds;
  for (std::string part : split(*arguments.value("--inputs"), ';')) {
    part.erase(0, part.find_first_not_of(" "));
    const size_t equals = part.find('=');
    if (equals == std::string::npos) refuse(part, "NAME=VALUE is wanted");
    const std::string key = part.substr(0, equals);
    const Output input = model.input(key, name);
    feeds.push_back({input, to_tensor(part.substr(equals + 1), input.dtype())});
  }
  std::vector<Output> outputs;
  for (const auto& [key, info] : signature->second.outputs) outputs.push_back(model.output(key, name));
  const std::vector<Tensor> values = session.run(outputs, feeds);
  size_t next = 0;
  for (const auto& [key, info] : signature->second.outputs) {
    const Tensor& value = values[next++];
    fmt::print("{} {}\n", key, value.str(value.elements()));
  }
  return 0;
}

}  // namespace

const Command kModel = {
    .name = "model",
    .usage = "DIRECTORY [--tags TAG,...] [--signature NAME] [--inputs \"NAME=VALUE;...\"]",
    .summary = "Shows the signatures of a SavedModel, or runs one",
    .help =
        "DIRECTORY is a SavedModel, of Weir or of TensorFlow 1 or 2.\n\n"
        "  --tags TAG,...        the graph with these tags (serve)\n"
        "  --signature NAME      the signature to run (serving_default)\n"
        "  --inputs \"x=[[1,2]]\"  what to run it with: a value for each input, separated by ';'\n\n"
        "  weir model export/1\n"
        "  weir model export/1 --inputs \"x=[[1, 2], [3, 4]]; n=3\"\n",
    .run = run};

}  // namespace weir::tool
