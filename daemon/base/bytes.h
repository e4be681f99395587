// Immutable contents of a buffer, shared by all copies: the inputs of a run pass through many components and are often
// hundreds of megabytes. To change the contents, fill a new vector and move it in.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace warpwright::base {

class Bytes {
 public:
  Bytes() = default;
  Bytes(std::vector<std::byte>&& own) {  // NOLINT: implicit on purpose: a vector that is moved in converts silently
    auto kept = std::make_shared<const std::vector<std::byte>>(std::move(own));
    view_ = *kept;
    keeper_ = std::move(kept);
  }
  // A view of memory that `keeper` keeps alive.
  Bytes(std::shared_ptr<const void> keeper, std::span<const std::byte> view)
      : keeper_(std::move(keeper)), view_(view) {}

  Bytes(const Bytes&) = default;
  Bytes& operator=(const Bytes&) = default;
  Bytes(Bytes&& other) noexcept : keeper_(std::move(other.keeper_)), view_(std::exchange(other.view_, {})) {}
  Bytes& operator=(Bytes&& other) noexcept {
    keeper_ = std::move(other.keeper_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }

  const std::byte* data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  const std::byte* begin() const { return view_.data(); }
  const std::byte* end() const { return view_.data() + view_.size(); }
  std::byte operator[](size_t i) const { return view_[i]; }
  std::vector<std::byte> Copy() const { return {begin(), end()}; }

  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.size() == b.size() && (a.data() == b.data() || ParallelEqual(a.view_, b.view_));
  }
  friend bool operator==(const Bytes& a, const std::vector<std::byte>& b) { return ParallelEqual(a.view_, b); }

 private:
  std::shared_ptr<const void> keeper_;
  std::span<const std::byte> view_;
};

}  // namespace warpwright::base
