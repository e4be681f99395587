#include "judge/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/file.h"
#include "base/parallel.h"
#include "judge/inputs.h"

namespace warpwright {
namespace {

constexpr size_t kMaxShadowBytes = 4u << 20;
constexpr int kMaxIncludeDepth = 16;

// Replacements of whole identifiers. The 16-bit types become structs around a double, so that overloads and
// specializations for them stay distinct.
const std::map<std::string_view, std::string_view>& Replacements() {
  static const std::map<std::string_view, std::string_view> map = {
      {"float", "double"},
      {"half", "ww_half"},
      {"__half", "ww_half"},
      {"__nv_bfloat16", "ww_bfloat16"},
      {"nv_bfloat16", "ww_bfloat16"},
      {"float1", "double1"},
      {"float2", "double2"},
      {"float3", "double3"},
      {"float4", "double4"},
      {"half2", "double2"},
      {"__half2", "double2"},
      {"nv_bfloat162", "double2"},
      {"__nv_bfloat162", "double2"},
      {"make_float1", "make_double1"},
      {"make_float2", "make_double2"},
      {"make_float3", "make_double3"},
      {"make_float4", "make_double4"},
      {"make_half2", "make_double2"},
      {"__halves2half2", "make_double2"},
      {"__halves2bfloat162", "make_double2"},
      {"__floats2half2_rn", "make_double2"},
      {"__floats2bfloat162_rn", "make_double2"},
      {"__expf", "exp"},
      {"__exp10f", "exp10"},
      {"__logf", "log"},
      {"__log2f", "log2"},
      {"__log10f", "log10"},
      {"__powf", "pow"},
      {"__sinf", "sin"},
      {"__cosf", "cos"},
      {"__tanf", "tan"},
      {"__tanhf", "tanh"},
      {"__frsqrt_rn", "rsqrt"},
      {"__fdividef", "ww_div"},
      {"__fdiv_rn", "ww_div"},
      {"__fdiv_rz", "ww_div"},
      {"__frcp_rn", "ww_rcp"},
      {"__fsqrt_rn", "sqrt"},
      {"__fadd_rn", "ww_add"},
      {"__fsub_rn", "ww_sub"},
      {"__fmul_rn", "ww_mul"},
      {"__fmaf_rn", "fma"},
      {"__saturatef", "ww_saturate"},
      {"hexp", "exp"},
      {"hlog", "log"},
      {"hsqrt", "sqrt"},
      {"hrsqrt", "rsqrt"},
      {"hrcp", "ww_rcp"},
      {"htanh", "tanh"},
      {"htanh_approx", "tanh"},
      {"__hadd", "ww_add"},
      {"__hsub", "ww_sub"},
      {"__hmul", "ww_mul"},
      {"__hdiv", "ww_div"},
      {"__hfma", "fma"},
      {"__hneg", "ww_neg"},
      {"__habs", "fabs"},
      {"__hmax", "fmax"},
      {"__hmin", "fmin"},
      {"__hgt", "ww_gt"},
      {"__hlt", "ww_lt"},
      {"__hge", "ww_ge"},
      {"__hle", "ww_le"},
      {"__heq", "ww_eq"},
      {"__hne", "ww_ne"},
      {"__hadd2", "ww_add2"},
      {"__hsub2", "ww_sub2"},
      {"__hmul2", "ww_mul2"},
      {"__hfma2", "ww_fma2"},
      {"__hmax2", "ww_max2"},
      {"__float2half", "ww_half"},
      {"__float2half_rn", "ww_half"},
      {"__double2half", "ww_half"},
      {"__float2bfloat16", "ww_bfloat16"},
      {"__float2bfloat16_rn", "ww_bfloat16"},
      {"__double2bfloat16", "ww_bfloat16"},
      {"__half2float", "double"},
      {"__bfloat162float", "double"},
      {"__double2float_rn", "double"},
      {"__low2float", "ww_low"},
      {"__high2float", "ww_high"},
      {"__low2half", "ww_low"},
      {"__high2half", "ww_high"},
      {"__low2bfloat16", "ww_low"},
      {"__high2bfloat16", "ww_high"},
      {"__half2half2", "ww_both"},
      {"__float2half2_rn", "ww_both"},
      {"__bfloat162bfloat162", "ww_both"},
      {"__float2bfloat162_rn", "ww_both"},
  };
  return map;
}
// Conversions of packed values: dropped, the argument stays in its parentheses.
const std::set<std::string_view>& Identities() {
  static const std::set<std::string_view> set = {"__half22float2", "__float22half2_rn", "__bfloat1622float2",
                                                 "__float22bfloat162_rn"};
  return set;
}
// f32 math functions of the C library whose double version lacks the final f.
const std::set<std::string_view>& MathFunctions() {
  static const std::set<std::string_view> set = {
      "acosf",     "acoshf", "asinf",  "asinhf",     "atanf",   "atan2f",  "atanhf",  "cbrtf",  "ceilf",
      "copysignf", "cosf",   "coshf",  "cospif",     "erff",    "erfcf",   "erfinvf", "exp10f", "exp2f",
      "expf",      "expm1f", "fabsf",  "fdimf",      "floorf",  "fmaf",    "fmaxf",   "fminf",  "fmodf",
      "frexpf",    "hypotf", "ldexpf", "lgammaf",    "log10f",  "log1pf",  "log2f",   "logf",   "nearbyintf",
      "normcdff",  "powf",   "rcbrtf", "remainderf", "rhypotf", "rintf",   "roundf",  "rsqrtf", "sinf",
      "sinhf",     "sinpif", "sqrtf",  "tanf",       "tanhf",   "tgammaf", "truncf"};
  return set;
}
// Bits, rounding modes and machinery that a double cannot stand in for.
bool IsForbidden(std::string_view id) {
  static const std::set<std::string_view> set = {"asm",
                                                 "__asm__",
                                                 "__asm",
                                                 "wmma",
                                                 "nvcuda",
                                                 "__float_as_int",
                                                 "__float_as_uint",
                                                 "__int_as_float",
                                                 "__uint_as_float",
                                                 "__half_as_short",
                                                 "__half_as_ushort",
                                                 "__short_as_half",
                                                 "__ushort_as_half",
                                                 "__bfloat16_as_ushort",
                                                 "fdividef",
                                                 "sincosf",
                                                 "__sincosf",
                                                 "curand",
                                                 "half_raw",
                                                 "__half_raw",
                                                 "FLT_EPSILON"};
  if (set.contains(id)) return true;
  // Packed or converting intrinsics that are not in the table.
  return !Replacements().contains(id) && !Identities().contains(id) &&
         (id.starts_with("__h") || id.starts_with("__float") || id.starts_with("__half") ||
          id.starts_with("__bfloat") || id.starts_with("__nv_") || id.starts_with("__f")) &&
         id != "__host__" && id != "__forceinline__" && id != "__func__" && id != "__ffs" && id != "__ffsll" &&
         id != "__fns" && id != "__FILE__" && id != "__half_raw";
}

constexpr std::string_view kPrelude = R"(#include <cuda_runtime.h>
#define WW_SHADOW static __host__ __device__ __forceinline__
template <int kTag>
struct ww_narrow {
  double value;
  ww_narrow() = default;
  __host__ __device__ ww_narrow(double v) : value(v) {}
  __host__ __device__ operator double() const { return value; }
  __host__ __device__ ww_narrow& operator+=(double v) { value += v; return *this; }
  __host__ __device__ ww_narrow& operator-=(double v) { value -= v; return *this; }
  __host__ __device__ ww_narrow& operator*=(double v) { value *= v; return *this; }
  __host__ __device__ ww_narrow& operator/=(double v) { value /= v; return *this; }
};
using ww_half = ww_narrow<16>;
using ww_bfloat16 = ww_narrow<8>;
WW_SHADOW double ww_add(double a, double b) { return a + b; }
WW_SHADOW double ww_sub(double a, double b) { return a - b; }
WW_SHADOW double ww_mul(double a, double b) { return a * b; }
WW_SHADOW double ww_div(double a, double b) { return a / b; }
WW_SHADOW double ww_neg(double a) { return -a; }
WW_SHADOW double ww_rcp(double a) { return 1.0 / a; }
WW_SHADOW double ww_saturate(double a) { return a >= 0.0 ? (a <= 1.0 ? a : 1.0) : 0.0; }
WW_SHADOW bool ww_gt(double a, double b) { return a > b; }
WW_SHADOW bool ww_lt(double a, double b) { return a < b; }
WW_SHADOW bool ww_ge(double a, double b) { return a >= b; }
WW_SHADOW bool ww_le(double a, double b) { return a <= b; }
WW_SHADOW bool ww_eq(double a, double b) { return a == b; }
WW_SHADOW bool ww_ne(double a, double b) { return a != b; }
WW_SHADOW double ww_low(double2 a) { return a.x; }
WW_SHADOW double ww_high(double2 a) { return a.y; }
WW_SHADOW double2 ww_both(double a) { double2 r; r.x = a; r.y = a; return r; }
WW_SHADOW double2 ww_add2(double2 a, double2 b) { a.x += b.x; a.y += b.y; return a; }
WW_SHADOW double2 ww_sub2(double2 a, double2 b) { a.x -= b.x; a.y -= b.y; return a; }
WW_SHADOW double2 ww_mul2(double2 a, double2 b) { a.x *= b.x; a.y *= b.y; return a; }
WW_SHADOW double2 ww_fma2(double2 a, double2 b, double2 c) { c.x += a.x * b.x; c.y += a.y * b.y; return c; }
WW_SHADOW double2 ww_max2(double2 a, double2 b) { a.x = a.x > b.x ? a.x : b.x; a.y = a.y > b.y ? a.y : b.y; return a; }
#undef WW_SHADOW
)";

bool IsIdentifierStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsIdentifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the comment or literal that begins at `at` ends; `at` itself where none does.
size_t SkipOpaque(std::string_view text, size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) == "/*") {
    const size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text[at] != '"' && text[at] != '\'') return at;
  size_t end = at + 1;
  while (end < text.size() && text[end] != text[at] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// A preprocessing number: digits, letters, dots, and signs behind an exponent letter.
size_t NumberEnd(std::string_view text, size_t at) {
  const bool hex = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  size_t end = at;
  while (end < text.size()) {
    const char c = text[end], previous = end > at ? text[end - 1] : ' ';
    const bool exponent = hex ? (previous == 'p' || previous == 'P') : (previous == 'e' || previous == 'E');
    if (!IsIdentifier(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
    ++end;
  }
  return end;
}

// 0.5f -> ((double)0.5f): the value that the original has, in double arithmetic.
std::string RewriteNumber(std::string_view number) {
  const bool hex = number.starts_with("0x") || number.starts_with("0X");
  const bool floating =
      number.find('.') != std::string_view::npos || number.find_first_of(hex ? "pP" : "eE") != std::string_view::npos;
  if (floating && (number.back() == 'f' || number.back() == 'F')) return fmt::format("((double){})", number);
  return std::string(number);
}

// Replaces #include "x" of files below root by their content, each once.
struct Inliner {
  std::filesystem::path root;
  std::set<std::string> seen;
  std::string out;

  Status Add(std::string_view text, const std::filesystem::path& folder, int depth) {
    if (depth > kMaxIncludeDepth) return Fail(ErrorCode::kUnsupported, "headers include each other too deeply");
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      const auto included = QuotedInclude(line);
      const auto path = included ? Locate(*included, folder) : std::filesystem::path();
      if (path.empty()) {
        if (line.find("#pragma once") == std::string_view::npos) out += line;
      } else if (seen.insert(path.string()).second) {
        WW_ASSIGN(const std::string content, ReadFile(path, kMaxShadowBytes));
        WW_TRY(Add(content, path.parent_path(), depth + 1));
        out += '\n';
      }
      if (out.size() > kMaxShadowBytes)
        return Fail(ErrorCode::kUnsupported, "the source with its headers is too large");
    }
    return {};
  }

  static std::optional<std::string> QuotedInclude(std::string_view line) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || line[at] != '#') return std::nullopt;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string_view::npos || line.substr(at, 7) != "include") return std::nullopt;
    const size_t open = line.find('"', at), close = open == std::string_view::npos ? open : line.find('"', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return std::string(line.substr(open + 1, close - open - 1));
  }
  // Below the root, or nowhere.
  std::filesystem::path Locate(const std::string& name, const std::filesystem::path& folder) const {
    std::error_code ignored;
    for (const auto& base : {folder, root}) {
      const auto path = std::filesystem::weakly_canonical(base / name, ignored);
      const auto below = std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
      if (below && std::filesystem::is_regular_file(path, ignored)) return path;
    }
    return {};
  }
};

