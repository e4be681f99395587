// One list of its fields describes a value to everything that encodes, decodes, checks or compares it:
//
//   template <typename V>
//   void Describe(V& field, const Point*) {
//     using T = Point;
//     field("x", &T::x);               // must be there
//     field.Optional("y", &T::y);      // may be missing: older versions did not write it. A Within bounds a number
//     field.Sparse("z", &T::z);        // is left out where it is zero, empty or absent
//     field.Blob("raw", &T::raw);      // bytes that need not be text
//     field.Inline(&T::key);           // the fields of a nested value, without a level of their own
//     field.Untold(&T::cache);         // never leaves the process
//   }
//
// Every member stands in it: tests count them. The alternatives of a variant are told apart by Tag(const Alternative*),
// under the key TagKey(const Variant*). An enumeration has its names from Name(E), and Last(E) says where they end. All
// of these are found beside the type.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace warpwright::base {

// What a number may be, both ends included.
struct Within {
  double low, high;
};

template <typename E>
std::optional<E> ParseName(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Last(E{})); ++i)
    if (Name(static_cast<E>(i)) == name) return static_cast<E>(i);
  return std::nullopt;
}

constexpr ErrorCode Last(ErrorCode) { return ErrorCode::kCorrupt; }
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
