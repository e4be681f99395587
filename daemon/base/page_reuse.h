// Keeps freed memory for the next allocation instead of returning its pages to the kernel: buffers of tens of megabytes
// are allocated and freed with every kernel run, and faulting their pages in again costs more than copying them. Call
// once, at program start.
#pragma once

#include <cstdint>

namespace warpwright::base {

void KeepFreedPages();

uint64_t PhysicalMemoryBytes();

}  // namespace warpwright::base
