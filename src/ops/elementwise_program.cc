#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "ops/elementwise.h"

namespace weir {
namespace {

using cpu::BinaryFn;
using cpu::Operands;
using cpu::UnaryFn;
using Kind = ElementwiseInstruction::Kind;
using Fold = ElementwiseProgram::Fold;

// The words that programs are written with.
constexpr std::pair<std::string_view, UnaryFn> kUnary[] = {
    {"Identity", UnaryFn::Identity},
    {"Neg", UnaryFn::Neg},
    {"Abs", UnaryFn::Abs},
    {"Sign", UnaryFn::Sign},
    {"Square", UnaryFn::Square},
    {"Sqrt", UnaryFn::Sqrt},
    {"Rsqrt", UnaryFn::Rsqrt},
    {"Reciprocal", UnaryFn::Reciprocal},
    {"Exp", UnaryFn::Exp},
    {"Expm1", UnaryFn::Expm1},
    {"Log", UnaryFn::Log},
    {"Log1p", UnaryFn::Log1p},
    {"Sin", UnaryFn::Sin},
    {"Cos", UnaryFn::Cos},
    {"Erf", UnaryFn::Erf},
    {"Tanh", UnaryFn::Tanh},
    {"Sigmoid", UnaryFn::Sigmoid},
    {"Relu", UnaryFn::Relu},
    {"Relu6", UnaryFn::Relu6},
    {"Elu", UnaryFn::Elu},
    {"Selu", UnaryFn::Selu},
    {"Softplus", UnaryFn::Softplus},
    {"Softsign", UnaryFn::Softsign},
    {"Floor", UnaryFn::Floor},
    {"Ceil", UnaryFn::Ceil},
    {"Round", UnaryFn::Round},
    {"LogicalNot", UnaryFn::LogicalNot},
    {"IsNan", UnaryFn::IsNan},
    {"IsInf", UnaryFn::IsInf},
    {"IsFinite", UnaryFn::IsFinite},
};
constexpr std::pair<std::string_view, BinaryFn> kBinary[] = {
    {"Add", BinaryFn::Add},
    {"Sub", BinaryFn::Sub},
    {"Mul", BinaryFn::Mul},
    {"Div", BinaryFn::Div},
    {"DivNoNan", BinaryFn::DivNoNan},
    {"FloorDiv", BinaryFn::FloorDiv},
    {"FloorMod", BinaryFn::FloorMod},
    {"Maximum", BinaryFn::Maximum},
    {"Minimum", BinaryFn::Minimum},
    {"Pow", BinaryFn::Pow},
    {"SquaredDifference", BinaryFn::SquaredDifference},
    {"Atan2", BinaryFn::Atan2},
    {"Equal", BinaryFn::Equal},
    {"NotEqual", BinaryFn::NotEqual},
    {"Less", BinaryFn::Less},
    {"LessEqual", BinaryFn::LessEqual},
    {"Greater", BinaryFn::Greater},
    {"GreaterEqual", BinaryFn::GreaterEqual},
    {"LogicalAnd", BinaryFn::LogicalAnd},
    {"LogicalOr", BinaryFn::LogicalOr},
    {"TanhGrad", BinaryFn::TanhGrad},
    {"SigmoidGrad", BinaryFn::SigmoidGrad},
    {"SqrtGrad", BinaryFn::SqrtGrad},
    {"RsqrtGrad", BinaryFn::RsqrtGrad},
    {"ReciprocalGrad", BinaryFn::ReciprocalGrad},
    {"ReluGrad", BinaryFn::ReluGrad},
    {"Relu6Grad", BinaryFn::Relu6Grad},
    {"EluGrad", BinaryFn::EluGrad},
    {"SeluGrad", BinaryFn::SeluGrad},
    {"SoftplusGrad", BinaryFn::SoftplusGrad},
    {"SoftsignGrad", BinaryFn::SoftsignGrad},
};

template <class Fn, size_t N>
std::optional<Fn> find_fn(const std::pair<std::string_view, Fn> (&table)[N], std::string_view word) {
  auto row = std::find_if(std::begin(table), std::end(table), [&](const auto& r) { return r.first == word; });
  return row == std::end(table) ? std::nullopt : std::optional(row->second);
}
template <class Fn, size_t N>
std::string_view name_of(const std::pair<std::string_view, Fn> (&table)[N], uint8_t fn) {
  return std::find_if(std::begin(table), std::end(table), [&](const auto& r) { return r.second == Fn(fn); })->first;
}

constexpr std::pair<std::string_view, ReduceFn> kReduce[] = {
    {"RowSum", ReduceFn::Sum}, {"RowMean", ReduceFn::Mean}, {"RowMax", ReduceFn::Max},
    {"RowMin", ReduceFn::Min}, {"RowProd", ReduceFn::Prod}, {"RowSumSquares", ReduceFn::SumSquares},
};
constexpr std::pair<std::string_view, Fold> kFolds[] = {
    {"columns", Fold::Columns}, {"column_means", Fold::ColumnMeans}, {"all", Fold::All}, {"mean", Fold::Mean}};

int operands_of(Kind kind) {
  switch (kind) {
    case Kind::Unary:
    case Kind::Reduce:
      return 1;
    case Kind::Binary:
      return 2;
    case Kind::Select:
      return 3;
    case Kind::Constant:
      break;
  }
  return 0;
}

std::string_view next_word(std::string_view& text) {
  size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  size_t end = std::min(text.find_first_of(" \n", begin), text.size());
  std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

template <class T>
bool parse_number(std::string_view word, T& value) {
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && end == word.data() + word.size();
}

// A value that exists already: one of the first `count`.
int parse_value(std::string_view word, int count) {
  int value = -1;
  if (!parse_number(word, value) || value < 0 || value >= count) {
    throw invalid_argument("an elementwise program reads '{}' where it has the values 0 to {}", word, count - 1);
  }
  return value;
}

}  // namespace

int ElementwiseProgram::add(UnaryFn fn, int x) {
  instructions.push_back({.kind = Kind::Unary, .fn = static_cast<uint8_t>(fn), .a = x});
  return inputs + static_cast<int>(instructions.size()) - 1;
}

int ElementwiseProgram::add(BinaryFn fn, int a, int b) {
  instructions.push_back({.kind = Kind::Binary, .fn = static_cast<uint8_t>(fn), .a = a, .b = b});
  return inputs + static_cast<int>(instructions.size()) - 1;
}

int ElementwiseProgram::add_select(int condition, int a, int b) {
  instructions.push_back({.kind = Kind::Select, .a = condition, .b = a, .c = b});
  return inputs + static_cast<int>(instructions.size()) - 1;
}

int ElementwiseProgram::add_reduce(ReduceFn fn, int x) {
  instructions.push_back({.kind = Kind::Reduce, .fn = static_cast<uint8_t>(fn), .a = x});
  return inputs + static_cast<int>(instructions.size()) - 1;
}

int ElementwiseProgram::add_constant(float number) {
  instructions.push_back({.kind = Kind::Constant, .number = number});
  return inputs + static_cast<int>(instructions.size()) - 1;
}

bool ElementwiseProgram::is_row_input(int input) const {
  return std::find(row_inputs.begin(), row_inputs.end(), input) != row_inputs.end();
}

std::string ElementwiseProgram::encode() const {
  std::string text;
  if (row_dims > 0) {
    text += fmt::format("rows {}", row_dims);
    for (int input : row_inputs) text += fmt::format(" {}", input);
    text += " :\n";
  }
  for (const ElementwiseInstruction& i : instructions) {
    switch (i.kind) {
      case Kind::Unary:
        text += fmt::format("{} {}\n", name_of(kUnary, i.fn), i.a);
        break;
      case Kind::Binary:
        text += fmt::format("{} {} {}\n", name_of(kBinary, i.fn), i.a, i.b);
        break;
      case Kind::Select:
        text += fmt::format("Select {} {} {}\n", i.a, i.b, i.c);
        break;
      case Kind::Reduce:
        text += fmt::format("{} {}\n", name_of(kReduce, i.fn), i.a);
        break;
      case Kind::Constant:
        text += fmt::format("Constant {}\n", i.number);
        break;
    }
  }
  text += "->";
  for (size_t o = 0; o < outputs.size(); ++o) {
    text += fmt::format(" {}", outputs[o]);
    if (fold(o) != Fold::None) text += fmt::format(":{}", name_of(kFolds, static_cast<uint8_t>(fold(o))));
  }
  return text;
}

namespace {

void decode_rows(ElementwiseProgram& program, std::string_view& text) {
  if (!parse_number(next_word(text), program.row_dims) || program.row_dims < 1) {
    throw invalid_argument("an elementwise program has rows of no dimensions");
  }
  std::string_view word = next_word(text);
  for (; !word.empty() && word != ":"; word = next_word(text)) {
    program.row_inputs.push_back(parse_value(word, program.inputs));
  }
}

ElementwiseInstruction decode_instruction(std::string_view word, std::string_view& text, int values) {
  ElementwiseInstruction i;
  if (auto unary = find_fn(kUnary, word)) {
    i.fn = static_cast<uint8_t>(*unary);
  } else if (auto binary = find_fn(kBinary, word)) {
    i.kind = Kind::Binary;
    i.fn = static_cast<uint8_t>(*binary);
  } else if (word == "Select") {
    i.kind = Kind::Select;
  } else if (auto reduce = find_fn(kReduce, word)) {
    i.kind = Kind::Reduce;
    i.fn = static_cast<uint8_t>(*reduce);
  } else if (word == "Constant") {
    i.kind = Kind::Constant;
    if (!parse_number(next_word(text), i.number))
      throw invalid_argument("an elementwise program has a constant without a number");
  } else {
    throw invalid_argument("an elementwise program cannot compute '{}'", word);
  }
  int* operands[] = {&i.a, &i.b, &i.c};
  for (int o = 0; o < operands_of(i.kind); ++o) *operands[o] = parse_value(next_word(text), values);
  return i;
}

void decode_output(ElementwiseProgram& program, std::string_view word, int values) {
  const size_t colon = word.find(':');
  Fold fold = Fold::None;
  if (colon != word.npos) {
    auto found = find_fn(kFolds, word.substr(colon + 1));
    if (!found) throw invalid_argument("an elementwise program has no fold '{}'", word);
    fold = *found;
  }
  program.outputs.push_back(parse_value(word.substr(0, colon), values));
  program.folds.push_back(fold);
  if (fold == Fold::None && program.outputs.back() < program.inputs) {
    throw invalid_argument("an elementwise program gives an input back");
  }
}

}  // namespace

ElementwiseProgram ElementwiseProgram::decode(std::string_view text, int inputs) {
  ElementwiseProgram program{.inputs = inputs};
  int values = inputs;
  std::string_view word = next_word(text);
  if (word == "rows") {
    decode_rows(program, text);
    word = next_word(text);
  }
  for (; !word.empty() && word != "->"; word = next_word(text), ++values) {
    program.instructions.push_back(decode_instruction(word, text, values));
    if (program.instructions.back().kind == Kind::Reduce && program.row_dims == 0) {
      throw invalid_argument("an elementwise program reduces rows and has none");
    }
  }
  for (word = next_word(text); !word.empty(); word = next_word(text)) decode_output(program, word, values);
  if (program.outputs.empty()) throw invalid_argument("an elementwise program has no output");
  const bool folds = std::any_of(program.folds.begin(), program.folds.end(), [](Fold f) { return f != Fold::None; });
  if (!folds) program.folds.clear();
  const bool columns = std::any_of(program.folds.begin(), program.folds.end(),
                                   [](Fold f) { return f == Fold::Columns || f == Fold::ColumnMeans; });
  if (columns && program.row_dims == 0) throw invalid_argument("an elementwise program adds rows up and has none");
  return program;
}

}  // namespace weir
