// Kernels distributed over jobs that run in parallel.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpwright::app {

// `count` lists, some possibly empty; their lengths differ no more than necessary. A kernel's list depends on names
// alone and mostly stays the same when kernels are added or removed, so that the caches of the shards' machines stay
// warm.
std::vector<std::vector<std::string>> Partition(const std::vector<std::string>& kernels, int count);

// "2/8": the second of eight.
struct Shard {
  int index = 0, count = 0;
};
std::optional<Shard> ParseShard(const std::string& text);
// Those of `kernels` that belong to the shard, distributed as `plan --shards` does, so that all shards agree. Without a
// shard: all.
std::vector<std::string> KernelsOfShard(const std::optional<Shard>& shard, const std::vector<std::string>& kernels);

}  // namespace warpwright::app
