#include "devices/accelerator/elementwise_text.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::accelerator {
namespace {

using Kind = ElementwiseInstruction::Kind;

// {T} is the type, {a} and {b} the operands. Special values as devices/cpu/tile.h has them.
constexpr std::string_view text_of(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::Identity:
      return "{a}";
    case UnaryFn::Neg:
      return "-{a}";
    case UnaryFn::Abs:
      return "({a} < 0 ? -{a} : {a} + 0)";
    case UnaryFn::Sign:
      return "({T})(({a} > 0) - ({a} < 0))";
    case UnaryFn::Square:
      return "{a} * {a}";
    case UnaryFn::Sqrt:
      return "sqrt({a})";
    case UnaryFn::Rsqrt:
      return "1 / sqrt({a})";
    case UnaryFn::Reciprocal:
      return "1 / {a}";
    case UnaryFn::Exp:
      return "exp({a})";
    case UnaryFn::Expm1:
      return "expm1({a})";
    case UnaryFn::Log:
      return "log({a})";
    case UnaryFn::Log1p:
      return "log1p({a})";
    case UnaryFn::Sin:
      return "sin({a})";
    case UnaryFn::Cos:
      return "cos({a})";
    case UnaryFn::Erf:
      return "erf({a})";
    case UnaryFn::Tanh:
      return "tanh({a})";
    case UnaryFn::Sigmoid:
      return "({a} >= 0 ? 1 / (1 + exp(-{a})) : exp({a}) / (1 + exp({a})))";
    case UnaryFn::Relu:
      return "({a} < 0 ? 0 : {a})";
    case UnaryFn::Relu6:
      return "({a} < 0 ? 0 : {a} > 6 ? 6 : {a})";
    case UnaryFn::Elu:
      return "({a} < 0 ? expm1({a}) : {a})";
    case UnaryFn::Selu:
      return "({T})1.0507009873554804934193349852946 * ({a} < 0 ? ({T})1.6732632423543772848170429916717 * expm1({a}) "
             ": {a})";
    case UnaryFn::Softplus:
      return "(({a} > 0 ? {a} : 0) + log1p(exp(-fabs({a}))))";
    case UnaryFn::Softsign:
      return "{a} / (1 + fabs({a}))";
    case UnaryFn::Floor:
      return "floor({a})";
    case UnaryFn::Ceil:
      return "ceil({a})";
    case UnaryFn::Round:
      return "rint({a})";
    case UnaryFn::LogicalNot:
      return "!{a}";
    case UnaryFn::IsNan:
      return "{a} != {a}";
    case UnaryFn::IsInf:
      return "({a} == {a} && {a} - {a} != {a} - {a})";
    case UnaryFn::IsFinite:
      return "{a} - {a} == {a} - {a}";
  }
  return "";
}

constexpr std::string_view text_of(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::Add:
      return "{a} + {b}";
    case BinaryFn::Sub:
      return "{a} - {b}";
    case BinaryFn::Mul:
      return "{a} * {b}";
    case BinaryFn::Div:
      return "{a} / {b}";
    case BinaryFn::DivNoNan:
      return "({b} == 0 ? 0 : {a} / {b})";
    case BinaryFn::FloorDiv:
      return "floor({a} / {b})";
    case BinaryFn::FloorMod:
      return "floor_mod({a}, {b})";
    case BinaryFn::Maximum:
      return "({a} < {b} ? {b} : {a})";
    case BinaryFn::Minimum:
      return "({b} < {a} ? {b} : {a})";
    case BinaryFn::Pow:
      return "pow({a}, {b})";
    case BinaryFn::SquaredDifference:
      return "({a} - {b}) * ({a} - {b})";
    case BinaryFn::Atan2:
      return "atan2({a}, {b})";
    case BinaryFn::Equal:
      return "{a} == {b}";
    case BinaryFn::NotEqual:
      return "{a} != {b}";
    case BinaryFn::Less:
      return "{a} < {b}";
    case BinaryFn::LessEqual:
      return "{a} <= {b}";
    case BinaryFn::Greater:
      return "{a} > {b}";
    case BinaryFn::GreaterEqual:
      return "{a} >= {b}";
    case BinaryFn::LogicalAnd:
      return "({a} != 0 && {b} != 0)";
    case BinaryFn::LogicalOr:
      return "({a} != 0 || {b} != 0)";
    case BinaryFn::TanhGrad:
      return "{b} * (1 - {a} * {a})";
    case BinaryFn::SigmoidGrad:
      return "{b} * {a} * (1 - {a})";
    case BinaryFn::SqrtGrad:
      return "({b} == 0 ? 0 : {b} * ({T})0.5 / {a})";
    case BinaryFn::RsqrtGrad:
      return "({b} == 0 ? 0 : {b} * ({T})-0.5 * {a} * {a} * {a})";
    case BinaryFn::ReciprocalGrad:
      return "({b} == 0 ? 0 : -{b} * {a} * {a})";
    case BinaryFn::ReluGrad:
      return "({b} > 0 ? {a} : 0)";
    case BinaryFn::Relu6Grad:
      return "({b} > 0 && {b} < 6 ? {a} : 0)";
    case BinaryFn::EluGrad:
      return "({b} < 0 ? {a} * ({b} + 1) : {a})";
    case BinaryFn::SeluGrad:
      return "({b} < 0 ? {a} * ({b} + ({T})1.7580993408473768599402175208123) : {a} * "
             "({T})1.0507009873554804934193349852946)";
    case BinaryFn::SoftplusGrad:
      return "{a} / (exp(-{b}) + 1)";
    case BinaryFn::SoftsignGrad:
      return "{a} / ((1 + fabs({b})) * (1 + fabs({b})))";
  }
  return "";
}

