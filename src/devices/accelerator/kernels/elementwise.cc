#include <algorithm>

#include "devices/accelerator/elementwise_text.h"
#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "graph/op.h"
#include "ops/elementwise.h"

namespace weir::accelerator {
namespace {

using Kind = ElementwiseBody::Kind;

// Shapes with equal neighbours joined: how each input reaches the output's elements.
struct Access {
  Reach reach = Reach::Direct;
  int32_t period = 0;
  Ints strides = {};
};

struct State {
  KernelRef kernel;
  std::vector<Access> inputs;
  bool strided = false;
  Ints sizes = {};
  std::vector<KernelRef> sums;
};

int64_t size_at(const Shape& shape, int dim, int rank) {
  const int own = dim - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

Access access_of(const Shape& input, const Shape& output) {
  const int rank = output.rank();
  Access access;
  if (input.elements() == output.elements()) return access;
  if (input.elements() == 1) {
    access.reach = Reach::Scalar;
    return access;
  }
  // Trailing: ones, then the output's sizes. Leading: the output's sizes, then ones.
  int first = 0, last = rank;
  while (first < rank && size_at(input, first, rank) == 1) ++first;
  while (last > 0 && size_at(input, last - 1, rank) == 1) --last;
  auto equal = [&](int begin, int end) {
    for (int d = begin; d < end; ++d) {
      if (size_at(input, d, rank) != output[d]) return false;
    }
    return true;
  };
  if (equal(first, rank)) {
    access.reach = Reach::Repeat;
    access.period = small_int(input.elements());
  } else if (equal(0, last)) {
    access.reach = Reach::Stretch;
    access.period = small_int(output.elements() / input.elements());
  } else {
    access.reach = Reach::Strided;
  }
  return access;
}

// Joins dimensions that no strided input tells apart, so that eight are enough.
void fill_strides(State& state, std::span<const Shape* const> inputs, const Shape& output) {
  const int rank = output.rank();
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> own(inputs.size());
  for (int d = 0; d < rank; ++d) {
    bool joins = !sizes.empty();
    for (size_t i = 0; joins && i < inputs.size(); ++i) {
      if (state.inputs[i].reach != Reach::Strided) continue;
      joins = (size_at(*inputs[i], d, rank) == output[d]) == (size_at(*inputs[i], d - 1, rank) == output[d - 1]) &&
              output[d] > 1 && output[d - 1] > 1;
    }
    if (joins) {
      sizes.back() *= output[d];
      for (size_t i = 0; i < inputs.size(); ++i) own[i].back() *= size_at(*inputs[i], d, rank);
    } else {
      sizes.push_back(output[d]);
      for (size_t i = 0; i < inputs.size(); ++i) own[i].push_back(size_at(*inputs[i], d, rank));
    }
  }
  if (sizes.size() > 8) throw error(Code::Unimplemented, "broadcasting {} on the device", output.str());
  std::fill(std::begin(state.sizes.v), std::end(state.sizes.v), 1);
  const size_t shift = 8 - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) state.sizes.v[shift + d] = small_int(sizes[d]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      state.inputs[i].strides.v[shift + d] = own[i][d] == 1 ? 0 : small_int(stride);
      stride *= own[i][d];
    }
  }
}

State prepare_program(PrepareContext& c, const ElementwiseProgram& program, std::span<const DType> types,
                      DType output) {
  State state;
  std::vector<const Shape*> shapes;
  std::vector<Reach> reaches;
  for (int i = 0; i < c.inputs(); ++i) {
    shapes.push_back(&c.input(i));
    state.inputs.push_back(access_of(c.input(i), c.output()));
    reaches.push_back(state.inputs.back().reach);
    state.strided = state.strided || reaches.back() == Reach::Strided;
  }
  if (state.strided) fill_strides(state, shapes, c.output());
  state.kernel = intern_kernel("elementwise", elementwise_text(program, types, output, reaches));
  return state;
}

State prepare_fused(PrepareContext& c) {
  auto program = ElementwiseProgram::decode(c.attr<std::string>("program"), c.inputs());
  const std::vector<DType> types(static_cast<size_t>(c.inputs()), DType::Float32);
  return prepare_program(c, program, types, DType::Float32);
}

DType type_attr(const NodeView& node, std::string_view name, DType otherwise) {
  const AttrValue* value = node.attrs().find(name);
  return value ? std::get<DType>(*value) : otherwise;
}

// A single operation, whose row says what it computes.
State prepare_single(PrepareContext& c) {
  const ElementwiseBody& body = c.node().op().def->elementwise;
  ElementwiseProgram program;
  program.inputs = c.inputs();
  int result = 0;
  DType type = type_attr(c.node(), "T", DType::Bool), output = type;
  std::vector<DType> types(static_cast<size_t>(c.inputs()), type);
  switch (body.kind) {
    case Kind::Unary:
      result = program.add(body.unary, 0);
      if (gives_truth(body.unary)) output = DType::Bool;
      break;
    case Kind::Binary:
      result = program.add(body.binary, 0, 1);
      if (gives_truth(body.binary)) output = DType::Bool;
      break;
    case Kind::Select:
      result = program.add_select(0, 1, 2);
      types[0] = DType::Bool;
      break;
    case Kind::Cast:
      types[0] = c.attr<DType>("SrcT");
      output = c.attr<DType>("DstT");
      result = program.add(UnaryFn::Identity, 0);
      break;
    case Kind::Sum:
      for (int i = 1; i < c.inputs(); ++i) result = program.add(BinaryFn::Add, result, i);
      if (c.inputs() == 1) result = program.add(UnaryFn::Identity, 0);
      break;
    case Kind::None:
      break;
  }
  program.outputs = {result};
  State state = prepare_program(c, program, types, output);
  // A condition without all the dimensions picks whole rows: it stretches, where others repeat.
  if (body.kind == Kind::Select && c.input(0) != c.output() && c.input(0).rank() == 1 && c.output().rank() > 0) {
    std::vector<Reach> reaches = {Reach::Stretch, Reach::Direct, Reach::Direct};
    state.inputs[0] = {
        .reach = Reach::Stretch,
        .period = small_int(std::max<int64_t>(1, c.output().elements() / std::max<int64_t>(1, c.output()[0])))};
    state.kernel = intern_kernel("elementwise", elementwise_text(program, types, output, reaches));
    state.strided = false;
  }
  return state;
}

// Sums of more values than a kernel takes: of some at first, and then of the sum so far and some more.
constexpr int kMostSummed = 20;

State prepare_sum(PrepareContext& c) {
  if (c.inputs() <= kMostSummed) return prepare_single(c);
  State state;
  const DType type = c.node().type();
  for (int left = c.inputs(), sum = 0; left > 0; sum = 1) {
    const int some = std::min(left, kMostSummed - sum);
    ElementwiseProgram program;
    program.inputs = some + sum;
    int result = 0;
    for (int i = 1; i < program.inputs; ++i) result = program.add(BinaryFn::Add, result, i);
    program.outputs = {result};
    const std::vector<DType> types(static_cast<size_t>(program.inputs), type);
    const std::vector<Reach> reaches(types.size(), Reach::Direct);
    state.sums.push_back(intern_kernel("elementwise", elementwise_text(program, types, type, reaches)));
    left -= some;
  }
  return state;
}

// Operations whose rows have no body of their own.
State prepare_select(PrepareContext& c) {
  ElementwiseProgram program;
  program.inputs = 3;
  program.outputs = {program.add_select(0, 1, 2)};
  const DType type = c.node().type();
  return prepare_program(c, program, std::vector<DType>{DType::Bool, type, type}, type);
}

State prepare_clip(PrepareContext& c) {
  ElementwiseProgram program;
  program.inputs = 3;
  program.outputs = {program.add(BinaryFn::Maximum, program.add(BinaryFn::Minimum, 0, 2), 1)};
  const DType type = c.node().type();
  return prepare_program(c, program, std::vector<DType>{type, type, type}, type);
}

void run(KernelContext& c) {
  const State& state = c.state<State>();
  Launch launch(state.kernel);
  for (int i = 0; i < c.inputs(); ++i) launch.buffer(c.raw_input(i));
  launch.buffer(c.raw_output()).count(c.output_elements());
  for (const Access& input : state.inputs) {
    if (input.reach == Reach::Repeat || input.reach == Reach::Stretch) launch.value(input.period);
    if (input.reach == Reach::Strided) launch.value(input.strides);
  }
  if (state.strided) launch.value(state.sizes);
  launch.items(c.output_elements());
}

void run_sum(KernelContext& c) {
  const State& state = c.state<State>();
  if (state.sums.empty()) return run(c);
  // The output may be the place of any input, so it is written at last.
  Tensor so_far = temporary(c.dtype(0), c.output_shape());
  int next = 0;
  for (size_t i = 0; i < state.sums.size(); ++i) {
    Launch launch(state.sums[i]);
    const int end = std::min(c.inputs(), next + kMostSummed - (i > 0));
    if (i > 0) launch.buffer(so_far.raw());
    while (next < end) launch.buffer(c.raw_input(next++));
    const bool last = i + 1 == state.sums.size();
    launch.buffer(last ? c.raw_output() : so_far.mutable_raw()).count(c.output_elements()).items(c.output_elements());
  }
}

bool fits_body(const NodeView& node, std::span<const DType> inputs, std::span<const DType>) {
  const ElementwiseBody& body = node.op().def->elementwise;
  switch (body.kind) {
    case Kind::Unary:
      return has_function(body.unary, inputs[0]);
    case Kind::Binary:
      return has_function(body.binary, inputs[0]);
    case Kind::Sum:
      return has_function(BinaryFn::Add, inputs[0]);
    default:
      return true;
  }
}

constexpr Kernel kSingle = {.select = always<run>, .prepare = prepared<prepare_single>, .in_place = ~0u};
constexpr Kernel kSum = {.select = always<run_sum>, .prepare = prepared<prepare_sum>, .in_place = ~0u};
// As many bytes are not as many elements when the types differ.
constexpr Kernel kOtherType = {.select = always<run>, .prepare = prepared<prepare_single>};
constexpr Kernel kFused = {.select = always<run>, .prepare = prepared<prepare_fused>, .in_place = ~0u};

}  // namespace

// Every row whose operation says what it computes for an element.
std::span<const KernelRow> elementwise_kernels() {
  static const std::vector<KernelRow> rows = [] {
    std::vector<KernelRow> all;
    for (const OpDef* def : all_op_defs()) {
      const ElementwiseBody& body = def->elementwise;
      if (body.kind == Kind::None || def->alias >= 0) continue;
      const bool other_type = body.kind == Kind::Cast || body.kind == Kind::Select ||
                              (body.kind == Kind::Unary && gives_truth(body.unary)) ||
                              (body.kind == Kind::Binary && gives_truth(body.binary));
      all.push_back({def->name, other_type ? kOtherType : body.kind == Kind::Sum ? kSum : kSingle, fits_body});
    }
    all.push_back({"_FusedElementwise", kFused, nullptr});
    all.push_back({"SelectV2", {.select = always<run>, .prepare = prepared<prepare_select>}, nullptr});
    all.push_back({"ClipByValue", {.select = always<run>, .prepare = prepared<prepare_clip>}, nullptr});
    return all;
  }();
  return rows;
}

}  // namespace weir::accelerator
