// A library that is loaded before all others and takes a GPU away: from the call WW_LOSE_AT on (of those that are made
// while the file WW_LOSE_FILE exists, counted from 0 in each process) the driver's functions answer WW_LOSE_WITH, a
// CUresult, instead of working. With WW_LOSE_CALL only that function does, by the name that is looked up, such as
// cuMemcpyDtoHAsync_v2.
//
// The functions are found by dlsym, so that is what is replaced; whatever else is looked up is passed on.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace {

using Word = std::uint64_t;
// cuLaunchKernel has most parameters, 11; all are words. What is passed beyond a function's own it does not look at.
using Function = int (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
using Lookup = void* (*)(void*, const char*);

constexpr std::size_t kMost = 128;
std::mutex mutex;
std::array<std::string, kMost> names;
std::array<Function, kMost> functions;
std::size_t count = 0;
std::atomic<long> calls{0};

const char* Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsLost(const std::string& name) {
  const std::string wanted = Setting("WW_LOSE_CALL");
  if (name == "cuGetErrorName" || name == "cuGetErrorString" || (!wanted.empty() && name != wanted)) return false;
  if (::access(Setting("WW_LOSE_FILE"), F_OK) != 0) return false;
  return calls++ >= std::atol(Setting("WW_LOSE_AT"));
}

template <std::size_t kIndex>
int Call(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k) {
  if (IsLost(names[kIndex])) return std::atoi(Setting("WW_LOSE_WITH"));
  return functions[kIndex](a, b, c, d, e, f, g, h, i, j, k);
}
template <std::size_t... kIndices>
constexpr std::array<Function, kMost> Wrappers(std::index_sequence<kIndices...>) {
  return {Call<kIndices>...};
}
constexpr std::array<Function, kMost> kWrappers = Wrappers(std::make_index_sequence<kMost>());

Lookup RealLookup() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (void* found = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Lookup>(found);
  std::abort();
}

bool IsDriverFunction(const char* name) { return std::strncmp(name, "cu", 2) == 0 && name[2] >= 'A' && name[2] <= 'Z'; }

}  // namespace

extern "C" {

// The test starts counting anew.
__attribute__((visibility("default"))) void ww_lose_reset() { calls = 0; }
__attribute__((visibility("default"))) long ww_lose_calls() { return calls; }

__attribute__((visibility("default"))) void* dlsym(void* library, const char* name) {
  static const Lookup real = RealLookup();
  void* found = real(library, name);
  // Only what gpu/driver.cpp asks of libcuda: CUPTI and the driver look for each other's parts too.
  Dl_info info;
  if (found == nullptr || !IsDriverFunction(name) || ::dladdr(found, &info) == 0 ||
      std::strstr(info.dli_fname, "libcuda.so") == nullptr || ::dladdr(__builtin_return_address(0), &info) == 0 ||
      std::strstr(info.dli_fname, "libcu") != nullptr)
    return found;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < count; ++i)
    if (names[i] == name) return reinterpret_cast<void*>(kWrappers[i]);
  if (count == kMost) return found;
  names[count] = name;
  functions[count] = reinterpret_cast<Function>(found);
  return reinterpret_cast<void*>(kWrappers[count++]);
}
}
