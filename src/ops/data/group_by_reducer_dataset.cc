#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// One element for each key: a state that a function begins, another joins with every element of the key, and a third
// finishes when all elements have been seen.
class GroupByReducerDataset final : public UnaryDataset {
 public:
  GroupByReducerDataset(DatasetPtr input, CalledFunction key, CalledFunction init, CalledFunction reduce,
                        CalledFunction finalize, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)),
        key_(std::move(key)),
        init_(std::move(init)),
        reduce_(std::move(reduce)),
        finalize_(std::move(finalize)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<GroupByReducerDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        while (!ended) collect(c);
        if (states.empty()) return false;
        const Element state = std::move(states.begin()->second);
        states.erase(states.begin());
        dataset_.finalize_(c, state, out);
        return true;
      }
      void collect(const IterateContext& c) {
        c.check();
        Element element, result;
        if (!input_->next(c, element)) {
          ended = true;
          return;
        }
        dataset_.key_(c, element, result);
        if (result.size() != 1 || result[0].dtype() != DType::Int64 || result[0].elements() != 1) {
          throw invalid_argument("`key_func` must return a scalar int64.");
        }
        const auto key = result[0].scalar<int64_t>();
        if (!states.contains(key)) {
          Element begin;
          dataset_.init_(c, {Tensor(key)}, begin);
          states.emplace(key, std::move(begin));
        }
        Element arguments = states[key];
        arguments.insert(arguments.end(), element.begin(), element.end());
        dataset_.reduce_(c, arguments, states[key]);
      }
      std::map<int64_t, Element> states;
      bool ended = false;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  CalledFunction key_, init_, reduce_, finalize_;
};

void cpu(KernelContext& c) {
  int at = 1;
  auto function = [&](const std::string& name) {
    const int count = types_of_list(c, "T" + name + "_other_arguments");
    CalledFunction f = function_input(c, name, at, count);
    at += count;
    return f;
  };
  CalledFunction key = function("key_func"), init = function("init_func"), reduce = function("reduce_func"),
                 finalize = function("finalize_func");
  set_dataset(c,
              std::make_shared<const GroupByReducerDataset>(dataset_input(c, 0), std::move(key), std::move(init),
                                                            std::move(reduce), std::move(finalize), declared_spec(c)));
}

}  // namespace

OpDef group_by_reducer_dataset_op() {
  return {.name = "GroupByReducerDataset",
          .inputs =
              "input_dataset:variant; key_func_other_arguments:Tkey_func_other_arguments; "
              "init_func_other_arguments:Tinit_func_other_arguments; "
              "reduce_func_other_arguments:Treduce_func_other_arguments; "
              "finalize_func_other_arguments:Tfinalize_func_other_arguments",
          .outputs = "handle:variant",
          .attrs =
              "key_func:func; init_func:func; reduce_func:func; finalize_func:func; "
              "Tkey_func_other_arguments:list(type)>=0; Tinit_func_other_arguments:list(type)>=0; "
              "Treduce_func_other_arguments:list(type)>=0; Tfinalize_func_other_arguments:list(type)>=0; "
              "output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host =
              "input_dataset, key_func_other_arguments, init_func_other_arguments, reduce_func_other_arguments, "
              "finalize_func_other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
