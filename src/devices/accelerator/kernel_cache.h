#pragma once

#include <optional>
#include <string>

#include "devices/accelerator/driver.h"

namespace weir::accelerator {

// Compiled kernels on disk, one file each, found by a hash of their source, the driver with its version and the device.
// A file is written under another name and renamed, so several processes may use one folder; one that is cut short or
// belongs to something else is compiled again. Nothing here fails: without a folder there is just no cache.
// Thread-safe.
class KernelCache {
 public:
  // An empty folder: no cache.
  explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}
  // WEIR_KERNEL_CACHE, or "weir/kernels" in the user's cache folder; WEIR_KERNEL_CACHE= switches it off.
  static std::string default_folder();

  std::optional<std::string> find(const DriverInfo& info, const std::string& source) const;
  void keep(const DriverInfo& info, const std::string& source, const std::string& binary) const;

 private:
  std::string path(const std::string& key) const;
  std::string folder_;
};

}  // namespace weir::accelerator
