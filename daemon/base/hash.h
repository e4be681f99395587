// Content addresses: SHA-256 in lower-case hexadecimal. Everything that is stored or compared by content uses this
// hash.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace warpwright::base {

std::string Sha256(std::string_view bytes);
std::string Sha256(std::span<const std::byte> bytes);

// Hash of several fields. Each is preceded by its length, so that ("ab","c") and ("a","bc") differ.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  Hasher& Add(std::string_view field);
  Hasher& Add(std::span<const std::byte> field);
  std::string Finish();  // once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::base
