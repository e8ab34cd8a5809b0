#include "devices/cuda/api.h"

#include "devices/cuda/open_library.h"

namespace weir::cuda {
namespace {

bool find_driver(void* library, Api& api) {
  return find(library, "cuInit", api.init) && find(library, "cuDriverGetVersion", api.driver_get_version) &&
         find(library, "cuDeviceGetCount", api.device_get_count) && find(library, "cuDeviceGet", api.device_get) &&
         find(library, "cuDeviceGetName", api.device_get_name) &&
         find(library, "cuDeviceTotalMem_v2", api.device_total_mem) &&
         find(library, "cuDeviceGetAttribute", api.device_get_attribute) &&
         find(library, "cuDevicePrimaryCtxRetain", api.primary_ctx_retain) &&
         find(library, "cuCtxSetCurrent", api.ctx_set_current) && find(library, "cuMemGetInfo_v2", api.mem_get_info) &&
         find(library, "cuMemAlloc_v2", api.mem_alloc) && find(library, "cuMemFree_v2", api.mem_free) &&
         find(library, "cuMemHostAlloc", api.mem_host_alloc) && find(library, "cuMemFreeHost", api.mem_free_host) &&
         find(library, "cuMemcpyHtoDAsync_v2", api.memcpy_htod_async) &&
         find(library, "cuMemcpyDtoHAsync_v2", api.memcpy_dtoh_async) &&
         find(library, "cuMemcpyDtoDAsync_v2", api.memcpy_dtod_async) &&
         find(library, "cuStreamCreate", api.stream_create) &&
         find(library, "cuStreamDestroy_v2", api.stream_destroy) &&
         find(library, "cuStreamWaitEvent", api.stream_wait_event) &&
         find(library, "cuEventCreate", api.event_create) && find(library, "cuEventRecord", api.event_record) &&
         find(library, "cuEventSynchronize", api.event_synchronize) &&
         find(library, "cuEventDestroy_v2", api.event_destroy) &&
         (find(library, "cuEventElapsedTime_v2", api.event_elapsed_time) ||
          find(library, "cuEventElapsedTime", api.event_elapsed_time)) &&
         find(library, "cuModuleLoadData", api.module_load_data) &&
         find(library, "cuModuleUnload", api.module_unload) &&
         find(library, "cuModuleGetFunction", api.module_get_function) &&
         find(library, "cuLaunchKernel", api.launch_kernel) && find(library, "cuGetErrorString", api.get_error_string);
}

void find_graphs(void* library, Api& api) {
  if (find(library, "cuStreamBeginCapture_v2", api.stream_begin_capture) &&
      find(library, "cuStreamEndCapture", api.stream_end_capture) &&
      find(library, "cuGraphInstantiateWithFlags", api.graph_instantiate) &&
      find(library, "cuGraphLaunch", api.graph_launch) && find(library, "cuGraphExecDestroy", api.graph_exec_destroy) &&
      find(library, "cuGraphDestroy", api.graph_destroy)) {
    return;
  }
  api.stream_begin_capture = nullptr;
}

bool find_compiler(void* library, Api& api) {
  return find(library, "nvrtcCreateProgram", api.create_program) &&
         find(library, "nvrtcCompileProgram", api.compile_program) &&
         find(library, "nvrtcGetProgramLogSize", api.get_log_size) &&
         find(library, "nvrtcGetProgramLog", api.get_log) && find(library, "nvrtcGetPTXSize", api.get_ptx_size) &&
         find(library, "nvrtcGetPTX", api.get_ptx) && find(library, "nvrtcDestroyProgram", api.destroy_program);
}

}  // namespace

const Api* open_compiler() {
  static Api api{};
  static const bool there = [] {
    void* compiler = open_toolkit_library("libnvrtc.so", {"13", "12", "11.2"});
    return compiler && find_compiler(compiler, api);
  }();
  return there ? &api : nullptr;
}

const Api* open_api() {
  static Api api{};
  static const bool there = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) return false;  // and the compiler, which is large, is not opened
    const Api* compiler = open_compiler();
    if (!compiler) return false;
    api = *compiler;
    find_graphs(driver, api);
    return find_driver(driver, api);
  }();
  return there ? &api : nullptr;
}

}  // namespace weir::cuda
