// A temporary folder in memory, where the machine has such a place: stores that write often would wait for a disk at
// each write.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace warpwright {

inline base::TemporaryDirectory MemoryFolder(const char* prefix) {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 0);
  return std::move(*base::TemporaryDirectory::Create(prefix));
}

}  // namespace warpwright
