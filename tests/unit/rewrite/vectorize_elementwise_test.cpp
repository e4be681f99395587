#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::AddedLines;
using rewrite_test::Apply;
using rewrite_test::CompileError;

const std::string kRun = "void run(float* o, const float* a, int n) { k<<<(n + 255) / 256, 256>>>(o, a, n); }\n";

std::string Kernel(const std::string& body, const std::string& parameters = "float* o, const float* a, int n") {
  return "__global__ void k(" + parameters + ") {\n  " + body + "\n}\n";
}

TEST(VectorizeElementwise, WritesWhatAPersonWouldWrite) {
  const std::string source =
      "#include <cuda_runtime.h>\n\n"
      "// Adds.\n"
      "__global__ void add(float* out, const float* a, const float* b, int n) {\n"
      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "    if (i < n) {\n"
      "        // keep this\n"
      "        out[i] = a[i] + b[i];\n"
      "    }\n"
      "}\n\n"
      "void run(float* out, const float* a, const float* b, int n) {\n"
      "    const int threads = 256;\n"
      "    add<<<(n + threads - 1) / threads, threads>>>(out, a, b, n);\n"
      "}\n";
  const std::string result = Apply("vectorize_elementwise", source);
  EXPECT_EQ(
      result,
      "#include <cuda_runtime.h>\n\n"
      "// Elements that one access moves: an array with the alignment that a vector load needs.\n"
      "template <typename T, int N>\n"
      "struct alignas(sizeof(T) * N) AlignedVector {\n"
      "    T lane[N];\n"
      "};\n\n"
      "// Adds.\n"
      "__global__ void add(float* out, const float* a, const float* b, int n) {\n"
      "    // 4 neighbouring elements per thread, one access per array: fewer instructions and requests per byte.\n"
      "    const bool aligned =\n"
      "            (reinterpret_cast<size_t>(out) | reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b)) %\n"
      "            sizeof(AlignedVector<float, 4>) == 0;\n"
      "    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
      "    if (aligned && first + 4 <= n) {\n"
      "        AlignedVector<float, 4> out_vector;\n"
      "        const AlignedVector<float, 4> a_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(a + first);\n"
      "        const AlignedVector<float, 4> b_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(b + first);\n"
      "#pragma unroll\n"
      "        for (int lane = 0; lane < 4; ++lane) {\n"
      "            // keep this\n"
      "            out_vector.lane[lane] = a_vector.lane[lane] + b_vector.lane[lane];\n"
      "        }\n"
      "        *reinterpret_cast<AlignedVector<float, 4>*>(out + first) = out_vector;\n"
      "    } else {  // the tail, and arrays that are not aligned\n"
      "        for (int i = first; i < n && i < first + 4; ++i) {\n"
      "            // keep this\n"
      "            out[i] = a[i] + b[i];\n"
      "        }\n"
      "    }\n"
      "}\n\n"
      "void run(float* out, const float* a, const float* b, int n) {\n"
      "    const int threads = 256;\n"
      "    add<<<(n + 4 * threads - 1) / (4 * threads), threads>>>(out, a, b, n);\n"
      "}\n");
  EXPECT_EQ(CompileError(result), "");
}

