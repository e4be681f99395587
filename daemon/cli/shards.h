// Kernels dealt out to jobs that run beside each other.
#pragma once

#include <string>
#include <vector>

namespace warpwright {

// As many lists as `count`, some perhaps empty; none is longer than another by more than one needs. Which list a kernel is in depends on names
// alone and mostly stays when kernels come and go, so that caches of the machines behind the shards stay warm.
std::vector<std::vector<std::string>> DealOut(const std::vector<std::string>& kernels, int count);

// GitHub's matrix: {"include": [{"shard": "1/4", "kernels": "a b"}, ...]}, without empty shards, on one line.
std::string MatrixJson(const std::vector<std::vector<std::string>>& shards);

}  // namespace warpwright
