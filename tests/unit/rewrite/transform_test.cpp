// Common to all transformations: ids, parameters, what is refused before any of them sees the kernel.
#include "rewrite/transform.h"

#include <gtest/gtest.h>

#include <set>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;

constexpr auto kScale =
    "__global__ void scale(float* out, const float* in, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2 * in[i];\n"
    "}\n";

TEST(Transforms, IdsAreUniqueAndParametersHaveDefaults) {
  std::set<std::string_view> ids;
  for (const rewrite::Transform& transform : rewrite::Transforms()) {
    EXPECT_TRUE(ids.insert(transform.id).second) << transform.id;
    EXPECT_EQ(rewrite::FindTransform(transform.id), &transform);
    for (const rewrite::TransformParameter& parameter : transform.parameters)
      EXPECT_FALSE(parameter.values.empty()) << parameter.name;
  }
  EXPECT_EQ(rewrite::FindTransform("no_such"), nullptr);
}

TEST(Transforms, UnknownIdsParametersAndValuesAreUsageErrors) {
  const std::string source =
      std::string(kScale) + "void run(float* o, const float* i, int n) { scale<<<n, 1>>>(o, i, n); }\n";
  EXPECT_TRUE(Apply("no_such", source).starts_with("ERROR: no transformation"));
  EXPECT_TRUE(
      Apply("launch_retune", source, "run", {{"block", "64"}}).starts_with("ERROR: launch_retune has no parameter"));
  EXPECT_TRUE(Apply("launch_retune", source, "run", {{"block_size", "100"}})
                  .starts_with("ERROR: launch_retune: block_size cannot be"));
}

TEST(Transforms, RefusalsThatConcernAllOfThem) {
  const std::string scale = kScale;
  const std::string run = "void run(float* o, const float* i, int n) { scale<<<(n + 127) / 128, 128>>>(o, i, n); }\n";
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"unknown entry", scale + run, "no function nothing"},
      {"no launch", scale + "void run(float* o) { o[0] = 1; }", "launches no kernel"},
      {"two kernels",
       scale + "__global__ void other(float* o) { o[0] = 1; }\nvoid run(float* o, const float* i, int n) { scale<<<n, "
               "1>>>(o, i, n); other<<<1, 1>>>(o); }",
       "several kernels"},
      {"header kernel", "#include \"include/common.cuh\"\nvoid run(float* o) { }", "launches no kernel"},
      {"made by a macro",
       "#define MAKE(name) __global__ void name(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x "
       "+ threadIdx.x; if (i < n) out[i] = in[i]; }\nMAKE(scale)\n" +
           run,
       "made by a macro"},
      {"launch in a macro",
       scale + "#define GO(o, i, n) scale<<<(n + 127) / 128, 128>>>(o, i, n)\nvoid run(float* o, const float* i, int "
               "n) { GO(o, i, n); }",
       "inside a macro"},
      {"overloaded", scale + "__global__ void scale(double* o) { o[0] = 1; }\n" + run, "overloaded"},
  };
  for (const auto& [name, source, reason] : rows) {
    const std::string entry = std::string(name) == "unknown entry" ? "nothing" : "run";
    for (const rewrite::Transform& transform : rewrite::Transforms()) {
      const std::string result = Apply(std::string(transform.id), source, entry);
      EXPECT_TRUE(result.starts_with("REFUSED")) << name << ", " << transform.id << ": " << result;
      if (transform.id == "vectorize_elementwise") {
        EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
      }
    }
  }
}

// No transformation may change code that it does not understand, and none may crash on it.
TEST(Transforms, BrokenSourcesAreRefused) {
  const char* sources[] = {
      "",
      "__global__ void",
      "__global__ void k(float* p) { for (",
      "void run() { k<<<1, 1>>>(); }",
      "__global__ void k(float* p) { if (p[0] } void run(float* p) { k<<<1, 32>>>(p); }",
      "template <typename T> __global__ void k(T* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += q; } void "
      "run(float* p) { k<float><<<1, 32>>>(p); }",
      "__global__ void k(float* p, int n) { int i = i; if (i < n) p[i] = 0; } void run(float* p, int n) { int g = g; "
      "k<<<g, g>>>(p, n); }",
      "__global__ void k(float p[], int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = 0; } "
      "void run(float* p, int n) { dim3 g; g.x = n; k<<<g, 1>>>(p, n); }",
  };
  for (const char* source : sources) {
    for (const rewrite::Transform& transform : rewrite::Transforms()) {
      const std::string result = Apply(std::string(transform.id), source);
      EXPECT_FALSE(result.starts_with("ERROR")) << source << ": " << result;
    }
  }
}

TEST(Transforms, EverythingBesidesTheKernelAndItsLaunchStaysByteForByte) {
  const std::string head = "// caf\xC3\xA9\r\n#if 0\n  broken {{{ code\n#endif\n\tstatic int  x;\n\n";
  const std::string tail = "\n\n/* end */ int y ;   \n// no newline at the end";
  const std::string run = "void run(float* o, const float* i, int n) {\n  scale<<<(n + 127) / 128, 128>>>(o, i, n);\n}";
  for (const char* transform : {"vectorize_elementwise", "restrict_readonly", "launch_retune"}) {
    const std::string result =
        Apply(transform, head + kScale + run + tail, "run",
              std::string(transform) == "launch_retune" ? rewrite_test::Parameters{{"block_size", "256"}}
                                                        : rewrite_test::Parameters{});
    EXPECT_TRUE(result.starts_with(head)) << transform << ": " << result;
    EXPECT_TRUE(result.ends_with(tail)) << transform;
  }
}

}  // namespace
}  // namespace warpwright
