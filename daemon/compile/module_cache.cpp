#include "compile/module_cache.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_codec.h"
#include "core/compiled_fields.h"

namespace warpwright::compile {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json Encode(const core::CompiledModule& module) {
  json document = base::ToJson(module);
  std::vector<uint8_t> cubin(module.cubin.size());
  if (!cubin.empty()) std::memcpy(cubin.data(), module.cubin.data(), cubin.size());
  document["cubin"] = json::binary(std::move(cubin));
  return document;
}

Result<core::CompiledModule> Decode(const json& document) {
  WW_ASSIGN(core::CompiledModule module, base::FromJson<core::CompiledModule>(document));
  const auto& cubin = document.at("cubin").get_binary();
  module.cubin.resize(cubin.size());
  if (!cubin.empty()) std::memcpy(module.cubin.data(), cubin.data(), cubin.size());
  return module;
}

}  // namespace

std::string ModuleCache::Read(const std::string& key) const {
  if (folder_.empty()) return {};
  auto bytes = base::ReadFile(PathOf(key), 256u << 20);
  // The first 64 bytes are the SHA-256 of the rest: a file truncated by a crash or corrupted by a bad disk is detected.
  if (!bytes || bytes->size() < 64 || base::Sha256(std::string_view(*bytes).substr(64)) != bytes->substr(0, 64))
    return {};
  return bytes->substr(64);
}

void ModuleCache::Write(const std::string& key, std::string_view body) const {
  if (folder_.empty()) return;
  if (base::WriteFileAtomically(PathOf(key), base::Sha256(body) + std::string(body))) Trim();
}

std::optional<core::CompiledModule> ModuleCache::Load(const std::string& key) const {
  const std::string body = Read(key);
  if (body.empty()) return std::nullopt;
  try {
    auto module = Decode(json::from_cbor(body));
    if (!module || module->key != key) return std::nullopt;
    return std::move(*module);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void ModuleCache::Store(const core::CompiledModule& module) const {
  const auto cbor = json::to_cbor(Encode(module));
  Write(module.key, std::string(cbor.begin(), cbor.end()));
}

std::optional<WholeBuild> ModuleCache::LoadWhole(const std::string& key) const {
  const std::string body = Read(key);
  if (body.empty()) return std::nullopt;
  try {
    const json document = json::from_cbor(body);
    auto module = Decode(document.at("module"));
    if (!module || document.at("key") != key) return std::nullopt;
    return WholeBuild{std::move(*module), document.at("host_files").get<std::map<std::string, std::string>>(),
                      document.at("host_main").get<std::string>()};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void ModuleCache::StoreWhole(const std::string& key, const WholeBuild& whole) const {
  const auto cbor = json::to_cbor(json{{"key", key},
                                       {"module", Encode(whole.module)},
                                       {"host_files", whole.host_files},
                                       {"host_main", whole.host_main}});
  Write(key, std::string(cbor.begin(), cbor.end()));
}

void ModuleCache::Trim() const {
  struct Entry {
    fs::file_time_type time;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder_ / "modules", error)) {
    std::error_code ignored;
    entries.push_back({file.last_write_time(ignored), file.file_size(ignored), file.path()});
    total += entries.back().bytes;
  }
  if (total <= limit_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const auto& entry : entries) {
    if (total <= limit_bytes_ * 9 / 10) break;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace warpwright::compile
