// Checks the texts of a value by its list of fields (base/fields.h): the required ones are not empty, and none is
// longer than a limit.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/fields.h"

namespace warpwright::base {

inline Status CheckText(std::string_view name, const std::string& text, size_t max_bytes, bool required) {
  if (required && text.empty()) return Fail(ErrorCode::kCorrupt, fmt::format("'{}' is empty", name));
  if (text.size() > max_bytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("'{}' has more than {} bytes", name, max_bytes));
  return {};
}

template <typename T>
struct TextCheck {
  const T& value;
  size_t max_bytes;
  Status status;

  void operator()(const char* name, std::string T::* member) { Check(name, member, true); }
  void Optional(const char* name, std::string T::* member) { Check(name, member, false); }
  void Sparse(const char* name, std::string T::* member) { Check(name, member, false); }
  template <typename M>
  void Inline(M T::* member) {
    TextCheck<M> nested{value.*member, max_bytes, std::move(status)};
    Describe(nested, static_cast<const M*>(nullptr));
    status = std::move(nested.status);
  }
  // Fields that are not text.
  template <typename... Others>
  void operator()(const char*, Others...) {}
  template <typename... Others>
  void Optional(const char*, Others...) {}
  template <typename... Others>
  void Sparse(const char*, Others...) {}

  void Check(const char* name, std::string T::* member, bool required) {
    if (status) status = CheckText(name, value.*member, max_bytes, required);
  }
};

template <typename T>
Status CheckTexts(const T& value, size_t max_bytes) {
  TextCheck<T> check{value, max_bytes, {}};
  Describe(check, static_cast<const T*>(nullptr));
  return std::move(check.status);
}

}  // namespace warpwright::base
