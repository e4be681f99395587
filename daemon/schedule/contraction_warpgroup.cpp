// Products of f16 or bf16 by wgmma: four warps multiply 64 rows of a tile straight from shared memory, where copies
// past the registers have brought it, swizzled over 128 bytes, while the steps before are multiplied.
#include "schedule/contraction_warpgroup.h"

#include <fmt/format.h>

#include <array>

#include "schedule/contraction_writer.h"
#include "schedule/tensor_cores.h"

namespace warpwright::schedule {
namespace {

// Every warp has 16 rows, all columns. Efficiencies are shares of mma.sync's peak, as those of other shapes are.
constexpr std::array<TileShape, 3> kWarpgroupShapes = {{
    {"128x256", 128, 256, 64, 8, 1, 1, 1.15},
    {"128x128", 128, 128, 64, 8, 1, 2, 0.95},
    {"64x128", 64, 128, 64, 4, 1, 3, 0.75},
}};
constexpr int kSharedOfStages = 224 << 10;  // bytes of a multiprocessor for the stages of all its blocks

ResultLayout WarpgroupLayout(const TileShape& shape) {
  return {2, shape.warp_n() / 4, 2, "thread_m + i * 8", "thread_n + j * 4", "sums[j / 2 * 4 + i * 2{}]"};
}

class WarpgroupWriter final : public ContractionWriter {
 public:
  WarpgroupWriter(const Problem& problem, const Group& group, const ContractionGroup& contraction,
                  const TileShape& shape, Padding padding)
      : ContractionWriter(problem, group, contraction, shape, WarpgroupLayout(shape), Elements::kPanels, padding) {}

  bool Fits() const { return left().copies() && right().copies(); }

 private:
  int stage_bytes() const { return 2 * shape().k * (shape().m + shape().n); }
  int stages() const { return std::min(4, kSharedOfStages / shape().blocks / stage_bytes()); }
  bool Walks() const { return StepsAreTerms() && left().Walks() && right().Walks(); }
  bool IsAligned() const override { return Walks() && left().AlwaysAligned() && right().AlwaysAligned(); }
  const char* Condition() const override { return "__CUDA_ARCH_FEAT_SM90_ALL"; }

  void WriteComment(Lines& kernel) const override {
    kernel.Add(
        fmt::format("// A block computes {} x {} results by wgmma, {} terms a step, every four warps 64 x {} of "
                    "them. Copies into",
                    shape().m, shape().n, shape().k, shape().n));
    kernel.Add(
        "// shared memory run kStages - 2 steps ahead: what is copied to was read by the product before the last.");
  }

  std::string SharedBytes() const override { return std::to_string(stages() * stage_bytes()); }

  void WriteTiles(Lines& body) const override {
    body.Add(fmt::format("constexpr int kStages = {};", stages()));
    body.Add("extern __shared__ __align__(1024) unsigned char shared[];");
    const auto tile = [&](const FactorLoads& factor, const std::string& at) {
      body.Add(fmt::format("auto {} = reinterpret_cast<{}(*){}>({});", factor.tile(), factor.ElementType(),
                           factor.TileExtents(), at));
    };
    tile(left(), "shared");
    tile(right(), left().tile() + " + kStages");
  }

