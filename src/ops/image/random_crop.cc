#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/generator.h"
#include "ops/random/word_stream.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 3);
  c.require_rank(1, 1);
  const Shape image = c.input(0).merged(Shape::unknown_dims(3));
  if (c.input(1).has_rank() && c.input(1)[0] != kUnknown && c.input(1)[0] != 2) {
    c.fail("shape_t must have two elements, got shape " + c.input(1).str());
  }
  const Shape size = shape_argument(c, 1).merged(Shape::unknown_dims(2));
  for (int i : {1, 0}) {
    if (size[i] != kUnknown && image[i] != kUnknown && size[i] > image[i]) {
      const char* what = i == 0 ? "height" : "width";
      throw error(Code::FailedPrecondition, "{} must be >= target_{}: {} = {}, target_{} = {}", what, what, what,
                  image[i], what, size[i]);
    }
  }
  c.set_output(0, Shape{size[0], size[1], image[2]});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape &in = c.shape(0), &out = c.output_shape();
    WordStream words(c.state<GeneratorRef>().generator->philox.reserve(1));
    auto offset = [&](int dimension) -> int64_t {
      const int64_t room = in[dimension] - out[dimension];
      return room > 0 ? words.next() % static_cast<uint32_t>(room + 1) : 0;
    };
    const int64_t left = offset(1), top = offset(0);
    const int64_t row = out[1] * out[2];
    for (int64_t y = 0; y < out[0]; ++y) {
      std::copy_n(c.input<T>(0) + ((top + y) * in[1] + left) * in[2], row, c.output<T>() + y * row);
    }
  }
};

}  // namespace

// Deprecated: what tf.image.random_crop was until 0.8.
OpDef random_crop_op() {
  return {.name = "RandomCrop",
          .inputs = "image:T; size:int64",
          .outputs = "output:T",
          .attrs = "T:type{uint8,int8,int16,int32,int64,float,double}; seed:int=0; seed2:int=0",
          .flags = "stateful",
          .host = "size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<uint8_t, int8_t, int16_t, int32_t, int64_t, float, double>, Cpu>,
                  .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