TEST(VectorizeElementwise, Applies) {
  const std::string i = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  ";
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"early return", Kernel(i + "if (i >= n) return;\n  float v = a[i];\n  o[i] = v * v;"),
       "float v = a_vector.lane[lane];"},
      {"braced return", Kernel(i + "if (i >= n) { return; }\n  o[i] = a[i];"),
       "o_vector.lane[lane] = a_vector.lane[lane];"},
      {"comparison the other way round", Kernel(i + "if (n > i) o[i] = a[i];"),
       "o_vector.lane[lane] = a_vector.lane[lane];"},
      {"unsigned index",
       Kernel("const unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;\n  if (i < n) o[i] = a[i];"),
       "const unsigned int first = 4 * (threadIdx.x + blockDim.x * blockIdx.x);"},
      {"constant block size", Kernel("int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) o[i] = a[i];"),
       "4 * (blockIdx.x * 256 + threadIdx.x)"},
      {"broadcast operand",
       Kernel(i + "if (i < n) o[i] = a[i] + o2[i % 8];", "float* o, const float* a, int n, const float* o2 = nullptr"),
       "o2[i % 8]"},
      {"the index as a value", Kernel(i + "if (i < n) o[i] = i * a[i];"), "const int i = first + lane;"},
      {"values before the guard",
       Kernel("const float s = n * 0.5f;\n  " + i + "int r = i / 8;\n  if (i < n) o[i] = a[i] * s + r;"),
       "int r = i / 8;"},
      {"ldg", Kernel(i + "if (i < n) o[i] = __ldg(&a[i]) + __ldg(a + i);"),
       "o_vector.lane[lane] = a_vector.lane[lane] + a_vector.lane[lane];"},
      {"dereference", Kernel(i + "if (i < n) *(o + i) = *(a + i);"), "o_vector.lane[lane] = a_vector.lane[lane];"},
      {"in place", Kernel(i + "if (i < n) o[i] += a[i];"),
       "AlignedVector<float, 4> o_vector = *reinterpret_cast<const AlignedVector<float, 4>*>(o + first);"},
      {"selection by data", Kernel(i + "if (i < n) o[i] = a[i] > 0 ? a[i] : 0;"),
       "a_vector.lane[lane] > 0 ? a_vector.lane[lane] : 0;"},
      {"grid-stride",
       Kernel("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {\n    o[i] = "
              "a[i];\n  }"),
       "for (int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x); first < n; first += 4 * (blockDim.x * "
       "gridDim.x)) {"},
      {"grid-stride with variables",
       Kernel(i + "const int stride = gridDim.x * blockDim.x;\n  for (int j = i; j < n; j += stride) o[j] = a[j];"),
       "first += 4 * stride"},
      {"four names taken", Kernel("int first = 1, lane = 2;\n  " + i + "if (i < n) o[i] = a[i] * first + lane;"),
       "first2"},
  };
  for (const auto& [name, kernel, expected] : rows) {
    const std::string source = kernel + kRun;
    const std::string result = Apply("vectorize_elementwise", source);
    EXPECT_NE(result.find(expected), std::string::npos) << name << ":\n" << result;
    if (result.starts_with("REFUSED")) continue;
    EXPECT_EQ(CompileError(result), "") << name << ":\n" << result;
  }
}

