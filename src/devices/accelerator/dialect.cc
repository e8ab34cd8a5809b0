#include "devices/accelerator/program.h"

// The three heads. What a kernel may use, in all of them:
//
//   KERNEL(name, BUFFER(T, x), int n) { OPEN(T, x); ... }   buffers are an address and an offset, opened in the body
//   FOR_EACH(i, n) { ... }       every i below n, each by one work item, in any order
//   GROUP, GROUPS                this group's number, and how many there are; a group has GROUP_ITEMS work items
//   ITEMS(i) { ... }             what each work item i of the group does; BARRIER stands between two such pieces
//   LOCAL(T, name, n)            an array of the group; PRIVATE(T, name, n) one of each item, used as MINE(name, i)[k]
//   INTS, FLOATS                 eight numbers by value, v[0] ... v[7]
//   CHECK_BAD(flag, i)           says that the value at place i is bad (AcceleratorMemory::check_later)
//   i8 u8 i16 u16 i32 u32 i64 u64 float double, the mathematical functions of OpenCL C, min and max of ints
//
// In C++ a group is one call: ITEMS is a loop, so that a barrier needs nothing.
namespace weir::accelerator {
namespace {

constexpr std::string_view kCommon = R"dialect(
typedef struct { int v[8]; } INTS;
typedef struct { float v[8]; } FLOATS;
#define NOTHING_BAD 0x7fffffff
)dialect";

constexpr std::string_view kOpenCl = R"dialect(
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef char i8; typedef uchar u8; typedef short i16; typedef ushort u16;
typedef int i32; typedef uint u32; typedef long i64; typedef ulong u64;
#define GROUP_ITEMS 64
#define GLOBAL __global
#define FUNCTION inline
#define KERNEL(name, ...) __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) __kernel void name(__VA_ARGS__)
#define BUFFER(TYPE, name) __global TYPE* name##_base, ulong name##_offset_
#define OPEN(TYPE, name) __global TYPE* name = (__global TYPE*)((__global char*)name##_base + name##_offset_)
#define GROUP ((int)get_group_id(0))
#define GROUPS ((int)get_num_groups(0))
#define FOR_EACH(i, n) for (int i = (int)get_global_id(0); i < (n); i += (int)get_global_size(0))
#define ITEMS(i) for (int i = (int)get_local_id(0), once_ = 1; once_; once_ = 0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL(TYPE, name, n) __local TYPE name[n]
#define PRIVATE(TYPE, name, n) TYPE name[n]
#define MINE(name, i) name
#define ATOMIC_MIN(p, v) atomic_min(p, v)
#define NAN_VALUE NAN
#define UMULHI(a, b) mul_hi((uint)(a), (uint)(b))
#define AS_FLOAT(u) as_float((uint)(u))
#define AS_DOUBLE(u) as_double((ulong)(u))
)dialect";

constexpr std::string_view kCuda = R"dialect(
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
typedef unsigned long long ulong_;
#define GROUP_ITEMS 64
#define GLOBAL
#define FUNCTION static __device__ inline
#define KERNEL(name, ...) extern "C" __global__ void __launch_bounds__(GROUP_ITEMS) name(__VA_ARGS__)
#define BUFFER(TYPE, name) TYPE* name##_base, u64 name##_offset_
#define OPEN(TYPE, name) TYPE* name = (TYPE*)((char*)name##_base + name##_offset_)
#define GROUP ((int)blockIdx.x)
#define GROUPS ((int)gridDim.x)
#define FOR_EACH(i, n) for (int i = (int)(blockIdx.x * GROUP_ITEMS + threadIdx.x); i < (n); i += (int)(gridDim.x * GROUP_ITEMS))
#define ITEMS(i) for (int i = (int)threadIdx.x, once_ = 1; once_; once_ = 0)
#define BARRIER __syncthreads()
#define LOCAL(TYPE, name, n) __shared__ TYPE name[n]
#define PRIVATE(TYPE, name, n) TYPE name[n]
#define MINE(name, i) name
#define ATOMIC_MIN(p, v) atomicMin(p, v)
#define NAN_VALUE __int_as_float(0x7fc00000)
#define UMULHI(a, b) __umulhi((u32)(a), (u32)(b))
#define AS_FLOAT(u) __uint_as_float((u32)(u))
#define AS_DOUBLE(u) __longlong_as_double((i64)(u))
)dialect";

