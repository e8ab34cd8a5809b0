#include "devices/opencl/blast.h"

#include <dlfcn.h>

namespace weir::opencl {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const BlastApi* open_blast() {
  static BlastApi api{};
  static const bool there = [] {
    void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "CLBlastSgemm", api.sgemm) && find(library, "CLBlastDgemm", api.dgemm) &&
           find(library, "CLBlastSgemmStridedBatched", api.sgemm_batched) &&
           find(library, "CLBlastDgemmStridedBatched", api.dgemm_batched);
  }();
  return there ? &api : nullptr;
}

}  // namespace weir::opencl