TEST(VectorizeElementwise, Refuses) {
  const std::string i = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  ";
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"no guard", Kernel(i + "o[i] = a[i];"), "not of the form"},
      {"two indices",
       Kernel("int x = threadIdx.x, y = blockIdx.y;\n  if (x < n && y < n) o[y * n + x] = a[y * n + x];"),
       "not of the form"},
      {"guard with else", Kernel(i + "if (i < n) o[i] = a[i]; else o[0] = 1;"), "not of the form"},
      {"statement behind", Kernel(i + "if (i < n) o[i] = a[i];\n  o[0] = 1;"), "behind the bounds guard"},
      {"conditional store", Kernel(i + "if (i < n) { if (a[i] > 0) o[i] = a[i]; }"), "o is written under a condition"},
      {"store elsewhere", Kernel(i + "if (i < n) o[n - 1 - i] = a[i];"), "written at another index"},
      {"neighbour of what is written", Kernel(i + "if (i < n) { o[i] = a[i]; float v = o[i + 1]; }"),
       "written, and read at another index"},
      {"atomic", Kernel(i + "if (i < n) atomicAdd(&o[i], a[i]);"), "couples the elements"},
      {"shuffle", Kernel(i + "if (i < n) o[i] = __shfl_down_sync(~0u, a[i], 1);"), "couples the elements"},
      {"barrier", Kernel(i + "if (i < n) { o[i] = a[i]; __syncthreads(); }"), "couples the elements"},
      {"shared memory", Kernel("__shared__ float s[256];\n  " + i + "if (i < n) o[i] = s[threadIdx.x];"),
       "in shared memory"},
      {"vectors already", Kernel(i + "if (i < n) o[i] = a[i];", "float4* o, const float4* a, int n"), "already"},
      {"thread-dependent bound", Kernel(i + "if (i < n * threadIdx.x) o[i] = a[i];"), "bound is not the same"},
      {"bound from memory", Kernel(i + "if (i < *n) o[i] = a[i];", "float* o, const float* a, const int* n"),
       "bound is not the same"},
      {"another thread value", Kernel("int t = threadIdx.x;\n  " + i + "if (i < n) o[i] = a[i] * t;"),
       "depends on threadIdx"},
      {"return inside", Kernel(i + "if (i < n) { if (a[i] > 0) return; o[i] = a[i]; }"), "ends with return"},
      {"pointer escapes",
       "__device__ float f(const float* p, int i) { return p[i]; }\n" + Kernel(i + "if (i < n) o[i] = f(a, i);"),
       "cannot be followed"},
      {"access in a macro", "#define AT(p) p[i]\n" + Kernel(i + "if (i < n) AT(o) = AT(a) + AT(a);"), ""},
      {"reads only", Kernel(i + "if (i < n) { float v = a[i]; }"), "no array is written"},
      {"an element is a row",
       Kernel(i + "if (i < n) { float s = 0; for (int c = 0; c < n; c++) s += a[i * n + c]; o[i] = s; }"),
       "takes a loop"},
      {"stepped loop", Kernel("for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = a[i];"),
       "not a grid-stride loop"},
      {"volatile", Kernel(i + "if (i < n) o[i] = a[i];", "float* o, const volatile float* a, int n"), "volatile"},
      {"structures",
       "struct P { float x, y, z; };\n" + Kernel(i + "if (i < n) o[i].x = a[i].y;", "P* o, const P* a, int n"), ""},
  };
  for (const auto& [name, kernel, reason] : rows) {
    std::string run = kRun;
    if (kernel.find("float4* o") != std::string::npos)
      run = "void run(float4* o, const float4* a, int n) { k<<<(n + 255) / 256, 256>>>(o, a, n); }\n";
    if (kernel.find("P* o") != std::string::npos)
      run = "void run(P* o, const P* a, int n) { k<<<(n + 255) / 256, 256>>>(o, a, n); }\n";
    if (kernel.find("const int* n") != std::string::npos)
      run = "void run(float* o, const float* a, const int* n) { k<<<64, 256>>>(o, a, n); }\n";
    const std::string result = Apply("vectorize_elementwise", kernel + run);
    EXPECT_TRUE(result.starts_with("REFUSED")) << name << ":\n" << result;
    EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
  }
}

TEST(VectorizeElementwise, WidthIsBoundedBySixteenBytes) {
  const std::string i = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = a[i];";
  const std::tuple<const char*, const char*, bool> rows[] = {
      {"float", "4", true},  {"float", "8", false}, {"double", "2", true},       {"double", "4", false},
      {"__half", "8", true}, {"int", "4", true},    {"unsigned char", "8", true}};
  for (const auto& [type, width, applies] : rows) {
    const std::string t = type;
    const std::string source = "#include <cuda_fp16.h>\n" + Kernel(i, t + "* o, const " + t + "* a, int n") +
                               "void run(" + t + "* o, const " + t +
                               "* a, int n) { k<<<(n + 255) / 256, 256>>>(o, a, n); }\n";
    const std::string result = Apply("vectorize_elementwise", source, "run", {{"width", width}});
    EXPECT_EQ(!result.starts_with("REFUSED"), applies) << type << " x " << width << ": " << result;
  }
}

