// schedule_tensor_tiles: sums of products of two f16 or bf16 tensors on tensor cores, accumulated in f32. Tiles lie in
// shared memory as the factors do in memory, several steps ahead where neighbours can be copied past the registers;
// ldmatrix transposes what lies across.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "schedule/contraction_writer.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int kFirstArchitecture = 80;  // mma.m16n8k16 and cp.async
constexpr int kCopiesAhead = 4;         // steps in shared memory, if a factor is copied
constexpr int kPaddedHalves = 8;        // halves: 16 bytes, so that rows of a matrix are in different banks

constexpr std::array<TileShape, 4> kTensorShapes = {{
    {"128x128", 128, 128, 32, 2, 2, 2, 0.60},
    {"64x128", 64, 128, 32, 2, 2, 3, 0.45},
    {"128x64", 128, 64, 32, 2, 2, 3, 0.45},
    {"64x64", 64, 64, 32, 2, 2, 4, 0.35},
}};

constexpr std::string_view kMultiplyAdd = R"(// sum += a * b of a warp: 16 x 8 results of 16 terms.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b_low, unsigned b_high) {{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, "
      "{{%0, %1, %2, %3}};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}}

)";
constexpr std::string_view kLoadMatrices = R"(// Four 8 x 8 matrices from shared memory; each lane names a row of one.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

)";
constexpr std::string_view kLoadTransposed = R"(// The same, each matrix transposed.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

)";
constexpr std::string_view kCopyOctet =
    R"(// Eight neighbours into shared memory, zero from `count` on; without waiting for them where they are aligned.
__device__ __forceinline__ void copy_octet({0}* to, const {0}* from, int count, bool aligned) {{
  if (aligned && count >= 8) {{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
  }} else {{
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j] = j < count ? from[j] : {0}(0.0f);
  }}
}}

)";
constexpr std::string_view kCopyGroups =
    R"(// Copies up to here are one group; all but the last `kLeft` groups have arrived.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

)";

// A warp's results are matrices of 16 x 8; of each a lane has two neighbours in a row and in the eighth one below.
ResultLayout TensorLayout(const TileShape& shape) {
  return {shape.warp_m() / 8, shape.warp_n() / 4, 2,
          "thread_m + i * 8", "thread_n + j * 4", "sums[i / 2][j / 2][i % 2 * 2{}]"};
}

class TensorWriter final : public ContractionWriter {
 public:
  TensorWriter(const Problem& problem, const Group& group, ContractionGroup contraction, const TileShape& shape,
               Padding padding)
      : ContractionWriter(problem, group, std::move(contraction), shape, TensorLayout(shape), true, padding) {}

 private:
  bool copies() const { return left().copies() || right().copies(); }
  bool stores() const { return !left().copies() || !right().copies(); }
  int stages() const { return copies() ? kCopiesAhead : 2; }

  void WriteComment(Lines& kernel) const override {
    kernel.Add(
        fmt::format("// A block computes {} x {} results on tensor cores, {} terms a step, each warp {} x {} of them.",
                    shape().m, shape().n, shape().k, shape().warp_m(), shape().warp_n()));
    kernel.Add(copies() ? "// Copies into shared memory run kStages - 1 steps ahead."
                        : "// The next step's elements wait in registers while this one's are multiplied.");
  }

  static int TileBytes(const FactorLoads& factor, int rows, int terms) {
    return 2 * (factor.TermsAreNeighbours() ? rows * (terms + kPaddedHalves) : terms * (rows + kPaddedHalves));
  }
  std::string SharedBytes() const override {
    return std::to_string(stages() *
                          (TileBytes(left(), shape().m, shape().k) + TileBytes(right(), shape().n, shape().k)));
  }

  void WriteTiles(Lines& body) const override {
    body.Add(fmt::format("constexpr int kStages = {};", stages()));
    body.Add("// Rows are longer by 16 bytes, so that the rows of a matrix are in different banks.");
    body.Add("extern __shared__ __align__(16) unsigned char shared[];");
    const auto tile = [&](const FactorLoads& factor, const std::string& at) {
      body.Add(fmt::format("auto {} = reinterpret_cast<{}(*){}>({});", factor.tile(), factor.ElementType(),
                           factor.TileExtents(), at));
    };
    tile(left(), "shared");
    tile(right(), left().tile() + " + kStages");
  }

