#include "core/code_use.h"

#include "base/fields.h"

namespace warpwright::core {

std::string_view Name(NumberFormat format) {
  switch (format) {
    case NumberFormat::kB1: return "b1";
    case NumberFormat::kBF16: return "bf16";
    case NumberFormat::kE2M1: return "e2m1";
    case NumberFormat::kE2M3: return "e2m3";
    case NumberFormat::kE3M2: return "e3m2";
    case NumberFormat::kE4M3: return "e4m3";
    case NumberFormat::kE5M2: return "e5m2";
    case NumberFormat::kF16: return "f16";
    case NumberFormat::kF32: return "f32";
    case NumberFormat::kF64: return "f64";
    case NumberFormat::kI4: return "i4";
    case NumberFormat::kI8: return "i8";
    case NumberFormat::kTF32: return "tf32";
    case NumberFormat::kU4: return "u4";
    case NumberFormat::kU8: return "u8";
    case NumberFormat::kUE8M0: return "ue8m0";
  }
  return "";
}

std::optional<NumberFormat> FormatOf(DType dtype) { return base::ParseName<NumberFormat>(Name(dtype)); }

std::string_view Name(CodeUseKind kind) {
  switch (kind) {
    case CodeUseKind::kApproximate: return "approximate";
    case CodeUseKind::kArithmetic: return "arithmetic in";
    case CodeUseKind::kBuild: return "build:";
    case CodeUseKind::kBuildText: return "build: text";
    case CodeUseKind::kEntry: return "entry:";
    case CodeUseKind::kFlushed: return "flushed subnormals";
    case CodeUseKind::kHost: return "host:";
    case CodeUseKind::kOutside: return "outside:";
    case CodeUseKind::kProducts: return "products in";
    case CodeUseKind::kReturned: return "returns:";
    case CodeUseKind::kShared: return "shared:";
    case CodeUseKind::kSums: return "sums in";
    case CodeUseKind::kConversion: return "to";
    case CodeUseKind::kUnorderedSums: return "unordered sums in";
  }
  return "";
}

std::string Text(const CodeUse& use) {
  std::string text(Name(use.kind));
  if (use.format) text.append(" ").append(Name(*use.format));
  if (!use.detail.empty()) text.append(" ").append(use.detail);
  return text;
}

CodeUse FailingLaunch() { return {.kind = CodeUseKind::kHost, .format = {}, .detail = "a launch that fails"}; }

}  // namespace warpwright::core
