#include "base/page_reuse.h"

#include <malloc.h>
#include <unistd.h>

namespace warpwright::base {

void KeepFreedPages() {
  // Freeing an mmapped allocation unmaps it; memory of the heap stays mapped.
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);  // never
}

uint64_t PhysicalMemoryBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

}  // namespace warpwright::base
