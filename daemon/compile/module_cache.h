// Compiled modules on disk, by content address. A file that cannot be decoded counts as absent. When the folder exceeds
// its size limit, the oldest files are deleted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/compiled.h"

namespace warpwright::compile {

class ModuleCache {
 public:
  explicit ModuleCache(std::filesystem::path folder, uint64_t limit_bytes = 1u << 30)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  std::optional<core::CompiledModule> Load(const std::string& key) const;
  void Store(const core::CompiledModule& module) const;  // best effort: a full disk costs time, not the result

 private:
  std::filesystem::path PathOf(const std::string& key) const { return folder_ / "modules" / (key + ".json"); }
  void Trim() const;

  std::filesystem::path folder_;
  uint64_t limit_bytes_;
};

}  // namespace warpwright::compile
