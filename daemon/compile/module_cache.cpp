#include "compile/module_cache.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json Encode(const CompiledModule& module) {
  json kernels = json::array();
  for (const auto& k : module.kernels)
    kernels.push_back({{"kernel", k.kernel}, {"symbol", k.symbol}, {"registers", k.registers}, {"spill_store", k.spill_store_bytes},
                       {"spill_load", k.spill_load_bytes}, {"shared", k.static_shared_bytes}, {"local", k.local_bytes},
                       {"constant", k.constant_bytes}, {"max_threads", k.max_threads_per_block}});
  std::vector<uint8_t> cubin(module.cubin.size());
  if (!cubin.empty()) std::memcpy(cubin.data(), module.cubin.data(), cubin.size());
  return {{"key", module.key}, {"arch", module.arch}, {"ptx", module.ptx}, {"cubin", json::binary(std::move(cubin))}, {"log", module.log}, {"kernels", kernels}};
}

CompiledModule Decode(const json& document) {
  CompiledModule module;
  document.at("key").get_to(module.key);
  document.at("arch").get_to(module.arch);
  document.at("ptx").get_to(module.ptx);
  document.at("log").get_to(module.log);
  const auto& cubin = document.at("cubin").get_binary();
  module.cubin.resize(cubin.size());
  if (!cubin.empty()) std::memcpy(module.cubin.data(), cubin.data(), cubin.size());
  for (const auto& k : document.at("kernels"))
    module.kernels.push_back({k.at("kernel"), k.at("symbol"), k.at("registers"), k.at("spill_store"), k.at("spill_load"), k.at("shared"),
                              k.at("local"), k.at("constant"), k.at("max_threads")});
  return module;
}

}  // namespace

std::optional<CompiledModule> ModuleCache::Load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto bytes = ReadFile(PathOf(key), 256u << 20);
  // The first 64 bytes are the SHA-256 of the rest: a file cut by a crash or a bad disk is noticed.
  if (!bytes || bytes->size() < 64 || Sha256(std::string_view(*bytes).substr(64)) != bytes->substr(0, 64)) return std::nullopt;
  try {
    CompiledModule module = Decode(json::from_cbor(bytes->begin() + 64, bytes->end()));
    if (module.key != key) return std::nullopt;
    return module;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void ModuleCache::Store(const CompiledModule& module) const {
  if (folder_.empty()) return;
  const auto cbor = json::to_cbor(Encode(module));
  const std::string body(cbor.begin(), cbor.end());
  if (WriteFileAtomically(PathOf(module.key), Sha256(body) + body)) Trim();
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

}  // namespace warpwright
