#include <vector>

#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "graph/op.h"
#include "ops/element_mover.h"

// Operations that stand beside variables but have no kernel of the device's own: were they left to the CPU, their
// variables would have to follow them. Inputs are brought to the host, the CPU's kernel runs, and its outputs go back.
namespace weir::accelerator {
namespace {

constexpr std::string_view kThroughHost[] = {"IsVariableInitialized", "VarIsInitializedOp", "Unique", "UniqueV2",
                                             "UniqueWithCounts",      "UniqueWithCountsV2"};

// Everything is the host's while it lives.
class OnHost final : public ops::ElementMover {
 public:
  OnHost() : before_(current()) { set_current(nullptr); }
  ~OnHost() { set_current(before_); }
  void copy_box(DType, const ops::StridedBox&, void*, const void*) override {}
  void zero(void*, size_t) override {}
  Tensor place(DType dtype, const Shape& shape) override { return Tensor(dtype, shape); }
  bool holds(const void*) const override { return false; }

 private:
  ops::ElementMover* before_;
};

// One call of the CPU's kernel on values of the host.
class HostCall {
 public:
  explicit HostCall(KernelContext& c)
      : c_(c), inputs_(static_cast<size_t>(c.inputs())), slots_(inputs_ + static_cast<size_t>(c.outputs())) {
    for (size_t i = 0; i < slots_.size(); ++i) numbers_.push_back(static_cast<int>(i));
    kept_.resize(slots_.size());
  }
  ~HostCall() {
    for (size_t i = inputs_; i < slots_.size(); ++i) {
      if (slots_[i].owner) slots_[i].owner->release();
    }
  }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  void fetch_inputs(AcceleratorMemory& memory) {
    const Op& op = c_.node().op();
    for (size_t i = 0; i < inputs_; ++i) {
      const int number = static_cast<int>(i);
      Value& v = slots_[i];
      v.dtype = c_.dtype(number);
      if (v.dtype == DType::Resource || op.input_arg(i, c_.node().attrs()).is_ref) {
        v.resource = &c_.resource<Resource>(number);
        continue;
      }
      v.own_shape = c_.shape(number);
      v.shape = &v.own_shape;
      v.data = const_cast<void*>(c_.raw_input(number));
      if (!memory.holds(v.data)) continue;
      kept_[i] = Tensor(v.dtype, v.own_shape);
      memory.copy(kept_[i].mutable_raw(), v.data, kept_[i].bytes(), DeviceMemory::Way::ToHost);
      v.data = kept_[i].mutable_raw();
    }
    memory.finish();
  }

  void run(void* state) {
    for (size_t i = inputs_; i < slots_.size(); ++i) {
      const int number = static_cast<int>(i - inputs_);
      if (!c_.raw_output(number)) continue;  // the kernel knows its shape
      Value& v = slots_[i];
      kept_[i] = Tensor(output_type(i - inputs_), c_.output_shape(number));
      v.own_shape = c_.output_shape(number);
      v.shape = &v.own_shape;
      v.dtype = kept_[i].dtype();
      v.data = kept_[i].mutable_raw();
    }
    StepView view;
    view.inputs = numbers_.data();
    view.outputs = numbers_.data() + inputs_;
    view.input_count = static_cast<int>(inputs_);
    view.output_count = static_cast<int>(slots_.size() - inputs_);
    view.state = state;
    view.node = &c_.node();
    KernelContext context(view, slots_.data(), nullptr, c_.pool(), c_.control());
    const OnHost on_host;
    c_.node().op().def->cpu.select(c_.node())(context);
  }

  void give_outputs(AcceleratorMemory& memory) {
    for (size_t i = inputs_; i < slots_.size(); ++i) {
      const int number = static_cast<int>(i - inputs_);
      Value& v = slots_[i];
      if (kept_[i].valid()) {
        // Some outputs are the host's on every device.
        DeviceMemory* there = memory.holds(c_.raw_output(number)) ? &memory : nullptr;
        copy_between(there, c_.raw_output(number), nullptr, kept_[i].raw(), kept_[i].bytes());
      } else if (v.owner) {
        v.owner->retain();
        c_.set_output(number, Tensor(v.dtype, *v.shape, v.owner, v.data));
      }
    }
  }

 private:
  DType output_type(size_t number) const {
    const ArgSpec& arg = c_.node().op().output_arg(number, c_.node().attrs());
    return arg.type_attr.empty() ? arg.type : c_.node().attrs().get<DType>(arg.type_attr);
  }

  KernelContext& c_;
  const size_t inputs_;
  std::vector<Value> slots_;
  std::vector<int> numbers_;
  std::vector<Tensor> kept_;  // copies of inputs, and room for outputs of known shape
};

void through_host(KernelContext& c) {
  AcceleratorMemory& memory = *accelerator::current.memory;
  HostCall call(c);
  call.fetch_inputs(memory);
  call.run(c.node().op().def->cpu.prepare ? &c.state<char>() : nullptr);
  call.give_outputs(memory);
}

}  // namespace

std::span<const KernelRow> through_host_kernels() {
  static const std::vector<KernelRow> rows = [] {
    std::vector<KernelRow> all;
    for (const std::string_view name : kThroughHost) {
      const Op* op = find_op(name);
      if (!op) continue;
      Kernel kernel = op->def->cpu;
      kernel.select = always<through_host>;
      all.push_back({op->def->name, kernel, nullptr});
    }
    return all;
  }();
  return rows;
}

}  // namespace weir::accelerator
