#include "ops/collective/collective.h"

#include "ops/run_control.h"

namespace weir::ops {

void start_collective(KernelContext& c, Completion done, collectives::Engine& engine, collectives::Key key) {
  key.name = c.node().name();
  key.dtype = c.dtype(0);
  const RunControl* control = c.control();
  engine.submit(std::move(key), c.input_tensor(0), control ? control->stop : std::stop_token(),
                [&c, done](std::exception_ptr error, Tensor result) {
                  if (!error) c.set_output(0, std::move(result));
                  done(std::move(error));
                });
}

}  // namespace weir::ops
