// Vectors whose elements are not set when they are made: zeroing hundreds of megabytes on one core, for several cores
// to fill them then, takes longer than the filling.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace warpwright::base {

template <typename T>
struct UninitializedAllocator : std::allocator<T> {
  static_assert(std::is_trivially_default_constructible_v<T>);
  template <typename U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <typename U>
  void construct(U* place) const noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Args>
  void construct(U* place, Args&&... args) const {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};

// UninitializedVector<T>(n) has n elements of no particular value.
template <typename T>
using UninitializedVector = std::vector<T, UninitializedAllocator<T>>;
using ByteVector = UninitializedVector<std::byte>;

inline Bytes ToBytes(ByteVector&& own) {
  auto kept = std::make_shared<const ByteVector>(std::move(own));
  const std::span<const std::byte> view = *kept;
  return {std::move(kept), view};
}
inline ByteVector CopyOf(std::span<const std::byte> bytes) {
  ByteVector copy(bytes.size());
  ParallelCopy(copy.data(), bytes);
  return copy;
}

}  // namespace warpwright::base