constexpr std::string_view kFloorMod = R"kernel(
FUNCTION {T} floor_mod({T} a, {T} b) {
  {T} r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)kernel";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string expression(std::string_view pattern, std::string_view type, int a, int b) {
  std::string text = replaced(std::string(pattern), "{T}", type);
  text = replaced(text, "{a}", "v" + std::to_string(a));
  return replaced(text, "{b}", "v" + std::to_string(b));
}

std::string read_text(size_t input, Reach reach) {
  switch (reach) {
    case Reach::Direct:
      return fmt::format("x{}[i]", input);
    case Reach::Scalar:
      return fmt::format("x{}[0]", input);
    case Reach::Repeat:
      return fmt::format("x{0}[i % p{0}]", input);
    case Reach::Stretch:
      return fmt::format("x{0}[i / p{0}]", input);
    case Reach::Strided:
      return fmt::format("x{0}[place(i, p{0}, sizes)]", input);
  }
  return "";
}

constexpr std::string_view kPlace = R"kernel(
FUNCTION int place(int i, INTS strides, INTS sizes) {
  int at = 0;
  for (int d = 7; d >= 0; --d) {
    at += i % sizes.v[d] * strides.v[d];
    i /= sizes.v[d];
  }
  return at;
}
)kernel";

}  // namespace

std::string elementwise_text(const ElementwiseProgram& program, std::span<const DType> inputs, DType output,
                             std::span<const Reach> reaches) {
  const size_t n = inputs.size();
  std::string parameters, opened, body, text;
  const bool strided = std::find(reaches.begin(), reaches.end(), Reach::Strided) != reaches.end();
  std::vector<std::string> types;  // of the values; truth values are ints
  for (size_t i = 0; i < n; ++i) {
    const auto type = type_text(inputs[i]);
    parameters += fmt::format("BUFFER({}, x{}), ", type, i);
    opened += fmt::format("  OPEN({}, x{});\n", type, i);
    const bool narrow = inputs[i] == DType::Bool;
    types.emplace_back(narrow ? "int" : type);
    body += fmt::format("    {} v{} = {};\n", types.back(), i, read_text(i, reaches[i]));
  }
  bool floor_mod = false;
  std::string mod_type;
  for (const ElementwiseInstruction& step : program.instructions) {
    const size_t result = types.size();
    const std::string a = types[static_cast<size_t>(step.a)];
    std::string type = a, value;
    if (step.kind == Kind::Unary) {
      const auto fn = static_cast<UnaryFn>(step.fn);
      value = expression(text_of(fn), a, step.a, step.a);
      if (gives_truth(fn)) type = "int";
    } else if (step.kind == Kind::Binary) {
      const auto fn = static_cast<BinaryFn>(step.fn);
      value = expression(text_of(fn), a, step.a, step.b);
      if (gives_truth(fn)) type = "int";
      if (fn == BinaryFn::FloorMod) {
        floor_mod = true;
        mod_type = a;
      }
    } else {
      type = types[static_cast<size_t>(step.b)];
      value = fmt::format("v{} != 0 ? v{} : v{}", step.a, step.b, step.c);
    }
    body += fmt::format("    {} v{} = {};\n", type, result, value);
    types.push_back(type);
  }
  const int last = program.outputs[0];
  body += output == DType::Bool ? fmt::format("    y[i] = v{} != 0;\n", last)
                                : fmt::format("    y[i] = ({})v{};\n", type_text(output), last);
  if (strided) text += kPlace;
  if (floor_mod) text += replaced(std::string(kFloorMod), "{T}", mod_type);
  text += "KERNEL(elementwise, " + parameters + fmt::format("BUFFER({}, y), int n", type_text(output));
  for (size_t i = 0; i < n; ++i) {
    if (reaches[i] == Reach::Repeat || reaches[i] == Reach::Stretch) text += fmt::format(", int p{}", i);
    if (reaches[i] == Reach::Strided) text += fmt::format(", INTS p{}", i);
  }
  if (strided) text += ", INTS sizes";
  text += ") {\n" + opened + fmt::format("  OPEN({}, y);\n", type_text(output)) + "  FOR_EACH(i, n) {\n" + body +
          "  }\n}\n";
  return text;
}

bool gives_truth(UnaryFn fn) { return fn >= UnaryFn::LogicalNot; }
bool gives_truth(BinaryFn fn) { return fn >= BinaryFn::Equal && fn <= BinaryFn::LogicalOr; }

bool has_function(UnaryFn fn, DType type) {
  if (is_floating(type)) return has_type(type) && fn != UnaryFn::LogicalNot;
  if (type == DType::Bool) return fn == UnaryFn::LogicalNot || fn == UnaryFn::Identity;
  return has_type(type) && (fn <= UnaryFn::Square || fn == UnaryFn::Relu);
}

bool has_function(BinaryFn fn, DType type) {
  if (is_floating(type)) return has_type(type);
  if (type == DType::Bool) return gives_truth(fn) && (fn <= BinaryFn::NotEqual || fn >= BinaryFn::LogicalAnd);
  if (!has_type(type)) return false;
  return fn <= BinaryFn::Mul || fn == BinaryFn::Maximum || fn == BinaryFn::Minimum ||
         fn == BinaryFn::SquaredDifference || (gives_truth(fn) && fn < BinaryFn::LogicalAnd) ||
         fn == BinaryFn::ReluGrad;
}

}  // namespace weir::accelerator
