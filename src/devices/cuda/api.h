#pragma once

#include <cstddef>
#include <cstdint>

// The part of CUDA's driver interface and of NVRTC that the driver uses, found when the process runs: programs are
// built without CUDA's headers and run without its libraries. Tests give a table of their own.
namespace weir::cuda {

using DeviceId = int;
using Context = struct CUctx_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;
using Address = unsigned long long;
using CompilerProgram = struct _nvrtcProgram*;

enum : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchFailed = 719,
};
enum : int { kMultiprocessors = 16, kMajor = 75, kMinor = 76 };  // attributes of a device
enum : unsigned { kNonBlockingStream = 1, kTiming = 0, kNoTiming = 2, kPortable = 1 };

struct Api {
  int (*init)(unsigned);
  int (*driver_get_version)(int*);
  int (*device_get_count)(int*);
  int (*device_get)(DeviceId*, int);
  int (*device_get_name)(char*, int, DeviceId);
  int (*device_total_mem)(size_t*, DeviceId);
  int (*device_get_attribute)(int*, int, DeviceId);
  int (*primary_ctx_retain)(Context*, DeviceId);
  int (*ctx_set_current)(Context);
  int (*mem_get_info)(size_t* free, size_t* all);
  int (*mem_alloc)(Address*, size_t);
  int (*mem_free)(Address);
  int (*mem_host_alloc)(void**, size_t, unsigned);
  int (*mem_free_host)(void*);
  int (*memcpy_htod_async)(Address, const void*, size_t, Stream);
  int (*memcpy_dtoh_async)(void*, Address, size_t, Stream);
  int (*memcpy_dtod_async)(Address, Address, size_t, Stream);
  int (*stream_create)(Stream*, unsigned);
  int (*stream_destroy)(Stream);
  int (*stream_wait_event)(Stream, Event, unsigned);
  int (*event_create)(Event*, unsigned);
  int (*event_record)(Event, Stream);
  int (*event_synchronize)(Event);
  int (*event_destroy)(Event);
  int (*event_elapsed_time)(float*, Event, Event);
  int (*module_load_data)(Module*, const void*);
  int (*module_unload)(Module);
  int (*module_get_function)(Function*, Module, const char*);
  int (*launch_kernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                       void**);
  int (*get_error_string)(int, const char**);

  // Graphs: all null with a driver that lacks one of them (before CUDA 11.4).
  int (*stream_begin_capture)(Stream, int);
  int (*stream_end_capture)(Stream, Graph*);
  int (*graph_instantiate)(GraphExec*, Graph, unsigned long long);
  int (*graph_launch)(GraphExec, Stream);
  int (*graph_exec_destroy)(GraphExec);
  int (*graph_destroy)(Graph);

  // NVRTC, the compiler.
  int (*create_program)(CompilerProgram*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile_program)(CompilerProgram, int, const char* const*);
  int (*get_log_size)(CompilerProgram, size_t*);
  int (*get_log)(CompilerProgram, char*);
  int (*get_ptx_size)(CompilerProgram, size_t*);
  int (*get_ptx)(CompilerProgram, char*);
  int (*destroy_program)(CompilerProgram*);
};

// Null: the machine lacks libcuda.so.1 or NVRTC. The libraries stay open.
const Api* open_api();
// The compiler alone, which needs no device: null when there is none.
const Api* open_compiler();

}  // namespace weir::cuda
