// Keeps freed memory for the next allocation instead of giving its pages back: buffers of tens of megabytes come and go
// with every run of a kernel, and faulting their pages in again costs more than copying them. Once, at the start of a
// program.
#pragma once

#include <cstdint>

namespace warpwright::base {

void KeepFreedPages();

uint64_t PhysicalMemoryBytes();

}  // namespace warpwright::base
