#include "rewrite/float64.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "source/includes.h"
#include "source/tokens.h"

namespace warpwright::rewrite {
namespace {

constexpr size_t kMaxBytes = 4u << 20;

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
// Bits, rounding modes and features that a double cannot emulate.
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

// Put before a text that uses any of it.
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

// 0.5f -> ((double)0.5f): the value that the original has, in double arithmetic.
std::string RewriteNumber(std::string_view number) {
  const bool hex = number.starts_with("0x") || number.starts_with("0X");
  const bool floating =
      number.find('.') != std::string_view::npos || number.find_first_of(hex ? "pP" : "eE") != std::string_view::npos;
  if (floating && (number.back() == 'f' || number.back() == 'F')) return fmt::format("((double){})", number);
  return std::string(number);
}

// The replacement of an identifier; nothing if it has no counterpart.
std::optional<std::string_view> Widened(std::string_view id, bool has_half) {
  if (IsForbidden(id)) return std::nullopt;
  if (Identities().contains(id)) return "";  // __half22float2(x) -> (x)
  const auto found = id == "half" && !has_half ? Replacements().end() : Replacements().find(id);
  if (found != Replacements().end()) return found->second;
  return MathFunctions().contains(id) ? id.substr(0, id.size() - 1) : id;
}

bool IsInclude(const std::vector<source::Token>& tokens, size_t at) {
  return tokens[at].OpensDirective() && at + 1 < tokens.size() && tokens[at + 1].text.starts_with("include");
}
bool IsPragmaOnce(const std::vector<source::Token>& tokens, size_t at) {
  return tokens[at].OpensDirective() && at + 2 < tokens.size() && tokens[at + 1].Is("pragma") &&
         tokens[at + 2].Is("once");
}

// Combines files. A header's content replaces its include; a second include of it is dropped.
class Inliner {
 public:
  explicit Inliner(const source::SourceTree& tree) : tree_(tree) {}

  Result<std::string> Run() && {
    WW_TRY(Add(tree_.main));
    return std::move(out_);
  }

 private:
  Status Add(const std::string& path) {
    seen_.insert(path);
    const source::SourceFile& file = tree_.files.at(path);
    size_t copied = 0;
    const auto copy = [&](size_t end) {
      if (end > copied) out_ += std::string_view(file.text).substr(copied, end - copied);
    };
    const auto drop = [&](source::TextRange range) {  // with its line's end
      copied = range.end;
      if (copied < file.text.size() && file.text[copied] == '\n') ++copied;
    };
    const std::vector<source::Token> tokens = source::Lex(file.text);
    auto include = file.includes.begin();
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (IsPragmaOnce(tokens, i)) {
        copy(tokens[i].range.begin);
        drop({tokens[i].range.begin, tokens[i + 2].range.end});
      }
      if (include == file.includes.end() || tokens[i].range.begin != include->line_range.begin) continue;
      if (!include->resolved.empty()) {
        copy(include->line_range.begin);
        drop(include->line_range);
        if (!seen_.contains(include->resolved)) {
          WW_TRY(Add(include->resolved));
          out_ += '\n';
        }
      }
      ++include;
    }
    copy(file.text.size());
    if (out_.size() > kMaxBytes) return Fail(ErrorCode::kUnsupported, "the source with its headers is too large");
    return {};
  }

  const source::SourceTree& tree_;
  std::set<std::string> seen_;
  std::string out_;
};

}  // namespace

Result<std::string> InlineHeaders(const core::SourceRef& source) {
  WW_ASSIGN(const source::SourceTree tree, source::ReadSourceTree(source));
  return Inliner(tree).Run();
}

Result<std::string> WidenTokens(std::string_view text) {
  std::string out;
  const bool has_half =
      text.find("cuda_fp16") != std::string_view::npos;  // otherwise `half` is a variable of the source
  bool in_include = false;
  size_t copied = 0;
  const std::vector<source::Token> tokens = source::Lex(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const source::Token& token = tokens[i];
    if (token.starts_line) in_include = IsInclude(tokens, i);
    if (in_include || (token.kind != source::Token::Kind::kNumber && token.kind != source::Token::Kind::kIdentifier))
      continue;
    out += text.substr(copied, token.range.begin - copied);
    copied = token.range.end;
    if (token.kind == source::Token::Kind::kNumber) {
      out += RewriteNumber(token.text);
      continue;
    }
    const auto widened = Widened(token.text, has_half);
    if (!widened) return Fail(ErrorCode::kUnsupported, fmt::format("{} has no counterpart in float64", token.text));
    out += *widened;
  }
  return out += text.substr(copied);
}

Result<core::RewriteOutcome> WidenToFloat64(const core::SourceRef& source, const std::string& entry) {
  const auto widened = [&]() -> Result<core::Rewritten> {
    WW_ASSIGN(std::string whole, InlineHeaders(source));
    whole.insert(0, source.build.Directives());  // "-DREAL=float" is rewritten too; compilers get that as well, before
    core::Rewritten rewritten;
    WW_ASSIGN(rewritten.text, WidenTokens(whole));
    WW_ASSIGN(rewritten.entry, WidenTokens(entry));
    if (rewritten.text.find("ww_") != std::string::npos) rewritten.text.insert(0, kPrelude);
    return rewritten;
  }();
  if (widened) return core::RewriteOutcome(*widened);
  if (widened.error().code != ErrorCode::kUnsupported) return Fail(widened.error());
  return core::RewriteOutcome(core::RewriteRefusal{widened.error().message, 0});
}

}  // namespace warpwright::rewrite
