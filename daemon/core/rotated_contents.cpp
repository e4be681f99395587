#include "core/rotated_contents.h"

#include <algorithm>

namespace warpwright::core {

std::vector<BufferContent> Rotated(std::vector<BufferContent> contents, uint64_t by) {
  constexpr uint64_t kUnit = 16;  // bytes
  for (BufferContent& content : contents) {
    if (content.uninitialized || content.bytes.size() < 2 * kUnit) continue;
    std::vector<std::byte> bytes(content.bytes.begin(), content.bytes.end());
    const uint64_t elements = bytes.size() / kUnit * kUnit;
    std::rotate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(by * kUnit % elements),
                bytes.begin() + static_cast<std::ptrdiff_t>(elements));
    content.bytes = std::move(bytes);
  }
  return contents;
}

}  // namespace warpwright::core