  void WriteThread(Lines& body) const override {
    body.Add("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  }

  // Panels of 64 rows that are neighbours are as far apart as their terms are long.
  static std::string Described(const FactorLoads& factor, const std::string& tile) {
    return fmt::format("describe(shared_address({}), {})", tile, factor.TermsAreNeighbours() ? "0" : "kTileK * 128");
  }
  // From one slice of 16 terms to the next.
  static int SliceBytes(const FactorLoads& factor) { return factor.TermsAreNeighbours() ? 32 : 2048; }

  void WriteSteps(Lines& body) const override {
    body.Add(fmt::format("float sums[{}] = {{}};", shape().n / 2));
    body.Add("// The first stage's matrices, the left one from this warpgroup's rows on.");
    // Every warp of a group has the same value, and says so.
    body.Add(fmt::format("const int group = __shfl_sync(0xffffffff, warp / 4, 0);"));
    body.Add(fmt::format("const unsigned long long {} = {};", left().places(),
                         Described(left(), fmt::format("{}[0] + group * 64 * kTileK", left().tile()))));
    body.Add(fmt::format("const unsigned long long {} = {};", right().places(),
                         Described(right(), fmt::format("{}[0]", right().tile()))));
    body.Open("auto multiply = [&](int stage)");
    body.Add("begin_products();");
    body.Add("#pragma unroll");
    body.Add("for (int slice = 0; slice < kTileK / 16; ++slice)");
    AddBroken(body,
              fmt::format("  multiply_add(sums, {} + (stage * kTileM * kTileK * 2 + slice * {}) / 16, {} + (stage "
                          "* kTileN * kTileK * 2 + slice * {}) / 16);",
                          left().places(), SliceBytes(left()), right().places(), SliceBytes(right())));
    body.Add("end_products();");
    body.Close(";");
    if (!Walks()) {
      WriteCopied(body);
    } else if (IsAligned()) {
      WriteWalked(body);
    } else {
      body.Open(fmt::format("if ({} && {})", left().aligned(), right().aligned()));
      WriteWalked(body);
      body.Else();
      WriteUnaligned(body);
      body.Close();
    }
    body.Add("const int thread_m = warp * 16 + lane / 4, thread_n = lane % 4 * 2;");
  }

  // All addresses are known before the loop, but for constants.
  void WriteWalked(Lines& body) const {
    body.Add(fmt::format("int {} = {}, filled = 0;  // of the step that is copied next, and its stage", first_term(),
                         FirstTermOfBlock()));
    left().DeclareWalk(body);
    right().DeclareWalk(body);
    body.Open("auto copy = [&]");
    left().CopyWalking(body, "filled");
    right().CopyWalking(body, "filled");
    body.Add(fmt::format("{} += kTileK;", first_term()));
    body.Add("filled = filled + 1 < kStages ? filled + 1 : 0;");
    body.Add("end_copy_group();");
    body.Close(";");
    body.Add("for (int i = 0; i < kStages - 2; ++i) copy();");
    body.Add("int stage = 0;");
    body.Open("for (int step = 0; step < steps; ++step)");
    WriteArrival(body);
    body.Add("multiply(stage);");
    body.Add("copy();");
    body.Add("stage = stage + 1 < kStages ? stage + 1 : 0;");
    body.Add("wait_for_products<1>();");
    body.Close();
    WriteEnd(body);
  }

  static void WriteArrival(Lines& body) {
    body.Add("wait_for_copies<kStages - 3>();");
    body.Add("show_to_products();");
    body.Add("__syncthreads();");
  }
  static void WriteEnd(Lines& body) {
    body.Add("wait_for_copies<0>();");
    body.Add("wait_for_products<0>();");
  }

  void WriteCopied(Lines& body) const {
    body.Open("for (int step = 0; step < kStages - 2; ++step)");
    body.Add("if (step < steps) load(step, step);");
    body.Add("end_copy_group();");
    body.Close();
    body.Open("for (int step = 0; step < steps; ++step)");
    WriteArrival(body);
    body.Add("multiply(step % kStages);");
    body.Add("const int next = step + kStages - 2;");
    body.Add("if (next < steps) load(next, next % kStages);");
    body.Add("end_copy_group();");
    body.Add("wait_for_products<1>();");
    body.Close();
    WriteEnd(body);
  }

  void WriteUnaligned(Lines& body) const {
    body.Open("for (int step = 0; step < steps; ++step)");
    body.Add("load(step, 0);");
    body.Add("end_copy_group();");
    body.Add("wait_for_copies<0>();");
    body.Add("show_to_products();");
    body.Add("__syncthreads();");
    body.Add("multiply(0);");
    body.Add("wait_for_products<0>();");
    body.Add("__syncthreads();");
    body.Close();
  }

  std::vector<std::string> Helpers() const override {
    const std::string type = left().ElementType();
    std::vector<std::string> helpers = {
        WarpgroupMultiplyText(type, shape().n, !left().TermsAreNeighbours(), !right().TermsAreNeighbours()),
        std::string(kDescribeText), std::string(kWarpgroupOrderText), std::string(kSharedAddressText)};
    if (left().TermsAreNeighbours() || right().TermsAreNeighbours()) helpers.emplace_back(kSwizzledText);
    if (!left().TermsAreNeighbours() || !right().TermsAreNeighbours()) helpers.emplace_back(kPanelText);
    helpers.push_back(CopyAlignedOctetText(type));
    if (!IsAligned()) helpers.push_back(CopyOctetText(type));
    helpers.emplace_back(kCopyGroupsText);
    return helpers;
  }
};

}  // namespace

bool HasWarpgroupProducts(const core::Chip& chip) { return chip.arch == "sm_90a"; }

std::span<const TileShape> WarpgroupShapes() { return kWarpgroupShapes; }

std::optional<CodeOutcome> WriteWarpgroupTiles(const Problem& problem, const Group& group,
                                               const ContractionGroup& contraction, const TileShape& shape,
                                               Padding padding) {
  WarpgroupWriter writer(problem, group, contraction, shape, padding);
  if (!writer.Fits()) return std::nullopt;
  return writer.Write("warpgroup_tiles");
}

}  // namespace warpwright::schedule
