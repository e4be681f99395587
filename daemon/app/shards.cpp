#include "app/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"

namespace warpwright::app {

// Rendezvous hashing with a bound: each kernel goes to its preferred shard among those with room.
std::vector<std::vector<std::string>> Partition(const std::vector<std::string>& kernels, int count) {
  std::vector<std::vector<std::string>> shards(static_cast<size_t>(std::max(count, 1)));
  const size_t room = (kernels.size() + shards.size() - 1) / shards.size();
  std::vector<std::pair<std::string, std::string>> by_hash;
  for (const auto& kernel : kernels) by_hash.emplace_back(base::Sha256(kernel), kernel);
  std::sort(by_hash.begin(), by_hash.end());
  for (const auto& [hash, kernel] : by_hash) {
    std::vector<std::string>* best = nullptr;
    std::string best_score;
    for (size_t i = 0; i < shards.size(); ++i) {
      if (shards[i].size() >= room) continue;
      const std::string score = base::Sha256(fmt::format("{} {}", hash, i));
      if (best != nullptr && score <= best_score) continue;
      best = &shards[i];
      best_score = score;
    }
    best->push_back(kernel);
  }
  for (auto& shard : shards) std::sort(shard.begin(), shard.end());
  return shards;
}

std::optional<Shard> ParseShard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
  if (first != std::errc() || slash == end || *slash != '/') return std::nullopt;
  const auto [stop, second] = std::from_chars(slash + 1, end, shard.count);
  if (second != std::errc() || stop != end || shard.count < 1 || shard.count > 1000 || shard.index < 1 ||
      shard.index > shard.count)
    return std::nullopt;
  return shard;
}

std::vector<std::string> KernelsOfShard(const std::optional<Shard>& shard, const std::vector<std::string>& kernels) {
  if (!shard) return kernels;
  return Partition(kernels, shard->count)[static_cast<size_t>(shard->index - 1)];
}

}  // namespace warpwright::app
