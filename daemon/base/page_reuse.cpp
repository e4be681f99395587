#include "base/page_reuse.h"

#include <malloc.h>
#include <unistd.h>

#include <climits>

namespace warpwright::base {

void KeepFreedPages() {
  // Mapped allocations are unmapped when they are freed; from the heap, they stay.
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

uint64_t PhysicalMemoryBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

}  // namespace warpwright::base