  void WriteThread(Lines& body) const override {
    body.Add("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    body.Add(fmt::format("const int warp_m = warp / {} * {}, warp_n = warp % {} * {};", shape().warps_n,
                         shape().warp_m(), shape().warps_n, shape().warp_n()));
  }

  void WriteSteps(Lines& body) const override {
    const int m = shape().warp_m() / 16, n = shape().warp_n() / 8;
    body.Add(fmt::format("float sums[{}][{}][4] = {{}};", m, n));
    body.Add("// The first kStages - 1 steps only load.");
    body.Open("for (int step = 1 - kStages; step < steps; ++step)");
    body.Open("if (step >= 0)");
    if (copies()) body.Add("wait_for_copies<kStages - 2>();");
    body.Add("__syncthreads();");
    body.Close();
    // The stage that is filled now was last read before that barrier.
    body.Add("const int next = step + kStages - 1;");
    body.Add("if (next < steps) load(next, next % kStages);");
    if (copies()) body.Add("end_copy_group();");
    body.Open("if (step >= 0)");
    body.Add("const int stage = step % kStages;");
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kTileK; k += 16)");
    WriteMultiply(body, m, n);
    body.Close();
    body.Close();
    if (stores()) {
      body.Open("if (next < steps)");
      body.Add("const int stage = next % kStages;");
      left().Store(body);
      right().Store(body);
      body.Close();
    }
    body.Close();
    body.Add("const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;");
  }

  void WriteMultiply(Lines& body, int m, int n) const {
    body.Add(fmt::format("unsigned a[{}][4], b[{}][4];", m, n / 2));
    const auto load = [&](const char* name, int count, const FactorLoads& factor, bool transposed,
                          const std::string& place) {
      body.Add("#pragma unroll");
      body.Add(fmt::format("for (int i = 0; i < {}; ++i)", count));
      body.Add(fmt::format("  load_matrices{}({}[i], &{}[stage]{});", transposed ? "_transposed" : "", name,
                           factor.tile(), place));
    };
    // Rows of `a` are results, of `b` terms, unless the tile lies across.
    if (left().TermsAreNeighbours()) load("a", m, left(), false, "[warp_m + i * 16 + lane % 16][k + lane / 16 * 8]");
    else load("a", m, left(), true, "[k + lane / 16 * 8 + lane % 8][warp_m + i * 16 + lane / 8 % 2 * 8]");
    if (right().TermsAreNeighbours())
      load("b", n / 2, right(), false, "[warp_n + i * 16 + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]");
    else load("b", n / 2, right(), true, "[k + lane % 16][warp_n + i * 16 + lane / 16 * 8]");
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", m));
    body.Add("#pragma unroll");
    body.Add(fmt::format("  for (int j = 0; j < {}; ++j)", n));
    body.Add("    multiply_add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);");
  }

  std::vector<std::string> Helpers() const override {
    const std::string type = left().ElementType();
    const bool along = left().TermsAreNeighbours() || right().TermsAreNeighbours();
    const bool across = !left().TermsAreNeighbours() || !right().TermsAreNeighbours();
    std::vector<std::string> helpers = {fmt::format(kMultiplyAdd, type == "__half" ? "f16" : "bf16")};
    if (along) helpers.emplace_back(kLoadMatrices);
    if (across) helpers.emplace_back(kLoadTransposed);
    if (!copies()) return helpers;
    helpers.push_back(fmt::format(kCopyOctet, type));
    helpers.emplace_back(kCopyGroups);
    return helpers;
  }
};

// The type of the one tensor that a factor is, where nothing is computed of it; none: tensor cores would have to round.
std::optional<core::DType> TypeOfFactor(const Problem& problem, const core::Stage& stage, const Factor& factor) {
  if (factor.nodes.size() != 1) return std::nullopt;
  const auto* read = std::get_if<core::TensorRead>(&stage.nodes[factor.nodes.front()]);
  const core::TensorArgument* tensor = read == nullptr ? nullptr : problem.form.FindTensor(read->tensor);
  if (tensor == nullptr || (tensor->dtype != core::DType::kF16 && tensor->dtype != core::DType::kBF16))
    return std::nullopt;
  for (const core::Coordinate& coordinate : read->at)
    if (!std::holds_alternative<core::Affine>(coordinate)) return std::nullopt;
  return tensor->dtype;
}

bool HasTensorCores(const core::Chip& chip) {
  int number = 0;
  const size_t digits = chip.arch.find_first_of("0123456789");
  if (digits == std::string::npos) return false;
  std::from_chars(chip.arch.data() + digits, chip.arch.data() + chip.arch.size(), number);
  return number >= kFirstArchitecture;
}

CodeOutcome EmitTensorTiles(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  auto found = ContractionGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  auto& contraction = std::get<ContractionGroup>(found);
  if (!HasTensorCores(problem.input.chip)) return Refuse("the chip has no tensor cores for halves");
  if (problem.in_double) return Refuse("the product is computed in double precision");
  const core::Stage& stage = problem.stage(contraction.stage);
  const auto left = TypeOfFactor(problem, stage, contraction.contraction.left);
  const auto right = TypeOfFactor(problem, stage, contraction.contraction.right);
  if (!left || !right || *left != *right)
    return Refuse("the factors are not two tensors of f16 or of bf16", stage.line);
  const std::string& tile = parameters.at("tile");
  const TileShape& shape =
      tile == "auto" ? BestTileShape(kTensorShapes, problem, contraction) : TileShapeOf(kTensorShapes, tile);
  return TensorWriter(problem, group, std::move(contraction), shape, PaddingOf(parameters)).Write("tensor_tiles");
}

}  // namespace

Schedule TensorTilesSchedule() {
  return {.id = "schedule_tensor_tiles",
          .title = "products in tiles on tensor cores",
          .parameters = {kPadding, {"tile", {"auto", "128x128", "64x128", "128x64", "64x64"}}},
          .emit = EmitTensorTiles};
}

}  // namespace warpwright::schedule
