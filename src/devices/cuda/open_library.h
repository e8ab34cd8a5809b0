#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace weir::cuda {

// False: the library lacks the function.
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// A library of CUDA's toolkit: as the linker finds it, with one of the versions, or where the toolkit is installed.
// Null: it is nowhere. It stays open.
inline void* open_toolkit_library(const std::string& name, std::initializer_list<const char*> versions) {
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  for (const char* version : versions) {
    if (void* library = dlopen((name + "." + version).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace weir::cuda
