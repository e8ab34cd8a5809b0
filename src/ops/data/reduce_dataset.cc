#include "base/errors.h"
#include "io/deflate.h"
#include "ops/control/output_shapes.h"
#include "ops/data/iterator.h"
#include "weir/records.h"

// Operations that go over a whole data set in one run.
namespace weir::ops {
namespace {

struct State {
  std::shared_ptr<FunctionRunner> runner;
};
State prepare(PrepareContext& c) { return {c.functions()}; }

void infer(InferContext& c) {
  c.require_scalar(0);
  infer_declared_shapes(c);
}

void reduce(KernelContext& c) {
  const int states = types_of_list(c, "Tstate");
  Element state;
  for (int i = 0; i < states; ++i) state.push_back(c.input_tensor(1 + i));
  const CalledFunction f = function_input(c, "f", 1 + states, types_of_list(c, "Targuments"));
  for_each_element(c, c.state<State>().runner, *dataset_input(c, 0),
                   [&](const IterateContext& context, Element& element) {
                     Element arguments = std::move(state);
                     arguments.insert(arguments.end(), element.begin(), element.end());
                     f(context, arguments, state);
                     return true;
                   });
  give_element(c, std::move(state));
}

void single_element(KernelContext& c) {
  Element only;
  int64_t count = 0;
  for_each_element(c, c.state<State>().runner, *dataset_input(c, 0), [&](const IterateContext&, Element& element) {
    if (count == 0) only = std::move(element);
    return ++count < 2;
  });
  if (count == 0) throw invalid_argument("Dataset was empty.");
  if (count > 1) throw invalid_argument("Dataset had more than one element.");
  give_element(c, std::move(only));
}

void to_records(KernelContext& c) {
  const DatasetPtr dataset = dataset_input(c, 0);
  const std::vector<DType>& types = dataset->spec().types;
  if (types.size() != 1 || types[0] != DType::String) {
    throw invalid_argument("The dataset must have exactly one component, and it must be a string.");
  }
  RecordWriter writer(c.scalar<std::string>(1), {.compression = io::compression_from_name(c.scalar<std::string>(2))});
  for_each_element(c, c.state<State>().runner, *dataset, [&](const IterateContext&, Element& element) {
    writer.write(element[0].scalar<std::string>());
    return true;
  });
  writer.close();
}

void cardinality(KernelContext& c) { *c.output<int64_t>() = dataset_input(c, 0)->cardinality(); }

}  // namespace

OpDef reduce_dataset_op() {
  return {.name = "ReduceDataset",
          .inputs = "input_dataset:variant; initial_state:Tstate; other_arguments:Targuments",
          .outputs = "components:output_types",
          .attrs =
              "f:func; Tstate:list(type)>=1; Targuments:list(type)>=0; output_types:list(type)>=1; "
              "output_shapes:list(shape)>=1; use_inter_op_parallelism:bool=True",
          .flags = "stateful",
          .host = "input_dataset, initial_state, other_arguments, components",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<reduce>, .prepare = prepared<prepare>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}
OpDef dataset_to_single_element_op() {
  return {.name = "DatasetToSingleElement",
          .inputs = "dataset:variant",
          .outputs = "components:output_types",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "dataset, components",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<single_element>, .prepare = prepared<prepare>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}
OpDef dataset_to_tf_record_op() {
  return {.name = "DatasetToTFRecord",
          .inputs = "input_dataset:variant; filename:string; compression_type:string",
          .flags = "stateful",
          .host = "input_dataset, filename, compression_type",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<to_records>, .prepare = prepared<prepare>},
          .waits = true,
          .host_only = true};
}
OpDef dataset_cardinality_op() {
  return {.name = "DatasetCardinality",
          .inputs = "input_dataset:variant",
          .outputs = "cardinality:int64",
          .host = "input_dataset, cardinality",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cardinality>},
          .host_only = true};
}

}  // namespace weir::ops
