#include "collectives/open.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/errors.h"

namespace weir::collectives {
namespace {

// The folder of the library or extension that this function is part of.
std::filesystem::path own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::absolute(info.dli_fname, ignored).parent_path();
}

void* open_library(const std::string& file, std::string& why) {
  std::error_code ignored;
  // Programs that are linked statically lie beside the libraries' folder.
  for (const std::filesystem::path& folder : {own_folder() / "lib", own_folder(), own_folder() / "../lib"}) {
    const std::filesystem::path path = folder / file;
    if (!std::filesystem::exists(path, ignored)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = dlerror();
    return nullptr;
  }
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  why = dlerror();
  return nullptr;
}

}  // namespace

std::unique_ptr<Transport> open_transport(const std::string& name, const TransportOptions& options) {
  if (name == "alone") return make_alone();
  if (name != "mpi" && name != "gloo") {
    throw invalid_argument("there is no transport '{}' for collectives; there are mpi, gloo and alone", name);
  }
  std::string why;
  const std::string file = "libweir_" + name + ".so";
  void* library = open_library(file, why);
  if (!library) {
    throw not_found("collectives over {} need {}, which cannot be opened: {}. It is built when {} is installed", name,
                    file, why, name == "mpi" ? "Open MPI (libopenmpi-dev)" : "gloo (libgloo-dev)");
  }
  auto open = reinterpret_cast<OpenTransport>(dlsym(library, "weir_open_transport"));
  if (!open) throw not_found("{} is no transport: it has no weir_open_transport", file);
  try {
    return std::unique_ptr<Transport>(open(options));
  } catch (const std::exception& failure) {
    throw error(Code::Unavailable, "rank {} of {} cannot join the others over {}: {}", options.rank, options.size, name,
                failure.what());
  }
}

}  // namespace weir::collectives
