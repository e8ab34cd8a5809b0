#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/random/generator.h"

namespace weir::accelerator {
namespace {

// The CPU's streams (devices/cpu/philox.h): an item makes the elements of one block.
constexpr const char* kSource = R"kernel(
#define ROUND { \
    const u32 h0 = UMULHI(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = UMULHI(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2; \
    c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0; \
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u; }
typedef struct { u32 w[4]; } BLOCK;
FUNCTION BLOCK philox(u64 key, u64 low, u64 high, u64 block) {
  const u64 at = low + block;
  if (at < low) high += 1;
  u32 c0 = (u32)at, c1 = (u32)(at >> 32), c2 = (u32)high, c3 = (u32)(high >> 32), k0 = (u32)key, k1 = (u32)(key >> 32);
  ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND
  BLOCK b;
  b.w[0] = c0; b.w[1] = c1; b.w[2] = c2; b.w[3] = c3;
  return b;
}
FUNCTION float unit(u32 word) { return AS_FLOAT((127u << 23) | (word & 0x7FFFFFu)) - 1.0f; }
#define NORMALS(a, b, first, second) \
    const float u_ = unit(a) > 1.0e-7f ? unit(a) : 1.0e-7f, angle_ = 6.2831853071795864769f * unit(b); \
    const float radius_ = sqrt(-2.0f * log(u_)); \
    const float first = sin(angle_) * radius_, second = cos(angle_) * radius_;

KERNEL(uniform, BUFFER(float, out), u64 key, u64 low, u64 high, int n, int blocks) {
  OPEN(float, out);
  FOR_EACH(b, blocks) {
    const BLOCK block = philox(key, low, high, (u64)b);
    for (int i = 0; i < 4; ++i) {
      if (b * 4 + i < n) out[b * 4 + i] = unit(block.w[i]);
    }
  }
}
KERNEL(normal, BUFFER(float, out), u64 key, u64 low, u64 high, int n, int blocks) {
  OPEN(float, out);
  FOR_EACH(b, blocks) {
    const BLOCK block = philox(key, low, high, (u64)b);
    for (int i = 0; i < 4; i += 2) {
      NORMALS(block.w[i], block.w[i + 1], first, second)
      if (b * 4 + i < n) out[b * 4 + i] = first;
      if (b * 4 + i + 1 < n) out[b * 4 + i + 1] = second;
    }
  }
}
KERNEL(truncated_normal, BUFFER(float, out), u64 key, u64 low, u64 high, int n, int blocks) {
  OPEN(float, out);
  FOR_EACH(b, blocks) {
    int at = b * 4;
    const int end = min(at + 4, n);
    for (int draw = 0; at < end; ++draw) {
      const BLOCK block = philox(key, low, high, (u64)b * 256 + (u64)draw);
      for (int i = 0; i < 4; i += 2) {
        NORMALS(block.w[i], block.w[i + 1], first, second)
        if (fabs(first) < 2.0f && at < end) out[at++] = first;
        if (fabs(second) < 2.0f && at < end) out[at++] = second;
      }
    }
  }
}
KERNEL(uniform_int32, BUFFER(i32, out), u64 key, u64 low, u64 high, int n, int blocks, i64 least, i64 range) {
  OPEN(i32, out);
  FOR_EACH(b, blocks) {
    const BLOCK block = philox(key, low, high, (u64)b);
    for (int i = 0; i < 4; ++i) {
      if (b * 4 + i < n) out[b * 4 + i] = (i32)((u32)least + block.w[i] % (u32)range);
    }
  }
}
KERNEL(uniform_int64, BUFFER(i64, out), u64 key, u64 low, u64 high, int n, int blocks, i64 least, i64 range) {
  OPEN(i64, out);
  FOR_EACH(b, blocks) {
    const BLOCK block = philox(key, low, high, (u64)b);
    for (int i = 0; i < 2; ++i) {
      const u64 bits = ((u64)block.w[2 * i + 1] << 32) | block.w[2 * i];
      if (b * 2 + i < n) out[b * 2 + i] = (i64)((u64)least + bits % (u64)range);
    }
  }
}
)kernel";
const KernelDef kUniform(kSource, "uniform"), kNormal(kSource, "normal"), kTruncated(kSource, "truncated_normal"),
    kInt32(kSource, "uniform_int32"), kInt64(kSource, "uniform_int64");

template <const KernelDef& kKernel>
void draw(KernelContext& c) {
  const int64_t n = c.output_elements(), blocks = (n + 3) / 4;
  const cpu::Philox p = c.state<ops::GeneratorRef>().generator->philox.reserve_outputs(n);
  if (n == 0) return;
  Launch(kKernel.of())
      .buffer(c.raw_output())
      .value(p.key)
      .value(p.counter_low)
      .value(p.counter_high)
      .count(n)
      .count(blocks)
      .items(blocks);
}

void draw_integers(KernelContext& c) {
  const bool wide = c.dtype(1) == DType::Int64;
  const int64_t low = wide ? c.scalar<int64_t>(1) : c.scalar<int32_t>(1);
  const int64_t high = wide ? c.scalar<int64_t>(2) : c.scalar<int32_t>(2);
  const int64_t n = c.output_elements(), blocks = wide ? (n + 1) / 2 : (n + 3) / 4;
  if (n == 0) return;
  if (low >= high) throw invalid_argument("Need minval < maxval, got {} >= {}", low, high);
  const cpu::Philox p = c.state<ops::GeneratorRef>().generator->philox.reserve_outputs(n);
  Launch(wide ? kInt64.of() : kInt32.of())
      .buffer(c.raw_output())
      .value(p.key)
      .value(p.counter_low)
      .value(p.counter_high)
      .count(n)
      .count(blocks)
      .value(low)
      .value(static_cast<int64_t>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low)))
      .items(blocks);
}

bool gives_float32(const NodeView&, std::span<const DType>, std::span<const DType> outputs) {
  return outputs[0] == DType::Float32;
}

}  // namespace

std::span<const KernelRow> random_kernels() {
  static const KernelRow rows[] = {
      {"RandomUniform", {.select = always<draw<kUniform>>, .prepare = prepared<ops::prepare_generator>}, gives_float32},
      {"RandomStandardNormal",
       {.select = always<draw<kNormal>>, .prepare = prepared<ops::prepare_generator>},
       gives_float32},
      {"TruncatedNormal",
       {.select = always<draw<kTruncated>>, .prepare = prepared<ops::prepare_generator>},
       gives_float32},
      {"RandomUniformInt", {.select = always<draw_integers>, .prepare = prepared<ops::prepare_generator>}},
  };
  return rows;
}

}  // namespace weir::accelerator
