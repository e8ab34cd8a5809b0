#include "devices/opencl/api.h"

#include <dlfcn.h>

namespace weir::opencl {
namespace {

// False: the library lacks the function.
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Api& api) {
  return find(library, "clGetPlatformIDs", api.get_platform_ids) &&
         find(library, "clGetPlatformInfo", api.get_platform_info) &&
         find(library, "clGetDeviceIDs", api.get_device_ids) && find(library, "clGetDeviceInfo", api.get_device_info) &&
         find(library, "clCreateContext", api.create_context) &&
         find(library, "clReleaseContext", api.release_context) &&
         find(library, "clCreateCommandQueue", api.create_command_queue) &&
         find(library, "clReleaseCommandQueue", api.release_command_queue) &&
         find(library, "clCreateBuffer", api.create_buffer) &&
         find(library, "clReleaseMemObject", api.release_mem_object) &&
         find(library, "clCreateProgramWithSource", api.create_program_with_source) &&
         find(library, "clCreateProgramWithBinary", api.create_program_with_binary) &&
         find(library, "clBuildProgram", api.build_program) &&
         find(library, "clGetProgramInfo", api.get_program_info) &&
         find(library, "clGetProgramBuildInfo", api.get_program_build_info) &&
         find(library, "clReleaseProgram", api.release_program) && find(library, "clCreateKernel", api.create_kernel) &&
         find(library, "clReleaseKernel", api.release_kernel) && find(library, "clSetKernelArg", api.set_kernel_arg) &&
         find(library, "clEnqueueNDRangeKernel", api.enqueue_nd_range_kernel) &&
         find(library, "clEnqueueReadBuffer", api.enqueue_read_buffer) &&
         find(library, "clEnqueueWriteBuffer", api.enqueue_write_buffer) &&
         find(library, "clEnqueueCopyBuffer", api.enqueue_copy_buffer) &&
         find(library, "clEnqueueMapBuffer", api.enqueue_map_buffer) &&
         find(library, "clEnqueueUnmapMemObject", api.enqueue_unmap_mem_object) &&
         find(library, "clEnqueueMarkerWithWaitList", api.enqueue_marker) &&
         find(library, "clEnqueueBarrierWithWaitList", api.enqueue_barrier) &&
         find(library, "clWaitForEvents", api.wait_for_events) &&
         find(library, "clGetEventProfilingInfo", api.get_event_profiling_info) &&
         find(library, "clReleaseEvent", api.release_event) && find(library, "clFlush", api.flush);
}

}  // namespace

const Api* open_api() {
  static Api api;
  static const bool there = [] {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find_all(library, api);
  }();
  return there ? &api : nullptr;
}

}  // namespace weir::opencl
