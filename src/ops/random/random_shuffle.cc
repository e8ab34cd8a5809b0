#include <algorithm>
#include <numeric>

#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/random/generator.h"
#include "ops/random/word_stream.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// None when there are no elements: however many rows have no bytes, they need no order.
int64_t row_count(const Shape& shape) { return shape.elements() == 0 ? 0 : shape.rank() > 0 ? shape.dims()[0] : 1; }

GeneratorRef prepare(PrepareContext& c) {
  c.set_scratch(static_cast<size_t>(row_count(c.input(0))) * sizeof(int64_t));
  return prepare_generator(c);
}

// The order is drawn first: row i changes places with one of those behind it, or none.
void cpu(KernelContext& c) {
  int64_t rows = row_count(c.shape(0)), width = rows > 0 ? c.elements(0) / rows : 0;
  auto* order = static_cast<int64_t*>(c.scratch());
  std::iota(order, order + rows, 0);
  if (rows > 1 && width > 0) {
    WordStream words(c.state<GeneratorRef>().generator->philox.reserve((rows - 1 + 3) / 4));
    for (int64_t i = 0; i + 1 < rows; ++i) {
      std::swap(order[i], order[i + words.next() % static_cast<uint32_t>(rows - i)]);
    }
  }
  with_element_type(c.dtype(0), [&]<class T>(T) {
    const T* from = c.input<T>(0);
    T* to = c.output<T>();
    for (int64_t i = 0; i < rows; ++i) std::copy_n(from + order[i] * width, width, to + i * width);
  });
}

}  // namespace

OpDef random_shuffle_op() {
  return {.name = "RandomShuffle",
          .inputs = "value:T",
          .outputs = "output:T",
          .attrs = "seed:int=0; seed2:int=0; T:type",
          .flags = "stateful",
          .infer = infer::unchanged,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output random_shuffle(const In& value, const SeedOptions& options, std::string_view name) {
  Seeds seeds = ops::graph_of({&value}).next_seeds(options.seed);
  return NodeBuilder("RandomShuffle", name).input(value).attr("seed", seeds.seed).attr("seed2", seeds.seed2).output();
}

}  // namespace weir
