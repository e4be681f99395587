#include "compile/marker_prelude.h"

#include <fmt/format.h>

#include <set>

#include "core/math_markers.h"
#include "source/includes.h"

namespace warpwright::compile {
namespace {

void AddIncludes(std::string_view text, const std::map<std::string, std::string>& headers, std::set<std::string>& seen,
                 std::string& prelude) {
  for (const auto& include : source::ScanIncludes(text)) {
    if (include.name.empty() || headers.contains(include.name) || !seen.insert(include.name).second) continue;
    prelude += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", include.name);
  }
}

// `expf` and `exp`. What the library's `exp` returns for a type, ours does.
std::string Declare(const core::MathMarker& marker) {
  const std::string_view name = marker.name;
  if (marker.arity == 1)
    return fmt::format(
        "extern \"C\" __device__ __attribute__((const)) float ww_call_{0}f(float);\n"
        "extern \"C\" __device__ __attribute__((const)) double ww_call_{0}(double);\n"
        "__device__ inline float ww_{0}f(float a) {{ return ww_call_{0}f(a); }}\n"
        "template <class A> __device__ inline auto ww_{0}(A a) -> decltype(::{0}(a)) {{\n"
        "  if constexpr (sizeof(decltype(::{0}(a))) == 4) return ww_call_{0}f(a);\n"
        "  else return ww_call_{0}(a);\n"
        "}}\n",
        name);
  return fmt::format(
      "extern \"C\" __device__ __attribute__((const)) float ww_call_{0}f(float, float);\n"
      "extern \"C\" __device__ __attribute__((const)) double ww_call_{0}(double, double);\n"
      "__device__ inline float ww_{0}f(float a, float b) {{ return ww_call_{0}f(a, b); }}\n"
      "template <class A, class B> __device__ inline auto ww_{0}(A a, B b) -> decltype(::{0}(a, b)) {{\n"
      "  if constexpr (sizeof(decltype(::{0}(a, b))) == 4) return ww_call_{0}f(a, b);\n"
      "  else return ww_call_{0}(a, b);\n"
      "}}\n",
      name);
}

// Functions of the library that are others' compositions.
constexpr std::string_view kComposed = R"(
__device__ inline void ww_sincosf(float a, float* s, float* c) { *s = ww_call_sinf(a); *c = ww_call_cosf(a); }
__device__ inline void ww_sincos(double a, double* s, double* c) { *s = ww_call_sin(a); *c = ww_call_cos(a); }
__device__ inline void ww_sincos(float a, float* s, float* c) { ww_sincosf(a, s, c); }
)";

}  // namespace

std::string MarkerPrelude(std::string_view text, const std::map<std::string, std::string>& headers) {
  std::string prelude, macros, names;
  std::set<std::string> seen;
  AddIncludes(text, headers, seen, prelude);
  for (const auto& [name, header] : headers) AddIncludes(header, headers, seen, prelude);
  for (const core::MathMarker& marker : core::MathMarkers()) {
    prelude += Declare(marker);
    macros += fmt::format("#define {0} ww_{0}\n#define {0}f ww_{0}f\n", marker.name);
    names += fmt::format("using ::ww_{0};\nusing ::ww_{0}f;\n", marker.name);
  }
  prelude += kComposed;
  prelude += fmt::format("namespace std {{\n{0}}}\nnamespace cuda {{ namespace std {{\n{0}}} }}\n", names);
  return prelude + macros + "#define sincosf ww_sincosf\n#define sincos ww_sincos\n";
}

}  // namespace warpwright::compile
