#include <cstring>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/list/tensor_list.h"
#include "ops/math/add_tensors.h"
#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Sum {
  static constexpr auto kTile = cpu::BinaryFn::Add;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_add(x, y);
  }
};

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    T* y = c.output<T>();
    // Short blocks, so that y stays in the cache while one input after the other is added.
    c.pool().parallel_for(c.output_elements(), 8192, [&](int64_t begin, int64_t end) {
      const int64_t n = end - begin;
      const T* first = c.input<T>(0) + begin;
      if (c.inputs() == 1 && y + begin != first) std::memcpy(static_cast<void*>(y + begin), first, n * sizeof(T));
      for (int i = 1; i < c.inputs(); ++i) {
        binary_row<Sum>(i == 1 ? first : y + begin, c.input<T>(i) + begin, y + begin, n, cpu::Operands::VV);
      }
    });
  }
};

struct AddTensors {
  template <class T>
  static void run(const Tensor& x, const Tensor& y, Tensor& sum) {
    binary_row<Sum>(static_cast<const T*>(x.raw()), static_cast<const T*>(y.raw()), static_cast<T*>(sum.mutable_raw()),
                    sum.elements(), cpu::Operands::VV);
  }
};

template <class... Ts>
Tensor add_of_types(const Tensor& x, const Tensor& y, Types<Ts...>) {
  if (x.dtype() != y.dtype() || x.shape() != y.shape()) {
    throw invalid_argument("elements of lists to be added are {} {} and {} {}", dtype_name(x.dtype()), x.shape().str(),
                           dtype_name(y.dtype()), y.shape().str());
  }
  Tensor sum(x.dtype(), x.shape());
  if (!((x.dtype() == dtype_of<Ts> && (AddTensors::run<Ts>(x, y, sum), true)) || ...)) {
    throw invalid_argument("lists of {} cannot be added", dtype_name(x.dtype()));
  }
  return sum;
}

// Lists add element by element: the gradients that reach a list from several readers.
void add_lists(KernelContext& c) {
  ListPtr sum = list_input(c, 0);
  for (int i = 1; i < c.inputs(); ++i) {
    ListPtr next = list_input(c, i);
    if (next->length() != sum->length()) {
      throw invalid_argument("lists to be added have {} and {} elements", sum->length(), next->length());
    }
    sum = sum->plus(*next, [](const Tensor& x, const Tensor& y) { return add_tensors(x, y); });
  }
  set_list_output(c, 0, std::move(sum));
}

void infer_sum(InferContext& c) {
  infer::merged(c);
  if (c.attr<DType>("T") != DType::Variant) return;
  Elements sum{.none = true};
  for (int i = 0; i < c.inputs(); ++i) sum = Elements::of_either(sum, c.elements(i));
  c.set_elements(0, {.none = sum.none, .shape = sum.shape});
}

ComputeFn select(const NodeView& node) {
  return node.type() == DType::Variant ? add_lists : kernel_for<NumberTypes, Cpu>(node);
}

void gradient(GradContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.set_input_grad(i, c.output_grad());
}

}  // namespace

Tensor add_tensors(const Tensor& x, const Tensor& y) { return add_of_types(x, y, NumberTypes{}); }

OpDef add_n_op() {
  return {.name = "AddN",
          .inputs = "inputs:N*T",
          .outputs = "sum:T",
          .attrs =
              "N:int>=1; T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
              "uint16,complex128,half,uint32,uint64,variant}",
          .flags = "commutative,aggregate",
          .infer = infer_sum,
          .gradient = gradient,
          .cpu = {.select = select, .in_place = 0b11},
          .elementwise = ElementwiseBody::Kind::Sum};
}

// The same with a shape that is said beforehand, so that TensorFlow can add up what comes first.
OpDef accumulate_n_v2_op() {
  OpDef row = add_n_op();
  row.name = "AccumulateNV2";
  row.attrs = "N:int>=1; T:numbertype; shape:shape";
  row.infer = [](InferContext& c) {
    infer::merged(c);
    c.set_output(0, c.output(0).merged(c.attr<Shape>("shape")));
  };
  row.cpu = {.select = kernel_for<NumberTypes, Cpu>, .in_place = 0b11};
  row.elementwise = {};
  return row;
}

}  // namespace weir::ops

namespace weir {

Output add_n(const InList& inputs, std::string_view name) {
  const std::vector<In>& values = inputs.values();
  if (values.empty()) throw invalid_argument("add_n needs at least one tensor");
  if (values.size() == 1 && values[0].output()) {
    return name.empty() ? values[0].output() : identity(values[0], name);
  }
  return NodeBuilder("AddN", name).input(inputs).output();
}

}  // namespace weir
