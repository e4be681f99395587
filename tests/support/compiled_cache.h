// Where tests keep what they compile: the recorder's shim, recorders and modules. One folder for all programs and runs:
// everything in it goes by its content and appears whole, and the shim alone takes g++ five seconds.
#pragma once

#include <filesystem>

namespace warpwright {

// For --cache.
inline const std::filesystem::path& CompiledCache() {
  static const std::filesystem::path folder = [] {
    auto made = std::filesystem::path(WW_BINARY_DIR) / "test-cache" / "warpwright";
    std::filesystem::create_directories(made);
    return made;
  }();
  return folder;
}
// The same for XDG_CACHE_HOME.
inline std::filesystem::path CompiledCacheHome() { return CompiledCache().parent_path(); }

}  // namespace warpwright
