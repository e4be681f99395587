// A type's single list of fields, which all code that encodes, decodes, checks or compares its values uses:
//
//   template <typename V>
//   void Describe(V& field, const Point*) {
//     using T = Point;
//     field("x", &T::x);               // required
//     field.Optional("y", &T::y);      // may be missing: older versions did not write it. Within bounds a number
//     field.Sparse("z", &T::z);        // omitted if it is zero, empty or absent
//     field.Blob("raw", &T::raw);      // bytes that are not necessarily text
//     field.Inline(&T::key);           // the fields of a nested value, without a nesting level
//     field.Untold(&T::cache);         // never leaves the process
//   }
//
// Every member must be listed: tests count them. The alternatives of a variant are distinguished by Tag(const
// Alternative*), under the key TagKey(const Variant*). An enumeration takes its names from Name(E); Last(E) is its last
// value. All of these are found by argument-dependent lookup next to the type.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace warpwright::base {

// The range of a number, both ends included.
struct Within {
  double low, high;
};

template <typename E>
std::optional<E> ParseName(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i)
    if (Name(static_cast<E>(i)) == name) return static_cast<E>(i);
  return std::nullopt;
}

constexpr ErrorCode Last(ErrorCode) { return ErrorCode::kLimit; }
template <typename V>
void Describe(V& field, const Error*) {
  using T = Error;
  field("code", &T::code);
  field("message", &T::message);
  field("file", &T::file);
  field("line", &T::line);
  field("column", &T::column);
  field("remedy", &T::remedy);
}

}  // namespace warpwright::base
