#include "base/errors.h"
#include "ops/control/output_shapes.h"
#include "ops/data/iterator.h"
#include "ops/data/optional.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  infer_declared_shapes(c);
}

void start(KernelContext& c, Completion done) {
  c.resource<IteratorResource>(0).next(
      control_of(c), [&c, done](bool got, Element&& element, std::exception_ptr error) {
        if (!error && !got) error = std::make_exception_ptr(weir::error(Code::OutOfRange, "End of sequence"));
        try {
          if (!error) give_element(c, std::move(element));
        } catch (...) {
          error = std::current_exception();
        }
        done(std::move(error));
      });
}

void start_optional(KernelContext& c, Completion done) {
  c.resource<IteratorResource>(0).next(control_of(c),
                                       [&c, done](bool got, Element&& element, std::exception_ptr error) {
                                         try {
                                           if (!error) c.set_output(0, optional_tensor(got, std::move(element)));
                                         } catch (...) {
                                           error = std::current_exception();
                                         }
                                         done(std::move(error));
                                       });
}

OpDef row(std::string_view name, std::string_view outputs, void (*infer_outputs)(InferContext&),
          StartFn (*begin)(const NodeView&), std::string_view host) {
  return {.name = name,
          .inputs = "iterator:resource",
          .outputs = outputs,
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = host,
          .infer = infer_outputs,
          .gradient = not_differentiable,
          .cpu = {.start = begin},
          .waits = true};
}

}  // namespace

OpDef iterator_get_next_op() {
  return row("IteratorGetNext", "components:output_types", infer, start_any<start>, "components");
}
OpDef iterator_get_next_sync_op() {
  return row("IteratorGetNextSync", "components:output_types", infer, start_any<start>, "components");
}
OpDef iterator_get_next_as_optional_op() {
  return row("IteratorGetNextAsOptional", "optional:variant", infer_dataset<0>, start_any<start_optional>, "");
}

}  // namespace weir::ops
