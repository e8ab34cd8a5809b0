#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/errors.h"
#include "distributed/transport.h"

namespace weir::distributed {
namespace {

// Beside what this function is in (libweir.so, the Python extension), or beside the folder of a program.
std::vector<std::string> places(const std::string& library) {
  std::vector<std::string> list;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&find_transport), &info) != 0 && info.dli_fname) {
    std::error_code ignored;
    const std::filesystem::path self = std::filesystem::absolute(info.dli_fname, ignored);
    list.push_back((self.parent_path() / library).string());
    list.push_back((self.parent_path() / "lib" / library).string());
    list.push_back((self.parent_path().parent_path() / "lib" / library).string());
  }
  list.push_back(library);
  return list;
}

std::shared_ptr<Transport> load() {
  const std::string library = "libweir_grpc.so";
  std::string reasons;
  for (const std::string& path : places(library)) {
    // Never closed: gRPC's threads do not end with its last user.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* why = dlerror();
      reasons += fmt::format("\n  {}", why ? why : path);
      continue;
    }
    auto make = reinterpret_cast<MakeTransportFn>(dlsym(handle, kMakeTransport));
    Transport* transport = make ? make(kTransportInterface) : nullptr;
    if (transport) return std::shared_ptr<Transport>(transport, [](Transport*) {});
    reasons += fmt::format("\n  {} is of another version of Weir", path);
  }
  throw error(Code::Unimplemented,
              "servers and sessions on other machines need {}, which cannot be loaded. Weir builds it when gRPC is "
              "there (Debian: "
              "libgrpc++-dev).{}",
              library, reasons);
}

}  // namespace

std::shared_ptr<Transport> find_transport(const std::string& protocol) {
  if (protocol != "grpc")
    throw not_found("No server factory registered for the given ServerDef: protocol '{}'", protocol);
  // Its threads and connections belong to the process, like the library that has them.
  static std::mutex mutex;
  static std::shared_ptr<Transport> loaded;
  std::lock_guard lock(mutex);
  if (!loaded) loaded = load();
  return loaded;
}

}  // namespace weir::distributed
