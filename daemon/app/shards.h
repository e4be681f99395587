// Kernels dealt out to jobs that run beside each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpwright::app {

// As many lists as `count`, some perhaps empty; none is longer than another by more than one needs. Which list a kernel
// is in depends on names alone and mostly stays when kernels come and go, so that caches of the machines behind the
// shards stay warm.
std::vector<std::vector<std::string>> Partition(const std::vector<std::string>& kernels, int count);

// "2/8": the second of eight.
struct Shard {
  int index = 0, count = 0;
};
std::optional<Shard> ParseShard(const std::string& text);
// Of `kernels` those of the shard, dealt out as `plan --shards` does, so that every shard decides alike. Without a
// shard: all.
std::vector<std::string> KernelsOfShard(const std::optional<Shard>& shard, const std::vector<std::string>& kernels);

}  // namespace warpwright::app
