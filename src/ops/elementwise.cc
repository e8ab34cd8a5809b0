#include "ops/elementwise.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/errors.h"

namespace weir {
namespace {

using cpu::BinaryFn;
using cpu::Operands;
using cpu::UnaryFn;
using Kind = ElementwiseInstruction::Kind;

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

int operands_of(Kind kind) { return kind == Kind::Unary ? 1 : kind == Kind::Binary ? 2 : 3; }

std::string_view next_word(std::string_view& text) {
  size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  size_t end = std::min(text.find_first_of(" \n", begin), text.size());
  std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// A value that exists already: one of the first `count`.
int parse_value(std::string_view word, int count) {
  int value = -1;
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size() || value < 0 || value >= count) {
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

std::string ElementwiseProgram::encode() const {
  std::string text;
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
    }
  }
  text += "->";
  for (int output : outputs) text += fmt::format(" {}", output);
  return text;
}

ElementwiseProgram ElementwiseProgram::decode(std::string_view text, int inputs) {
  ElementwiseProgram program{.inputs = inputs};
  int values = inputs;
  std::string_view word = next_word(text);
  for (; !word.empty() && word != "->"; word = next_word(text), ++values) {
    ElementwiseInstruction i;
    if (auto unary = find_fn(kUnary, word)) {
      i.fn = static_cast<uint8_t>(*unary);
    } else if (auto binary = find_fn(kBinary, word)) {
      i.kind = Kind::Binary;
      i.fn = static_cast<uint8_t>(*binary);
    } else if (word == "Select") {
      i.kind = Kind::Select;
    } else {
      throw invalid_argument("an elementwise program cannot compute '{}'", word);
    }
    int* operands[] = {&i.a, &i.b, &i.c};
    for (int o = 0; o < operands_of(i.kind); ++o) *operands[o] = parse_value(next_word(text), values);
    program.instructions.push_back(i);
  }
  for (word = next_word(text); !word.empty(); word = next_word(text)) {
    program.outputs.push_back(parse_value(word, values));
    if (program.outputs.back() < inputs) throw invalid_argument("an elementwise program gives an input back");
  }
  if (program.outputs.empty()) throw invalid_argument("an elementwise program has no output");
  return program;
}

// ---- making ready

class ElementwiseKernel::Builder {
 public:
  Builder(ElementwiseKernel& kernel, const ElementwiseProgram& program)
      : k_(kernel),
        program_(program),
        last_use_(static_cast<size_t>(program.inputs) + program.instructions.size(), -1) {}

  void choose_tile(std::span<const Shape* const> shapes, const Shape& shape) {
    for (const Shape* s : shapes) k_.inputs_.push_back(input_for(*s, shape));
    // A tile of whole periods meets the same elements of a repeated input every time.
    int64_t period = 0;
    for (const Input& in : k_.inputs_) {
      if (in.access == Access::Repeat && in.period <= cpu::kTileFloats) period = std::max(period, in.period);
    }
    if (period > 0) k_.tile_ = cpu::kTileFloats / period * period;
    for (Input& in : k_.inputs_) {
      if (in.access == Access::Repeat) in.once = k_.tile_ % in.period == 0;
      if (in.access == Access::Repeat || in.access == Access::Pieces) in.tile = k_.registers_++;
    }
  }

  void assign() {
    const int count = static_cast<int>(program_.instructions.size());
    for (int output : program_.outputs) use(output, count);
    for (int i = count - 1; i >= 0; --i) {
      const ElementwiseInstruction& instruction = program_.instructions[static_cast<size_t>(i)];
      if (last_use_[result(i)] < 0) continue;  // nobody needs it
      const int operands[] = {instruction.a, instruction.b, instruction.c};
      for (int o = 0; o < operands_of(instruction.kind); ++o) use(operands[o], i);
    }
    places_.resize(last_use_.size());
    for (int i = 0; i < program_.inputs; ++i) places_[static_cast<size_t>(i)] = {Place::Kind::Input, i};
    for (int i = 0; i < count; ++i) {
      if (last_use_[result(i)] >= 0) k_.steps_.push_back(step(program_.instructions[static_cast<size_t>(i)], i));
    }
    // A value that is asked for twice is computed into the first output and copied to the other.
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const Place& place = places_[static_cast<size_t>(program_.outputs[o])];
      if (place.index == static_cast<int>(o)) continue;
      k_.steps_.push_back({.unary = cpu::unary_tile(UnaryFn::Identity),
                           .a = place,
                           .result = {Place::Kind::Output, static_cast<int>(o)}});
    }
  }