bool HasFloatOutput(const KernelSpec& spec, bool* narrow) {
  bool any = false;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr || !IsFloat(buffer->dtype)) continue;
    if (buffer->role == Role::kOut || buffer->role == Role::kInOut) any = true;
    if (buffer->dtype != DType::kF64) *narrow = true;
  }
  return any;
}

KernelSpec ShadowSpec(const KernelSpec& original) {
  KernelSpec spec = original;
  size_t growth = 2;
  for (Argument& argument : spec.args) {
    if (auto* buffer = std::get_if<BufferArgument>(&argument.kind); buffer != nullptr && IsFloat(buffer->dtype)) {
      growth = std::max(growth, 8 / SizeOf(buffer->dtype));
      buffer->dtype = DType::kF64;
      buffer->alignment = std::max<int64_t>(buffer->alignment, 16);
    }
    auto* scalar = std::get_if<ScalarArgument>(&argument.kind);
    if (scalar == nullptr || !IsFloat(scalar->dtype)) continue;
    const DType from = scalar->dtype;
    const auto rounded = [from](ScalarValue& value) {  // the value that the original receives
      std::byte bytes[8] = {};
      StoreFromDouble(from, bytes, 0, std::visit([](auto v) { return static_cast<double>(v); }, value));
      value = LoadAsDouble(from, bytes, 0);
    };
    if (scalar->value) rounded(*scalar->value);
    for (Case& c : spec.cases)
      if (const auto found = c.scalars.find(argument.name); found != c.scalars.end()) rounded(found->second);
    scalar->dtype = DType::kF64;
  }
  if (spec.launch && spec.launch->shared_bytes)
    if (auto larger = Expression::Parse(fmt::format("{} * ({})", growth, spec.launch->shared_bytes->text())))
      spec.launch->shared_bytes = *larger;
  return spec;
}

}  // namespace

