#include "ops/control/py_func.h"

#include <atomic>

#include "base/denormals.h"
#include "base/errors.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

std::atomic<CallPythonFunction> python_caller = nullptr;

void infer(InferContext&) {}  // only the function knows

void cpu(KernelContext& c) {
  const CallPythonFunction call = python_caller.load();
  if (!call) c.fail("functions of Python can only be called in Python", Code::Unimplemented);
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.inputs(); ++i) inputs.push_back(c.input_tensor(i));
  const auto& types = c.node().attr<std::vector<DType>>("Tout");
  const std::stop_token* stop = c.control() ? c.control()->program : nullptr;
  DenormalScope denormals(kKeepDenormals);  // the program's own code computes as it does elsewhere
  std::vector<Tensor> outputs = call(c.node().attr<std::string>("token"), std::move(inputs), types, stop);
  for (size_t i = 0; i < types.size(); ++i) c.set_output(static_cast<int>(i), std::move(outputs[i]));
}

OpDef row(std::string_view name, std::string_view flags,
          std::string_view attrs = "token:string; Tin:list(type)>=0; Tout:list(type)>=0") {
  return {.name = name,
          .inputs = "input:Tin",
          .outputs = "output:Tout",
          .attrs = attrs,
          .flags = flags,
          .host = "input, output",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .waits = flags == "stateful"};  // functions may wait for each other
}

}  // namespace

void set_python_caller(CallPythonFunction caller) { python_caller = caller; }

OpDef py_func_op() { return row("PyFunc", "stateful"); }
OpDef py_func_stateless_op() { return row("PyFuncStateless", ""); }
OpDef eager_py_func_op() {
  return row("EagerPyFunc", "stateful", "token:string; is_async:bool=False; Tin:list(type)>=0; Tout:list(type)>=0");
}

}  // namespace weir::ops