 private:
  size_t result(int instruction) const { return static_cast<size_t>(program_.inputs + instruction); }
  void use(int value, int when) {
    int& last = last_use_[static_cast<size_t>(value)];
    last = std::max(last, when);
  }

  static Input input_for(const Shape& from, const Shape& to) {
    if (from.elements() == to.elements()) return {.access = Access::Direct};
    if (from.elements() == 1) return {.access = Access::Scalar};
    const Shape* operands[] = {&from};
    BroadcastPlan plan(operands, to);
    bool repeats = plan.moves(0) && plan.row() == from.elements();
    return {.access = repeats ? Access::Repeat : Access::Pieces, .period = from.elements(), .plan = plan};
  }

  bool is_scalar(const Place& place) const {
    return place.kind == Place::Kind::Input && k_.inputs_[static_cast<size_t>(place.index)].access == Access::Scalar;
  }
  // Tile functions want an array somewhere: the scalar is copied to every place of a register, once.
  void spread(const Place& place) {
    Input& input = k_.inputs_[static_cast<size_t>(place.index)];
    input.access = Access::Pieces;
    input.once = true;
    input.tile = k_.registers_++;
  }

  Place place_for(size_t value) {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      if (static_cast<size_t>(program_.outputs[o]) == value) return {Place::Kind::Output, static_cast<int>(o)};
    }
    if (free_.empty()) return {Place::Kind::Register, k_.registers_++};
    int index = free_.back();
    free_.pop_back();
    return {Place::Kind::Register, index};
  }

  Step step(const ElementwiseInstruction& i, int when) {
    Step s{.kind = i.kind};
    const int operands[] = {i.a, i.b, i.c};
    Place* places[] = {&s.a, &s.b, &s.c};
    for (int o = 0; o < operands_of(i.kind); ++o) *places[o] = places_[static_cast<size_t>(operands[o])];
    if (i.kind == Kind::Unary) {
      if (is_scalar(s.a)) spread(s.a);
      s.unary = cpu::unary_tile(static_cast<UnaryFn>(i.fn));
    } else if (i.kind == Kind::Binary) {
      if (is_scalar(s.a) && is_scalar(s.b)) spread(s.a);
      s.binary = cpu::binary_tile(static_cast<BinaryFn>(i.fn), kind_of(s.a, s.b));
    } else {
      if (is_scalar(s.a)) spread(s.a);
      if (is_scalar(s.b) && is_scalar(s.c)) spread(s.b);
      s.select = cpu::select_tile(kind_of(s.b, s.c));
    }
    // Operands that are read for the last time make room for the result.
    for (int o = 0; o < operands_of(i.kind); ++o) {
      bool repeated = std::find(operands, operands + o, operands[o]) != operands + o;
      if (places[o]->kind == Place::Kind::Register && last_use_[static_cast<size_t>(operands[o])] == when &&
          !repeated) {
        free_.push_back(places[o]->index);
      }
    }
    s.result = places_[result(when)] = place_for(result(when));
    return s;
  }
  Operands kind_of(const Place& a, const Place& b) const {
    return is_scalar(a) ? Operands::SV : is_scalar(b) ? Operands::VS : Operands::VV;
  }

  ElementwiseKernel& k_;
  const ElementwiseProgram& program_;
  std::vector<int> last_use_;  // of each value: the instruction, or the number of instructions for an output
  std::vector<Place> places_;
  std::vector<int> free_;
};

