#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Elements that a function gives until it says OutOfRange: what it is called with is what another function gave at the
// beginning, and a third is called at the end.
class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(CalledFunction init, CalledFunction next, CalledFunction finalize, ElementSpec spec)
      : Dataset(std::move(spec)), init_(std::move(init)), next_(std::move(next)), finalize_(std::move(finalize)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string&) const override {
    struct Iterator final : IteratorOf<GeneratorDataset> {
      Iterator(const GeneratorDataset& d, Pipeline& p) : IteratorOf(d), pipeline(p) {}
      ~Iterator() override {
        if (!begun || finalized) return;
        try {  // the program's generator is left in the middle, also when the pipeline was stopped
          const RunControl control;
          const std::stop_token none;
          finalize({pipeline, control, none});
        } catch (const Error&) {  // there is nobody to tell
        }
      }
      bool next(const IterateContext& c, Element& out) override {
        if (finalized) return false;
        if (!begun) dataset_.init_(c, {}, state);
        begun = true;
        try {
          dataset_.next_(c, state, out);
          return true;
        } catch (const Error& e) {
          if (e.code() != Code::OutOfRange) throw;
        }
        finalize(c);
        return false;
      }
      void finalize(const IterateContext& c) {
        finalized = true;
        Element nothing;
        dataset_.finalize_(c, state, nothing);
      }
      Pipeline& pipeline;
      Element state;
      bool begun = false, finalized = false;
    };
    return std::make_unique<Iterator>(*this, c.pipeline);
  }

 private:
  CalledFunction init_, next_, finalize_;
};

void cpu(KernelContext& c) {
  const int init = types_of_list(c, "Tinit_func_args"), next = types_of_list(c, "Tnext_func_args"),
            finalize = types_of_list(c, "Tfinalize_func_args");
  set_dataset(c, std::make_shared<const GeneratorDataset>(
                     function_input(c, "init_func", 0, init), function_input(c, "next_func", init, next),
                     function_input(c, "finalize_func", init + next, finalize), declared_spec(c)));
}

}  // namespace

OpDef generator_dataset_op() {
  return {.name = "GeneratorDataset",
          .inputs =
              "init_func_other_args:Tinit_func_args; next_func_other_args:Tnext_func_args; "
              "finalize_func_other_args:Tfinalize_func_args",
          .outputs = "handle:variant",
          .attrs =
              "init_func:func; next_func:func; finalize_func:func; Tinit_func_args:list(type)>=0; "
              "Tnext_func_args:list(type)>=0; Tfinalize_func_args:list(type)>=0; output_types:list(type)>=1; "
              "output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host = "init_func_other_args, next_func_other_args, finalize_func_other_args, handle",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
