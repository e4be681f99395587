// What code uses that the judge compares with the original: where it computes or stores in a narrower or less exact way
// (compile/ptx_rules.h), how its text depends on how it is built (source/build_dependence.h), what its host code uses
// beyond computing and the CUDA runtime (source/closed_world.h), what it returns (source/record.cpp), and by which
// symbols callers find it, and what it shares with functions beside it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/dtype.h"

namespace warpwright::core {

// What kernels convert to and compute in: more than buffers may hold.
enum class NumberFormat : uint8_t {
  kB1,
  kBF16,
  kE2M1,
  kE2M3,
  kE3M2,
  kE4M3,
  kE5M2,
  kF16,
  kF32,
  kF64,
  kI4,
  kI8,
  kTF32,
  kU4,
  kU8,
  kUE8M0
};
std::string_view Name(NumberFormat format);  // "tf32"
constexpr NumberFormat Last(NumberFormat) { return NumberFormat::kUE8M0; }
std::optional<NumberFormat> FormatOf(DType dtype);

// In the order of their names: what is reported first is the same whatever it is compared with.
enum class CodeUseKind : uint8_t {
  kApproximate,    // .approx and .full forms; detail: the operation, "ex2"
  kArithmetic,     // rounding arithmetic and atomics in a format narrower than f32
  kBuild,          // detail: a macro that depends on the build
  kBuildText,      // text that is not compiled here; detail: its digest
  kEntry,          // detail: a symbol by which callers find the entry
  kFlushed,        // subnormals are flushed to zero
  kHost,           // detail: what host code uses
  kOutside,        // what functions beside the entry refer to; detail: its name and a digest (source/shared_code.h)
  kProducts,       // tensor-core products of inputs of a format narrower than f32
  kReturned,       // detail: the bytes that the entry returns
  kShared,         // the same, which the entry refers to as well
  kSums,           // tensor-core products whose sums are narrower than f32
  kConversion,     // to a narrower format
  kUnorderedSums,  // atomic additions, whose order no two runs need share
};
std::string_view Name(CodeUseKind kind);  // "arithmetic in"
constexpr CodeUseKind Last(CodeUseKind) { return CodeUseKind::kUnorderedSums; }

struct CodeUse {
  CodeUseKind kind = CodeUseKind::kHost;
  std::optional<NumberFormat> format;  // of kinds that have one; the others have a detail, or neither
  std::string detail;
  auto operator<=>(const CodeUse&) const = default;
  bool operator==(const CodeUse&) const = default;
};
std::string Text(const CodeUse& use);  // "to tf32", "approximate ex2", "host: getenv"
// A launch of the launcher's failed, whether it tells its caller or not (source/shim/host).
CodeUse FailingLaunch();

// Where a use first occurs.
struct FoundUse {
  CodeUse use;
  std::string instruction;  // "cvt.rna.tf32.f32 %r1, %f1", "__CUDA_ARCH__"
  std::string file;
  int line = 0;
};
struct ByUse {
  using is_transparent = void;
  static const CodeUse& KeyOf(const CodeUse& use) { return use; }
  static const CodeUse& KeyOf(const FoundUse& found) { return found.use; }
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return KeyOf(a) < KeyOf(b);
  }
};
using CodeUses = std::set<FoundUse, ByUse>;

}  // namespace warpwright::core
