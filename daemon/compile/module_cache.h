// Compiled modules on disk, by content address. A file that cannot be decoded counts as absent. When the folder exceeds
// its size limit, the oldest files are deleted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "compile/nvcc.h"
#include "core/compiled.h"

namespace warpwright::compile {

class ModuleCache {
 public:
  explicit ModuleCache(std::filesystem::path folder, uint64_t limit_bytes = 1u << 30)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  std::optional<core::CompiledModule> Load(const std::string& key) const;
  void Store(const core::CompiledModule& module) const;  // best effort: a full disk costs time, not the result
  // What nvcc made of a whole file, under any key that tells it from others.
  std::optional<WholeBuild> LoadWhole(const std::string& key) const;
  void StoreWhole(const std::string& key, const WholeBuild& whole) const;

 private:
  std::filesystem::path PathOf(const std::string& key) const { return folder_ / "modules" / (key + ".json"); }
  std::string Read(const std::string& key) const;  // CBOR; empty: absent
  void Write(const std::string& key, std::string_view body) const;
  void Trim() const;

  std::filesystem::path folder_;
  uint64_t limit_bytes_;
};

}  // namespace warpwright::compile
