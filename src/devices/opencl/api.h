#pragma once

#include <cstddef>
#include <cstdint>

// The part of OpenCL 1.2's interface that the driver uses, found in libOpenCL.so.1 when the process runs: programs are
// built without its headers and run without the library.
namespace weir::opencl {

using Platform = struct cl_platform*;
using DeviceId = struct cl_device*;
using Context = struct cl_context*;
using CommandQueue = struct cl_queue*;
using Mem = struct cl_memory*;
using Program = struct cl_program_object*;
using KernelObject = struct cl_kernel_object*;
using Event = struct cl_event_object*;

enum : int32_t {
  kSuccess = 0,
  kDeviceNotFound = -1,
  kDeviceNotAvailable = -2,
  kMemObjectAllocationFailure = -4,
  kOutOfResources = -5,
  kOutOfHostMemory = -6,
  kBuildProgramFailure = -11,
  kInvalidBufferSize = -61,
  kPlatformNotFound = -1001,
};
enum : uint64_t { kTypeCpu = 1 << 1, kTypeGpu = 1 << 2, kTypeAccelerator = 1 << 3, kTypeAll = 0xffffffff };
enum : uint64_t { kMemReadWrite = 1 << 0, kMemAllocHostPtr = 1 << 4 };
enum : uint32_t {
  kPlatformVersion = 0x0901,
  kPlatformName = 0x0902,
  kDeviceType = 0x1000,
  kDeviceMaxComputeUnits = 0x1002,
  kDeviceMaxMemAllocSize = 0x1010,
  kDeviceGlobalMemSize = 0x101F,
  kDeviceAvailable = 0x1027,
  kDeviceName = 0x102B,
  kDriverVersion = 0x102D,
  kDeviceVersion = 0x102F,
  kDeviceExtensions = 0x1030,
  kProgramBinarySizes = 0x1165,
  kProgramBinaries = 0x1166,
  kProgramBuildLog = 0x1183,
};
enum : uint64_t { kProfilingQueue = 2 };
enum : uint32_t { kProfilingEnd = 0x1283 };
enum : uint64_t { kMapRead = 1, kMapWrite = 2 };

struct Api {
  int32_t (*get_platform_ids)(uint32_t, Platform*, uint32_t*);
  int32_t (*get_platform_info)(Platform, uint32_t, size_t, void*, size_t*);
  int32_t (*get_device_ids)(Platform, uint64_t, uint32_t, DeviceId*, uint32_t*);
  int32_t (*get_device_info)(DeviceId, uint32_t, size_t, void*, size_t*);
  Context (*create_context)(const intptr_t*, uint32_t, const DeviceId*,
                            void (*)(const char*, const void*, size_t, void*), void*, int32_t*);
  int32_t (*release_context)(Context);
  CommandQueue (*create_command_queue)(Context, DeviceId, uint64_t, int32_t*);
  int32_t (*release_command_queue)(CommandQueue);
  Mem (*create_buffer)(Context, uint64_t, size_t, void*, int32_t*);
  int32_t (*release_mem_object)(Mem);
  Program (*create_program_with_source)(Context, uint32_t, const char**, const size_t*, int32_t*);
  Program (*create_program_with_binary)(Context, uint32_t, const DeviceId*, const size_t*, const unsigned char**,
                                        int32_t*, int32_t*);
  int32_t (*build_program)(Program, uint32_t, const DeviceId*, const char*, void (*)(Program, void*), void*);
  int32_t (*get_program_info)(Program, uint32_t, size_t, void*, size_t*);
  int32_t (*get_program_build_info)(Program, DeviceId, uint32_t, size_t, void*, size_t*);
  int32_t (*release_program)(Program);
  KernelObject (*create_kernel)(Program, const char*, int32_t*);
  int32_t (*release_kernel)(KernelObject);
  int32_t (*set_kernel_arg)(KernelObject, uint32_t, size_t, const void*);
  int32_t (*enqueue_nd_range_kernel)(CommandQueue, KernelObject, uint32_t, const size_t*, const size_t*, const size_t*,
                                     uint32_t, const Event*, Event*);
  int32_t (*enqueue_read_buffer)(CommandQueue, Mem, uint32_t, size_t, size_t, void*, uint32_t, const Event*, Event*);
  int32_t (*enqueue_write_buffer)(CommandQueue, Mem, uint32_t, size_t, size_t, const void*, uint32_t, const Event*,
                                  Event*);
  int32_t (*enqueue_copy_buffer)(CommandQueue, Mem, Mem, size_t, size_t, size_t, uint32_t, const Event*, Event*);
  void* (*enqueue_map_buffer)(CommandQueue, Mem, uint32_t, uint64_t, size_t, size_t, uint32_t, const Event*, Event*,
                              int32_t*);
  int32_t (*enqueue_unmap_mem_object)(CommandQueue, Mem, void*, uint32_t, const Event*, Event*);
  int32_t (*enqueue_marker)(CommandQueue, uint32_t, const Event*, Event*);
  int32_t (*enqueue_barrier)(CommandQueue, uint32_t, const Event*, Event*);
  int32_t (*wait_for_events)(uint32_t, const Event*);
  int32_t (*get_event_profiling_info)(Event, uint32_t, size_t, void*, size_t*);
  int32_t (*release_event)(Event);
  int32_t (*flush)(CommandQueue);
};

// Null: the machine has no OpenCL. The library stays open.
const Api* open_api();

}  // namespace weir::opencl
