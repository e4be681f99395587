#include "cli/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace warpwright {

// Rendezvous hashing with a bound: each kernel goes to the shard that it prefers among those with room.
std::vector<std::vector<std::string>> DealOut(const std::vector<std::string>& kernels, int count) {
  std::vector<std::vector<std::string>> shards(static_cast<size_t>(std::max(count, 1)));
  const size_t room = (kernels.size() + shards.size() - 1) / shards.size();
  std::vector<std::pair<std::string, std::string>> by_hash;
  for (const auto& kernel : kernels) by_hash.emplace_back(Sha256(kernel), kernel);
  std::sort(by_hash.begin(), by_hash.end());
  for (const auto& [hash, kernel] : by_hash) {
    std::vector<std::string>* best = nullptr;
    std::string best_score;
    for (size_t i = 0; i < shards.size(); ++i) {
      if (shards[i].size() >= room) continue;
      const std::string score = Sha256(fmt::format("{} {}", hash, i));
      if (best != nullptr && score <= best_score) continue;
      best = &shards[i];
      best_score = score;
    }
    best->push_back(kernel);
  }
  for (auto& shard : shards) std::sort(shard.begin(), shard.end());
  return shards;
}

std::string MatrixJson(const std::vector<std::vector<std::string>>& shards) {
  nlohmann::json include = nlohmann::json::array();
  for (size_t i = 0; i < shards.size(); ++i)
    if (!shards[i].empty()) include.push_back({{"shard", fmt::format("{}/{}", i + 1, shards.size())}, {"kernels", fmt::format("{}", fmt::join(shards[i], " "))}});
  return nlohmann::json({{"include", include}}).dump();
}

}  // namespace warpwright
