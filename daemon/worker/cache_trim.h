// Keeps the worker's cache from growing indefinitely. Modules bound themselves (compile/module_cache.h); recorders and
// the precompiled shims of earlier versions are folders, of which the newest stay.
#pragma once

#include <chrono>
#include <filesystem>

namespace warpwright::worker {

struct CacheLimits {
  size_t recorders = 2000;  // about 400 KB each
  size_t shims = 2;         // about 70 MB each
  // Younger folders stay: another worker may be using them.
  std::chrono::hours grace{24};
};

// Also removes what a killed worker left unfinished. Best effort: what cannot be removed stays.
void TrimCache(const std::filesystem::path& cache, const CacheLimits& limits = {});

}  // namespace warpwright::worker