TEST(VectorizeElementwise, GridsInManyForms) {
  const std::string kernel = Kernel("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = a[i];");
  const std::string head =
      "#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))\n#define BLOCK 128\ninline int ceil_div(int a, int b) { return "
      "(a + b - 1) / b; }\n";
  const std::tuple<const char*, const char*> rows[] = {
      {"k<<<(n + 255) / 256, 256>>>(o, a, n);", "k<<<(n + 1023) / 1024, 256>>>(o, a, n);"},
      {"k<<<CEIL_DIV(n, 256), 256>>>(o, a, n);", "k<<<CEIL_DIV(n, 1024), 256>>>(o, a, n);"},
      {"k<<<ceil_div(n, BLOCK), BLOCK>>>(o, a, n);", "k<<<ceil_div(n, 4 * BLOCK), BLOCK>>>(o, a, n);"},
      {"k<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(o, a, n);", "k<<<(n + 4 * BLOCK - 1) / (4 * BLOCK), BLOCK>>>(o, a, n);"},
      {"int b = 256; int g = (n + b - 1) / b; k<<<g, b>>>(o, a, n);",
       "int b = 256; int g = (n + 4 * b - 1) / (4 * b); k<<<g, b>>>(o, a, n);"},
      {"dim3 b(256); dim3 g((n + b.x - 1) / b.x); k<<<g, b>>>(o, a, n);",
       "dim3 g((n + 4 * b.x - 1) / (4 * b.x)); k<<<g, b>>>(o, a, n);"},
      {"dim3 b(256), g(n / 256 + 1); k<<<g, b>>>(o, a, n);", "g((n / 256 + 1 + 3) / 4); k<<<g, b>>>(o, a, n);"},
      {"int g = ceil_div(n, 64); k<<<g, 64>>>(o, a, n); k<<<g, 64>>>(o, a, n);",
       "k<<<(g + 3) / 4, 64>>>(o, a, n); k<<<(g + 3) / 4, 64>>>(o, a, n);"},
      {"int g = ceil_div(n, 64); k<<<g, 64>>>(o, a, n); printf(\"%d\", g);",
       "k<<<(g + 3) / 4, 64>>>(o, a, n); printf(\"%d\", g);"},
      {"k<<<dim3(n, 2), 64>>>(o, a, n);", "REFUSED"},
      {"dim3 g; g.x = n; k<<<g, 64>>>(o, a, n);", "REFUSED"},
  };
  for (const auto& [launch, expected] : rows) {
    std::string source =
        "#include <stdio.h>\n" + head + kernel + "void run(float* o, const float* a, int n) { " + launch + " }\n";
    const std::string result = Apply("vectorize_elementwise", source);
    EXPECT_NE(result.find(expected), std::string::npos) << launch << ":\n" << result;
  }
}

TEST(VectorizeElementwise, AKernelThatOthersUseStays) {
  const std::string result = rewrite_test::ApplyToExample("vectorize_elementwise", "src/gelu.cu", "gelu_forward");
  EXPECT_NE(result.find("gelu_kernel_vec4<float><<<ceil_div(n, 4 * block_size), block_size>>>"), std::string::npos)
      << result;
  EXPECT_NE(result.find("gelu_kernel<__half><<<ceil_div(n, block_size), block_size>>>"), std::string::npos) << result;
  EXPECT_NE(result.find("__global__ void gelu_kernel(T* out"), std::string::npos);
  EXPECT_EQ(CompileError(result, "gelu_forward", "src/gelu.cu"), "");
}

TEST(VectorizeElementwise, ASecondKernelUsesTheSameStruct) {
  const std::string once = rewrite_test::ApplyToExample("vectorize_elementwise", "src/residual.cu", "residual_add");
  ASSERT_FALSE(once.starts_with("REFUSED")) << once;
  const std::string twice = Apply("vectorize_elementwise", once, "residual_add_half", {{"width", "8"}});
  EXPECT_EQ(twice.find("struct alignas"), twice.rfind("struct alignas")) << twice;
  EXPECT_NE(twice.find("AlignedVector<__half, 8>"), std::string::npos);
  EXPECT_EQ(CompileError(twice, "residual_add_half"), "");
  EXPECT_TRUE(Apply("vectorize_elementwise", once, "residual_add").starts_with("REFUSED"));
}

TEST(VectorizeElementwise, HelpersStandOutsideOfExternC) {
  const std::string kernel = Kernel("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = a[i];");
  for (const std::string& source :
       {"extern \"C\" {\n// Copies.\n" + kernel + kRun + "}\n", "// Copies.\nextern \"C\" " + kernel + kRun,
        "namespace x {\nnamespace {\n" + kernel + "}\n" + kRun + "}\n"}) {
    const std::string result = Apply("vectorize_elementwise", source);
    ASSERT_FALSE(result.starts_with("REFUSED")) << result;
    EXPECT_EQ(CompileError(result), "") << result;
  }
}

TEST(VectorizeElementwise, AManifestLaunchCannotBeAdapted) {
  const std::string simple = Kernel("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = a[i];");
  EXPECT_NE(Apply("vectorize_elementwise", simple, "k").find("the launch is given in the manifest"), std::string::npos);
  const std::string stride =
      Kernel("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) o[i] = a[i];");
  EXPECT_NE(Apply("vectorize_elementwise", stride, "k").find("o_vector"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
