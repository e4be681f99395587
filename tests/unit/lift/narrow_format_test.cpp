#include "lift/narrow_format.h"

#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

constexpr const char* kHead = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#define I threadIdx.x\n";

struct Row {
  const char* what;
  DType dtype;
  const char* body;  // of first(x, t), from x into t
  const char* then;  // of second(t, out)
  std::optional<DType> format;
};

const Row kRows[] = {
    {"what is read and what is stored", DType::kF16, "t[I] = __float2half(__half2float(x[I]) * 3.f);", "out[I] = x[I];",
     std::nullopt},
    {"pairs that are stored side by side", DType::kF16,
     "((__half2*)t)[I / 2] = __floats2half2_rn(__half2float(x[I]) * 3.f, __half2float(x[I ^ 1]) + 1.f);",
     "out[I] = x[I];", std::nullopt},
    {"halves between launches", DType::kF16, "t[I] = __float2half(__half2float(x[I]) * 3.f);",
     "out[I] = __float2half(__half2float(t[I]) + 1.f);", DType::kF16},
    {"a sum in halves", DType::kF16, "t[I] = __hfma(x[I], x[I], __hadd(x[I], x[I ^ 1]));", "out[I] = x[I];",
     DType::kF16},
    {"the larger half, without its sign", DType::kF16, "t[I] = __habs(__hmax(x[I], x[I ^ 1]));", "out[I] = x[I];",
     std::nullopt},
    {"bf16 between launches", DType::kBF16, "t[I] = __float2bfloat16(__bfloat162float(x[I]) * 3.f);",
     "out[I] = __float2bfloat16(__bfloat162float(t[I]) + 1.f);", DType::kBF16},
};

TEST(NarrowFormat, IsOfWhatIsUsedAgain) {
  for (const Row& row : kRows) {
    for (const bool cut : {false, true}) {
      const std::string type = row.dtype == DType::kF16 ? "__half" : "__nv_bfloat16";
      const std::string arguments = "(const " + type + "* x, " + type + "* t, " + type + "* out)";
      TraceKit kit = TraceKit::FromCuda(std::string(kHead) + "__global__ void first" + arguments + " {" + row.body +
                                            "}\n__global__ void second" + arguments + " {" + row.then + "}\n",
                                        {"first", "second"});
      const uint32_t x = kit.Argument("x", row.dtype, 8, [](size_t i) { return 0.3 * static_cast<double>(i) - 1; }),
                     t = kit.Argument("t", row.dtype, 8), out = kit.Argument("out", row.dtype, 8);
      kit.Launch("first", {1}, {8}, Pointer{x}, Pointer{t}, Pointer{out});
      kit.Launch("second", {1}, {8}, Pointer{x}, Pointer{t}, Pointer{out});
      kit.request.cut_launches = cut;
      TraceOutcome outcome = kit.Outcome();
      ASSERT_TRUE(std::holds_alternative<Trace>(outcome)) << row.what;
      EXPECT_EQ(NarrowFormatOf(std::get<Trace>(outcome)), row.format) << row.what << (cut ? ", launch by launch" : "");
    }
  }
}

}  // namespace
}  // namespace warpwright::lift
