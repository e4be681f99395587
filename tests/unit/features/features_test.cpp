#include "source/features.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace warpwright {
namespace {

core::StaticFeatures Extract(const std::string& text, size_t which = 0) {
  const auto ast = source::Ast::Parse({std::filesystem::temp_directory_path().string(), "a.cu", text});
  EXPECT_TRUE(ast) << (ast ? "" : ast.error().Format());
  const auto kernels = source::ast::Kernels(*ast);
  EXPECT_GT(kernels.size(), which) << text;
  return source::ExtractFeatures(*ast, kernels.at(which));
}

constexpr auto kI = "int i = blockIdx.x * blockDim.x + threadIdx.x; ";

TEST(Features, OperationClasses) {
  const std::string i = kI;
  const std::pair<core::OperationClass, std::string> rows[] = {
      {core::OperationClass::kElementwise,
       "__global__ void k(float* o, const float* a, int n) { " + i + "if (i < n) o[i] = a[i] * 2; }"},
      {core::OperationClass::kElementwise,
       "__global__ void k(float* o, const float* a, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < "
       "n; i += blockDim.x * "
       "gridDim.x) o[i] = tanhf(a[i]); }"},
      {core::OperationClass::kElementwise,
       "__global__ void bias(float* o, const float* a, const float* b, int n, int C) { " + i +
           "if (i >= n) return; o[i] = a[i] + b[i % C]; }"},
      {core::OperationClass::kElementwise,
       "__global__ void copy(float4* o, const float4* a, int n) { " + i + "if (i < n) o[i] = a[i]; }"},
      {core::OperationClass::kRowReduction,
       "__global__ void k(float* o, const float* a, int N, int C) { " + i +
           "if (i < N) { float s = 0; for (int c = 0; c < C; c++) s += a[i * C + c]; o[i] = s; } }"},
      {core::OperationClass::kRowReduction,
       "__global__ void k(float* o, const float* a, int C) { __shared__ float s[256]; float v = 0; for (int c = "
       "threadIdx.x; c < C; c += "
       "blockDim.x) v += a[blockIdx.x * C + c]; s[threadIdx.x] = v; __syncthreads(); for (int d = blockDim.x / 2; d > "
       "0; d /= 2) { if "
       "(threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) o[blockIdx.x] "
       "= s[0]; }"},
      {core::OperationClass::kRowNormalization,
       "__global__ void k(float* o, const float* a, int N, int C) { " + i +
           "if (i >= N) return; float s = 0; for (int c = 0; c < C; c++) s += a[i * "
           "C + c]; for (int c = 0; c < C; c++) o[i * C + c] = a[i * C + c] / s; }"},
      {core::OperationClass::kFullReduction,
       "__global__ void k(float* o, const float* a, int n) { float s = 0; for (int i = blockIdx.x * blockDim.x + "
       "threadIdx.x; i < n; i += "
       "blockDim.x * gridDim.x) s += a[i]; atomicAdd(o, s); }"},
      {core::OperationClass::kFullReduction,
       "__global__ void k(float* o, const float* a) { __shared__ float s[256]; int t = threadIdx.x; s[t] = "
       "a[blockIdx.x * 256 + t]; "
       "__syncthreads(); for (int d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); } if (t == "
       "0) o[blockIdx.x] = s[0]; }"},
      {core::OperationClass::kMatmul,
       "__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) { int r = blockIdx.y * "
       "blockDim.y + threadIdx.y; int q "
       "= blockIdx.x * blockDim.x + threadIdx.x; if (r < M && q < N) { float s = 0; for (int k = 0; k < K; k++) s += "
       "a[r * K + k] * b[k * N + q]; "
       "c[r * N + q] = s; } }"},
      {core::OperationClass::kMatmul,
       "__global__ void k(float* c, const float* a, const float* b, int N, int K) { " + i +
           "int r = i / N, q = i % N; float s = 0; for (int k = 0; k < K; k++) s = fmaf(a[r * "
           "K + k], b[k * N + q], s); c[i] = s; }"},
      {core::OperationClass::kTranspose,
       "__global__ void k(float* o, const float* a, int R, int C) { int x = blockIdx.x * 16 + threadIdx.x, y = "
       "blockIdx.y * 16 + threadIdx.y; "
       "if (x < C && y < R) o[x * R + y] = a[y * C + x]; }"},
      {core::OperationClass::kTranspose,
       "__global__ void k(float* o, const float* a, int R, int C) { __shared__ float t[32][33]; int x = blockIdx.x * "
       "32 + threadIdx.x, y = "
       "blockIdx.y * 32 + threadIdx.y; t[threadIdx.y][threadIdx.x] = a[y * C + x]; __syncthreads(); o[(blockIdx.x * 32 "
       "+ threadIdx.y) * R + "
       "blockIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y]; }"},
      {core::OperationClass::kHistogram,
       "__global__ void k(int* h, const unsigned char* a, int n) { " + i + "if (i < n) atomicAdd(&h[a[i]], 1); }"},
      {core::OperationClass::kGather, "__global__ void k(float* o, const float* w, const int* ix, int C) { " + i +
                                          "o[i] = w[ix[i / C] * C + i % C]; }"},
      {core::OperationClass::kScan,
       "__global__ void k(float* o, const float* a, int n) { float s = 0; for (int j = 0; j < n; j++) { s += a[j]; "
       "o[j] = s; } }"},
      {core::OperationClass::kStencil, "__global__ void k(float* o, const float* a, int n) { " + i +
                                           "if (i > 0 && i < n - 1) o[i] = a[i - 1] + a[i] + a[i + 1]; }"},
      {core::OperationClass::kStencil, "__global__ void k(float* o, const float* a, int n) { " + i +
                                           "float s = 0; for (int d = -2; d <= 2; d++) s += a[i + d]; o[i] = s; }"},
      {core::OperationClass::kUnknown,  // a convolution of one dimension and one channel
       "__global__ void k(float* o, const float* a, const float* w, int n, int size) { " + i +
           "int f = blockIdx.y; float s = 0; for (int k = 0; k < size; k++) s += a[i + k] * w[f * size + k]; o[f * n + "
           "i] = s; }"},
      {core::OperationClass::kUnknown,  // of channels
       "__global__ void k(float* o, const float* a, const float* w, int n, int c, int stride, int size) { " + i +
           "int f = blockIdx.y; float s = 0; for (int q = 0; q < c; q++) for (int k = 0; k < size; k++) "
           "s += a[q * n + i * stride + k] * w[(f * c + q) * size + k]; o[f * n + i] = s; }"},
      {core::OperationClass::kUnknown,  // an attention of one query for each thread
       "__global__ void k(float* o, const float* a, const float* b, int n, int d) { " + i +
           "float m = -1e30f; for (int t = 0; t < n; t++) { float s = 0; int r = blockIdx.y; for (int k = 0; k < d; "
           "k++) "
           "s += a[i * d + k] * b[(r * n + t) * d + k]; m = fmaxf(m, s); } o[i] = m; }"},
      {core::OperationClass::kUnknown, "__global__ void k() {}"},
  };
  for (const auto& [operation, text] : rows)
    EXPECT_EQ(core::Name(Extract(text).operation), core::Name(operation)) << text;
}

TEST(Features, AccessPatterns) {
  const std::tuple<const char*, core::AccessPattern, const char*> rows[] = {
      {"p[threadIdx.x]", core::AccessPattern::kCoalesced, ""},
      {"p[blockIdx.x * 256 + threadIdx.x]", core::AccessPattern::kCoalesced, ""},
      {"p[2 * threadIdx.x]", core::AccessPattern::kStrided, "2"},
      {"p[threadIdx.x * C]", core::AccessPattern::kStrided, "C"},
      {"p[blockIdx.x]", core::AccessPattern::kBroadcast, ""},
      {"p[0]", core::AccessPattern::kBroadcast, ""},
      {"p[threadIdx.y]", core::AccessPattern::kBroadcast, ""},
      {"p[ix[threadIdx.x]]", core::AccessPattern::kIndirect, ""},
      {"p[threadIdx.x % C]", core::AccessPattern::kCoalesced, ""},
      {"p[threadIdx.x / C]", core::AccessPattern::kBroadcast, ""},
      {"p[(threadIdx.x % 8) * C]", core::AccessPattern::kStrided, "C"},
      {"p[threadIdx.x * threadIdx.x]", core::AccessPattern::kUnknown, ""},
      {"p[threadIdx.x ^ 3]", core::AccessPattern::kUnknown, ""},
      {"reinterpret_cast<const float4*>(p)[threadIdx.x].x", core::AccessPattern::kCoalesced, ""},
  };
  for (const auto& [access, pattern, stride] : rows) {
    const core::StaticFeatures features =
        Extract("__global__ void k(float* o, const float* p, const int* ix, int C) { float v = " + std::string(access) +
                "; o[0] = v; }");
    bool found = false;
    for (const core::AccessInfo& info : features.accesses) {
      if (info.pointer != "p") continue;
      found = true;
      EXPECT_EQ(core::Name(info.pattern), core::Name(pattern)) << access;
      EXPECT_EQ(info.stride, stride) << access;
      EXPECT_TRUE(info.reads && !info.writes) << access;
    }
    EXPECT_TRUE(found) << access;
  }
}

TEST(Features, VectorWidths) {
  const std::pair<const char*, int> rows[] = {
      {"__global__ void k(float* p) { p[threadIdx.x] = 0; }", 1},
      {"__global__ void k(float4* p) { p[threadIdx.x].x = 0; }", 4},
      {"__global__ void k(float* p) { ((float2*)p)[threadIdx.x] = make_float2(0, 0); }", 2},
      {"#include <cuda_fp16.h>\n__global__ void k(__half2* p, const __half2* q) { p[threadIdx.x] = q[threadIdx.x]; }",
       2},
      {"#include <cuda_fp16.h>\n__global__ void k(__half* p, const uint4* q) { *reinterpret_cast<uint4*>(p + 8 * "
       "threadIdx.x) = q[0]; }",
       8},
      {"template <typename T, int N> struct alignas(sizeof(T) * N) V { T x[N]; };\n"
       "template <typename T> __global__ void k(T* p, const T* q) { *reinterpret_cast<V<T, 4>*>(p + 4 * threadIdx.x) = "
       "*reinterpret_cast<const V<T, 4>*>(q + 4 * threadIdx.x); }",
       4},
  };
  for (const auto& [text, width] : rows) {
    const core::StaticFeatures features = Extract(text);
    EXPECT_EQ(features.max_vector_width, width) << text;
    EXPECT_EQ(features.vectorized, width > 1) << text;
    ASSERT_FALSE(features.accesses.empty());
    EXPECT_EQ(core::Name(features.accesses[0].pattern), core::Name(core::AccessPattern::kCoalesced)) << text;
  }
}

TEST(Features, TailsOfVectorsAreNotStridedAccesses) {
  const core::StaticFeatures features = Extract(
      "__global__ void k(float* o, int n) { int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
      "  if (i + 4 <= n) *reinterpret_cast<float4*>(o + i) = make_float4(0, 0, 0, 0);\n"
      "  else for (int j = i; j < n; ++j) o[j] = 0; }");
  ASSERT_EQ(features.accesses.size(), 1u);
  EXPECT_EQ(features.accesses[0].pattern, core::AccessPattern::kCoalesced);
  EXPECT_EQ(features.accesses[0].vector_width, 4);
}

TEST(Features, LoopsAreDescribed) {
  const core::StaticFeatures features = Extract(
      "__global__ void k(float* o, const float* a, int C) {\n"
      "  float s = 0, m = -1e30f;\n"
      "  for (int c = threadIdx.x; c < C; c += blockDim.x) {\n"
      "    s += a[c];\n"
      "    m = fmaxf(m, a[c]);\n"
      "  }\n"
      "#pragma unroll 4\n"
      "  for (int r = 0; r < 16; ++r) {\n"
      "    for (int q = r; q; q >>= 1) o[q] = s;\n"
      "  }\n"
      "  while (o[0] > m) o[0] -= 1;\n"
      "}\n");
  ASSERT_EQ(features.loops.size(), 4u);
  EXPECT_EQ(features.loops[0].line, 3);
  EXPECT_EQ(features.loops[0].bound, "C");
  EXPECT_TRUE(features.loops[0].thread_strided && features.loops[0].accumulates);
  EXPECT_FALSE(features.loops[0].trip_count || features.loops[0].unrolled);
  EXPECT_EQ(features.loops[1].trip_count, 16);
  EXPECT_TRUE(features.loops[1].unrolled);
  EXPECT_FALSE(features.loops[1].accumulates || features.loops[1].thread_strided);
  EXPECT_EQ(features.loops[2].depth, 1);
  EXPECT_EQ(features.loops[3].bound, "");
  EXPECT_EQ(features.independent_accumulators, 2);
}

TEST(Features, AccumulatorsInManySpellings) {
  const std::pair<const char*, bool> rows[] = {
      {"s += a[c];", true},
      {"s = s + a[c];", true},
      {"s = a[c] * b + s;", true},
      {"s = fmaf(a[c], b, s);", true},
      {"s = fmaxf(s, a[c]);", true},
      {"s = max(a[c], s);", true},
      {"if (a[c] > s) s = a[c];", true},
      {"if (s > a[c]) { s = a[c]; }", true},
      {"s = a[c] > s ? a[c] : s;", true},
      {"s *= a[c];", true},
      {"s = a[c];", false},
      {"s += s * a[c];", false},
      {"s += a[c]; o[c] = s;", false},
      {"s = s / 2 + a[c];", false},
  };
  for (const auto& [update, expected] : rows) {
    const core::StaticFeatures features = Extract(
        "__global__ void k(float* o, const float* a, float b, int C) { float s = 0; for (int c = 0; c < C; c++) { " +
        std::string(update) + " } o[0] = s; }");
    ASSERT_EQ(features.loops.size(), 1u);
    EXPECT_EQ(features.loops[0].accumulates, expected) << update;
  }
}

TEST(Features, SynchronizationIsCountedAlsoInDeviceFunctions) {
  const core::StaticFeatures features = Extract(
      "__device__ float warp_sum(float v) { for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d); return v; }\n"
      "__device__ float block_sum(float v) { __shared__ float s[32]; s[threadIdx.x / 32] = warp_sum(v); "
      "__syncthreads(); return warp_sum(s[0]); }\n"
      "__global__ void k(float* o, const float* a) { extern __shared__ float dyn[]; __shared__ int n[4]; float v = "
      "block_sum(a[threadIdx.x]);\n"
      "  if (__any_sync(~0u, v > 0)) atomicAdd(o, expf(v)); __syncthreads(); dyn[0] = n[0]; }\n");
  EXPECT_EQ(features.barriers, 2);
  EXPECT_EQ(features.shuffles, 1);
  EXPECT_EQ(features.votes, 1);
  EXPECT_EQ(features.atomics, 1);
  EXPECT_EQ(features.shared_bytes, 16);
  EXPECT_TRUE(features.dynamic_shared);
  EXPECT_EQ(features.math, std::set<std::string>{"expf"});
}

TEST(Features, GuardsAreNotDivergence) {
  const std::string i = kI;
  const std::tuple<std::string, bool, int> rows[] = {
      {i + "if (i < n) o[i] = 0;", true, 0},
      {i + "if (i >= n) return; o[i] = 0;", true, 0},
      {i + "if (threadIdx.x == 0) o[i] = 0;", false, 1},
      {i + "if (i < n) { if (i % 2) o[i] = 0; }", true, 1},
      {i + "if (i < n) o[i] = 0; else o[i] = 1;", false, 1},
      {"if (n > 3) o[0] = 0;", false, 0},
  };
  for (const auto& [body, guard, divergent] : rows) {
    const core::StaticFeatures features = Extract("__global__ void k(float* o, int n) { " + body + " }");
    EXPECT_EQ(features.bounds_guard, guard) << body;
    EXPECT_EQ(features.divergent_branches, divergent) << body;
  }
}

TEST(Features, QualifiersAndBounds) {
  const std::tuple<const char*, bool, bool> rows[] = {
      {"__global__ void k(float* o, const float* a) { o[0] = a[0]; }", false, false},
      {"__global__ void k(float* o, const float* __restrict__ a) { o[0] = a[0]; }", true, false},
      {"__global__ void k(float* o, float* __restrict__ a) { o[0] = a[0]; }", false, false},
      {"__global__ void k(float* o) { o[0] = 1; }", true, false},
      {"__global__ void __launch_bounds__(256) k(float* o) { o[0] = 1; }", true, true},
      {"template <int N> __global__ __launch_bounds__(N, 2) void k(float* o) { o[0] = 1; }", true, true},
  };
  for (const auto& [text, const_restrict, bounds] : rows) {
    const core::StaticFeatures features = Extract(text);
    EXPECT_EQ(features.const_restrict, const_restrict) << text;
    EXPECT_EQ(features.launch_bounds, bounds) << text;
  }
}

TEST(Features, SpecialUnits) {
  EXPECT_TRUE(Extract("__global__ void k(float* o) { asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                      "{}, {}, {}, {};\"); }")
                  .tensor_cores);
  EXPECT_EQ(Extract("__global__ void k(float* o) { asm volatile(\"mma.sync.aligned;\"); }").operation,
            core::OperationClass::kMatmul);
  EXPECT_TRUE(Extract("__global__ void k(float* o) { asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" :: "
                      "\"r\"(0), \"l\"(o)); }")
                  .async_copy);
  EXPECT_TRUE(
      Extract("__global__ void k(float* o) { __shared__ float s[4]; __pipeline_memcpy_async(s, o, 16); }").async_copy);
  EXPECT_TRUE(Extract("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(float* "
                      "o) { auto b = cg::this_thread_block(); o[0] = 0; }")
                  .cooperative_groups);
  EXPECT_FALSE(Extract("__global__ void k(float* o) { o[0] = 0; }").tensor_cores);
}

TEST(Features, OneThreadPerRow) {
  const std::string i = kI;
  const std::pair<std::string, bool> rows[] = {
      {i + "float s = 0; for (int c = 0; c < C; c++) s += a[i * C + c]; o[i] = s;", true},
      {i + "const float* x = a + (size_t)i * C; float s = 0; for (int c = 0; c < C; c++) s += x[c]; o[i] = s;", true},
      {"float s = 0; for (int c = threadIdx.x; c < C; c += blockDim.x) s += a[blockIdx.x * C + c]; o[blockIdx.x] = s;",
       false},
      {i + "float s = 0; for (int c = 0; c < C; c++) s += a[c * C + i]; o[i] = s;", false},
      {i + "float s = 0; for (int c = 0; c < 4; c++) s += a[i * 4 + c]; o[i] = s;", false},
  };
  for (const auto& [body, expected] : rows)
    EXPECT_EQ(Extract("__global__ void k(float* o, const float* a, int C) { " + body + " }").one_thread_per_row,
              expected)
        << body;
}

TEST(Features, ElementTypesComeFromTheLaunchesOfATemplate) {
  const std::string kernel =
      "#include <cuda_fp16.h>\ntemplate <typename T> __global__ void k(T* o, const T* a) { o[0] = a[0]; }\n";
  EXPECT_EQ(Extract(kernel + "void f(float* o, const float* a) { k<<<1, 1>>>(o, a); }").dtypes,
            std::set<core::DType>{core::DType::kF32});
  EXPECT_EQ(Extract(kernel + "template <typename T> void run(T* o, const T* a) { k<T><<<1, 1>>>(o, a); }\n"
                             "void f(__half* o, const __half* a) { run<__half>(o, a); }")
                .dtypes,
            std::set<core::DType>{core::DType::kF16});
  EXPECT_TRUE(Extract(kernel).dtypes.empty());
}

TEST(Features, UnknownStaysUnknown) {
  const core::StaticFeatures features = Extract(
      "template <typename Op, typename T> __global__ void k(Op op, T o, T a, int n) { int i = op.index(); for (auto it "
      "= op.begin(); it != op.end(); ++it) o[i] = op(a[i]); }");
  EXPECT_EQ(features.operation, core::OperationClass::kUnknown);
  EXPECT_TRUE(features.dtypes.empty());
  const core::StaticFeatures macro =
      Extract("#define BODY(o) for (int i = 0; i < 4; ++i) o[i] = i;\n__global__ void k(float* o) { BODY(o) }");
  EXPECT_EQ(macro.loops.size(), 0u);
}

// The repository's own examples, each as a person would classify it.
TEST(Features, Examples) {
  const std::tuple<const char*, core::OperationClass, bool> rows[] = {
      {"softmax", core::OperationClass::kRowNormalization, true},
      {"layernorm", core::OperationClass::kRowNormalization, true},
      {"rmsnorm", core::OperationClass::kRowNormalization, true},
      {"gelu", core::OperationClass::kElementwise, false},
      {"residual", core::OperationClass::kElementwise, false},
      {"matmul", core::OperationClass::kMatmul, false},
      {"transpose", core::OperationClass::kTranspose, false},
      {"row_sum", core::OperationClass::kRowReduction, true},
      {"argmax", core::OperationClass::kRowReduction, true},
      {"histogram", core::OperationClass::kHistogram, false},
      {"cross_entropy", core::OperationClass::kRowReduction, true},
      {"attention", core::OperationClass::kMatmul, false}};
  const std::string root = std::string(WW_SOURCE_DIR) + "/config/examples/kernels";
  for (const auto& [name, operation, per_row] : rows) {
    const std::string file = std::string("src/") + name + ".cu";
    const auto text = base::ReadFile(root + "/" + file);
    ASSERT_TRUE(text);
    const auto ast = source::Ast::Parse({root, file, *text});
    ASSERT_TRUE(ast);
    EXPECT_TRUE(ast->Diagnostics().empty()) << file << ": " << ast->Diagnostics().front();
    const core::StaticFeatures features = source::ExtractFeatures(*ast, source::ast::Kernels(*ast).at(0));
    EXPECT_EQ(core::Name(features.operation), core::Name(operation)) << file;
    EXPECT_EQ(features.one_thread_per_row, per_row) << file;
    EXPECT_TRUE(features.bounds_guard) << file;
    EXPECT_FALSE(features.dtypes.empty()) << file;
  }
}

}  // namespace
}  // namespace warpwright