ElementwiseKernel::ElementwiseKernel(const ElementwiseProgram& program, std::span<const Shape* const> inputs,
                                     const Shape& shape)
    : elements_(shape.elements()) {
  Builder builder(*this, program);
  builder.choose_tile(inputs, shape);
  builder.assign();
}

// ---- running

// A thread's scratch memory: its registers, then a pointer to each input's elements for the tile at hand.
size_t ElementwiseKernel::thread_bytes() const {
  size_t bytes = static_cast<size_t>(registers_) * register_floats() * sizeof(float) + inputs_.size() * sizeof(float*);
  return (bytes + 63) / 64 * 64;
}

size_t ElementwiseKernel::scratch_bytes(int threads) const { return thread_bytes() * static_cast<size_t>(threads); }

struct ElementwiseKernel::Tile {
  const float* const* inputs;
  float* registers;
  float* const* outputs;
  int64_t begin, n;
};

const float* ElementwiseKernel::read_input(const Input& input, const float* from, float* gathered, int64_t begin,
                                           int64_t n) const {
  switch (input.access) {
    case Access::Direct:
      return from + begin;
    case Access::Scalar:
      return from;
    case Access::Repeat:
      if (int64_t at = begin % input.period; at + n <= input.period) return from + at;
      break;
    case Access::Pieces:
      break;
  }
  if (!input.plan) {  // a scalar that was spread
    std::fill_n(gathered, n, *from);
    return gathered;
  }
  input.plan->for_each_piece(begin, begin + n, [&](const int64_t* at, int64_t to, int64_t count) {
    if (input.plan->moves(0)) {
      std::memcpy(gathered + (to - begin), from + at[0], static_cast<size_t>(count) * sizeof(float));
    } else {
      std::fill_n(gathered + (to - begin), count, from[at[0]]);
    }
  });
  return gathered;
}

void ElementwiseKernel::run_tile(const Tile& tile) const {
  const size_t stride = register_floats();
  auto resolve = [&](const Place& place) -> const float* {
    switch (place.kind) {
      case Place::Kind::Input:
        return tile.inputs[place.index];
      case Place::Kind::Register:
        return tile.registers + static_cast<size_t>(place.index) * stride;
      case Place::Kind::Output:
        return tile.outputs[place.index] + tile.begin;
    }
    return nullptr;
  };
  for (const Step& s : steps_) {
    float* result = const_cast<float*>(resolve(s.result));  // never an input
    switch (s.kind) {
      case Kind::Unary:
        s.unary(resolve(s.a), result, tile.n);
        break;
      case Kind::Binary:
        s.binary(resolve(s.a), resolve(s.b), result, tile.n);
        break;
      case Kind::Select:
        s.select(resolve(s.a), resolve(s.b), resolve(s.c), result, tile.n);
        break;
    }
  }
}

void ElementwiseKernel::run(std::span<const float* const> inputs, std::span<float* const> outputs, void* scratch,
                            ThreadPool& pool) const {
  const int64_t tiles = (elements_ + tile_ - 1) / tile_;
  // About as much work a block as 16 Ki cheap elements of a single operation.
  const int64_t grain = std::max<int64_t>(1, 16 / static_cast<int64_t>(steps_.size() + 1));
  pool.parallel_for(tiles, grain, [&](int64_t first, int64_t last) {
    std::byte* mine =
        static_cast<std::byte*>(scratch) + static_cast<size_t>(ThreadPool::thread_index()) * thread_bytes();
    float* registers = reinterpret_cast<float*>(mine);
    const size_t stride = register_floats();
    const float** values = reinterpret_cast<const float**>(registers + static_cast<size_t>(registers_) * stride);
    for (int64_t t = first; t < last; ++t) {
      const int64_t begin = t * tile_, n = std::min(tile_, elements_ - begin);
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const Input& input = inputs_[i];
        if (input.once && t > first) continue;
        float* gathered = input.tile < 0 ? nullptr : registers + static_cast<size_t>(input.tile) * stride;
        values[i] = read_input(input, inputs[i], gathered, begin, n);
      }
      run_tile({values, registers, outputs.data(), begin, n});
    }
  });
}

}  // namespace weir