constexpr std::string_view kCpp = R"dialect(
#define MATH1(name) extern "C" float name##f(float); extern "C" double name(double); \
  static inline float name(float x) { return name##f(x); }
#define MATH2(name) extern "C" float name##f(float, float); extern "C" double name(double, double); \
  static inline float name(float x, float y) { return name##f(x, y); }
MATH1(exp) MATH1(expm1) MATH1(log) MATH1(log1p) MATH1(sin) MATH1(cos) MATH1(tanh) MATH1(erf) MATH1(sqrt) MATH1(fabs)
MATH1(floor) MATH1(ceil) MATH1(rint) MATH2(pow) MATH2(atan2) MATH2(fmod)
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a < b ? b : a; }
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
struct Where { int group, groups; };
template <int... I> struct Places {};
template <class... A, int... I>
static void call_(void (*kernel)(const Where&, A...), const Where& where, void** a, Places<I...>) {
  kernel(where, *static_cast<A*>(a[I])...);
}
template <class... A>
static void call_(void (*kernel)(const Where&, A...), const Where& where, void** a) {
  call_(kernel, where, a, Places<__integer_pack(int(sizeof...(A)))...>());
}
template <class... A>
static int bytes_(void (*)(const Where&, A...), int i) {
  const int bytes[] = {int(sizeof(A))..., 0};
  return bytes[i];
}
static inline float as_float_(u32 u) { float f; __builtin_memcpy(&f, &u, 4); return f; }
static inline double as_double_(u64 u) { double f; __builtin_memcpy(&f, &u, 8); return f; }
#ifndef MEMORY_BIAS
#define MEMORY_BIAS 0  // what addresses of the device are larger by than those of the processor that plays it
#endif
#define GROUP_ITEMS 64
#define GLOBAL
#define FUNCTION static inline
#define KERNEL(name, ...) \
  static void name##_body(const Where& where_, __VA_ARGS__); \
  extern "C" void name(int group, int groups, void** a) { call_(name##_body, Where{group, groups}, a); } \
  extern "C" int name##_bytes(int argument) { return bytes_(name##_body, argument); } \
  static void name##_body([[maybe_unused]] const Where& where_, __VA_ARGS__)
#define BUFFER(TYPE, name) TYPE* name##_base, u64 name##_offset_
#define OPEN(TYPE, name) [[maybe_unused]] TYPE* name = (TYPE*)((u64)name##_base - MEMORY_BIAS + name##_offset_)
#define GROUP (where_.group)
#define GROUPS (where_.groups)
#define FOR_EACH(i, n) \
  for (int block_ = where_.group * GROUP_ITEMS; block_ < (n); block_ += where_.groups * GROUP_ITEMS) \
    for (int i = block_; i < min(block_ + GROUP_ITEMS, (n)); ++i)
#define ITEMS(i) for (int i = 0; i < GROUP_ITEMS; ++i)
#define BARRIER
#define LOCAL(TYPE, name, n) TYPE name[n]
#define PRIVATE(TYPE, name, n) TYPE name[GROUP_ITEMS][n]
#define MINE(name, i) name[i]
#define ATOMIC_MIN(p, v) (*(p) = min(*(p), v))
#define NAN_VALUE as_float_(0x7fc00000)
#define UMULHI(a, b) ((u32)(((u64)(u32)(a) * (u32)(b)) >> 32))
#define AS_FLOAT(u) as_float_(u)
#define AS_DOUBLE(u) as_double_(u)
)dialect";

std::string with_common(std::string_view head) { return std::string(head) + std::string(kCommon); }

}  // namespace

std::string_view dialect_head(Language language) {
  static const std::string heads[] = {with_common(kOpenCl), with_common(kCuda), with_common(kCpp)};
  return heads[static_cast<int>(language)];
}

}  // namespace weir::accelerator