Result<std::string> RewriteToDouble(std::string_view text) {
  std::string out;
  bool identity = false;                                                   // __float2half(x) -> (x): drop the name
  const bool has_half = text.find("cuda_fp16") != std::string_view::npos;  // else `half` is somebody's variable
  for (size_t at = 0; at < text.size();) {
    if (const size_t opaque = SkipOpaque(text, at); opaque > at) {
      out += text.substr(at, opaque - at);
      at = opaque;
    } else if (text[at] == '#' && text.substr(at).find("include") != std::string_view::npos &&
               text.substr(at, text.find('\n', at) - at).find("include") != std::string_view::npos) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out += text.substr(at, end - at);
      at = end;
    } else if (std::isdigit(static_cast<unsigned char>(text[at])) != 0 ||
               (text[at] == '.' && at + 1 < text.size() &&
                std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0)) {
      const size_t end = NumberEnd(text, at);
      out += RewriteNumber(text.substr(at, end - at));
      at = end;
    } else if (IsIdentifierStart(text[at])) {
      size_t end = at;
      while (end < text.size() && IsIdentifier(text[end])) ++end;
      const std::string_view id = text.substr(at, end - at);
      if (IsForbidden(id)) return Fail(ErrorCode::kUnsupported, fmt::format("{} has no counterpart in float64", id));
      identity = Identities().contains(id);
      const auto found = id == "half" && !has_half ? Replacements().end() : Replacements().find(id);
      if (found != Replacements().end()) {
        out += found->second;
      } else if (MathFunctions().contains(id)) {
        out += id.substr(0, id.size() - 1);
      } else if (!identity) {
        out += id;
      }
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

Result<Shadow> MakeShadow(const KernelSpec& spec, const SourceRef& original) {
  bool narrow = false;
  if (!HasFloatOutput(spec, &narrow)) return Fail(ErrorCode::kUnsupported, "no output is of a floating-point type");
  if (!narrow) return Fail(ErrorCode::kUnsupported, "the kernel computes in f64 already");
  std::error_code ignored;
  Inliner inliner{std::filesystem::weakly_canonical(original.root, ignored), {}, {}};
  WW_TRY(inliner.Add(original.text, inliner.root / std::filesystem::path(original.file).parent_path(), 0));
  WW_ASSIGN(std::string text, RewriteToDouble(inliner.out));
  Shadow shadow;
  shadow.source = original;
  shadow.source.text = text.find("ww_") == std::string::npos ? std::move(text) : std::string(kPrelude) + text;
  shadow.spec = ShadowSpec(spec);
  WW_ASSIGN(shadow.spec.entry, RewriteToDouble(spec.entry));
  return shadow;
}

std::vector<BufferContent> ShadowInputs(const KernelSpec& spec, uint64_t seed,
                                        const std::vector<BufferContent>& buffers) {
  std::vector<BufferContent> converted;
  size_t index = 0;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    BufferContent content = buffers[index++];
    content.pointer_offset = 0;
    if (IsFloat(buffer->dtype)) {
      const size_t count = content.bytes.size() / SizeOf(buffer->dtype);
      std::vector<std::byte> wide(count * 8);
      if (content.uninitialized)
        FillPoison(wide, seed, index, false);
      else
        ParallelFor(count, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) StoreFromDouble(DType::kF64, wide.data(), i, LoadAsDouble(buffer->dtype, content.bytes.data(), i));
        });
      content.bytes = std::move(wide);
    }
    converted.push_back(std::move(content));
  }
  return converted;
}

}  // namespace warpwright
