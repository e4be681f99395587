// schedule_tensor_tiles: sums of products of two f16 or bf16 tensors on tensor cores, accumulated in f32. Tiles lie in
// shared memory as the factors do in memory, several steps ahead where neighbours can be copied past the registers;
// ldmatrix transposes what lies across.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "schedule/contraction_writer.h"
#include "schedule/fixed_sizes.h"
#include "schedule/own_names.h"
#include "schedule/product_window.h"
#include "schedule/schedules.h"
#include "schedule/split_index.h"
#include "schedule/tensor_cores.h"

namespace warpwright::schedule {
namespace {

constexpr int kCopiesAhead = 4;  // steps in shared memory, if a factor is copied

constexpr std::array<TileShape, 5> kTensorShapes = {{
    {"128x256", 128, 256, 32, 2, 4, 1, 0.70},
    {"128x128", 128, 128, 32, 2, 2, 2, 0.60},
    {"64x128", 64, 128, 32, 2, 2, 3, 0.45},
    {"128x64", 128, 64, 32, 2, 2, 3, 0.45},
    {"64x64", 64, 64, 32, 2, 2, 4, 0.35},
}};

// Of which a warp has all columns of its rows.
constexpr std::array<TileShape, 6> kTensorRowShapes = {{
    {"64x256", 64, 256, 32, 4, 1, 1, 0.35},
    {"128x128", 128, 128, 32, 8, 1, 1, 0.35},
    {"64x128", 64, 128, 32, 4, 1, 2, 0.35},
    {"32x128", 32, 128, 32, 2, 1, 4, 0.20},
    {"128x64", 128, 64, 32, 4, 1, 2, 0.35},
    {"128x32", 128, 32, 32, 4, 1, 4, 0.20},
}};

// A warp's results are matrices of 16 x 8; of each a lane has two neighbours in a row and in the eighth one below.
ResultLayout TensorLayout(const TileShape& shape) {
  return {.rows = shape.warp_m() / 8,
          .columns = shape.warp_n() / 4,
          .width = 2,
          .row = "thread_m + i * 8",
          .column = "thread_n + j * 4",
          .sums = "sums[i / 2][j / 2][i % 2 * 2{}]",
          .lanes = 4};
}

class TensorWriter final : public ContractionWriter {
 public:
  TensorWriter(const Problem& problem, const Group& group, ContractionGroup contraction, const TileShape& shape,
               std::optional<RowTiles> row_tiles = std::nullopt)
      : ContractionWriter(problem, group, std::move(contraction), shape, TensorLayout(shape), true,
                          std::move(row_tiles)) {}

  // Whether registers suffice: the largest tile takes all that copies leave.
  bool Fits() const { return !stores() || &shape() != &kTensorShapes.front(); }

 private:
  bool copies() const { return left().copies() || right().copies(); }
  bool stores() const { return !left().copies() || !right().copies(); }
  int stages() const { return copies() ? kCopiesAhead : 2; }
  bool Walks() const { return StepsAreTerms() && left().Walks() && right().Walks(); }

  bool IsAligned() const override { return Walks() && left().AlwaysAligned() && right().AlwaysAligned(); }

  void WriteComment(Lines& kernel) const override {
    kernel.Add(
        fmt::format("// A block computes {} x {} results on tensor cores, {} terms a step, each warp {} x {} of them.",
                    shape().m, shape().n, shape().k, shape().warp_m(), shape().warp_n()));
    kernel.Add(copies() ? "// Copies into shared memory run kStages - 1 steps ahead."
                        : "// The next step's elements wait in registers while this one's are multiplied.");
  }

  std::string SharedBytes() const override {
    return std::to_string(stages() * 2 * shape().k * (shape().m + shape().n));
  }

  void WriteTiles(Lines& body) const override {
    body.Add(fmt::format("constexpr int kStages = {};", stages()));
    body.Add("extern __shared__ __align__(128) unsigned char shared[];");
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
    body.Add("const int thread_m = warp_m + lane / 4, thread_n = warp_n + lane % 4 * 2;");
  }

  int matrices_m() const { return shape().warp_m() / 16; }
  int matrices_n() const { return shape().warp_n() / 8; }

  std::string Sums() const override { return fmt::format("[{}][{}][4]", matrices_m(), matrices_n()); }

  void WriteSteps(Lines& body) const override {
    if (!Walks()) return stores() ? WriteStored(body) : WriteCopied(body);
    if (IsAligned()) return WriteWalked(body);
    body.Open(fmt::format("if ({} && {})", left().aligned(), right().aligned()));
    WriteWalked(body);
    body.Else();
    WriteUnaligned(body);
    body.Close();
  }

  // The next slice of 16 terms is read while this one is multiplied, also from the next step's tiles. All addresses are
  // known before the loop, but for constants: whatever is computed in it keeps the tensor cores waiting.
  void WriteWalked(Lines& body) const {
    body.Add("constexpr int kSlices = kTileK / 16;");
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
    body.Add(
        "// Where this lane reads matrices in the first stage; and those of the slice that is multiplied, and of the "
        "next.");
    WritePlaces(body, left(), "m", matrices_m());
    WritePlaces(body, right(), "n", matrices_n() / 2);
    WriteFragments(body, "[2]");
    body.Add("int stage = 0;");
    body.Open("auto read = [&](int slot, int slice)");
    WriteReadAt(body, left(), matrices_m());
    WriteReadAt(body, right(), matrices_n() / 2);
    body.Close(";");
    body.Add("for (int i = 0; i < kStages - 1; ++i) copy();");
    body.Add("wait_for_copies<kStages - 2>();");
    body.Add("__syncthreads();");
    body.Add("read(0, 0);");
    body.Open("for (int step = 0; step < steps; ++step)");
    body.Add("#pragma unroll");
    body.Open("for (int slice = 0; slice < kSlices; ++slice)");
    body.Open("if (slice + 1 == kSlices)");
    body.Add("wait_for_copies<kStages - 2>();");
    body.Add("__syncthreads();");
    body.Add("stage = stage + 1 < kStages ? stage + 1 : 0;");
    body.Close();
    body.Add("read((slice + 1) % 2, (slice + 1) % kSlices);");
    body.Add("if (slice == 0) copy();");
    WriteMultiply(body, "[slice % 2]");
    body.Close();
    body.Close();
    body.Add("wait_for_copies<0>();");
  }

  // Rows of the left factor's matrices are results, of the right one's terms, unless the tile lies across.
  static std::string RowOfLane(const FactorLoads& factor, bool right, const std::string& first) {
    if (factor.TermsAreNeighbours()) return first + (right ? "lane / 16 * 8 + lane % 8" : "lane % 16");
    return first + (right ? "lane / 16 * 8" : "lane / 8 % 2 * 8");
  }
  static std::string TermOfLane(const FactorLoads& factor, bool right, const std::string& first) {
    if (factor.TermsAreNeighbours()) return first + (right ? "lane / 8 % 2 * 8" : "lane / 16 * 8");
    return first + (right ? "lane % 16" : "lane / 16 * 8 + lane % 8");
  }

  // By slices, or by matrices, whichever are beside each other: below each other the swizzle is the same.
  void WritePlaces(Lines& body, const FactorLoads& factor, const char* axis, int matrices) const {
    const bool along = factor.TermsAreNeighbours(), right = &factor == &this->right();
    const std::string warp = fmt::format("warp_{} + ", axis);
    body.Add(fmt::format("unsigned {}[{}];", factor.places(), along ? "kSlices" : std::to_string(matrices)));
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", along ? "kSlices" : std::to_string(matrices)));
    const std::string row = RowOfLane(factor, right, along ? warp : warp + "i * 16 + ");
    const std::string term = TermOfLane(factor, right, along ? "i * 16 + " : "");
    AddBroken(body, fmt::format("  {}[i] = shared_address(&{});", factor.places(), factor.Element("0", row, term)));
  }

  void WriteReadAt(Lines& body, const FactorLoads& factor, int matrices) const {
    const bool along = factor.TermsAreNeighbours();
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", matrices));
    AddBroken(body,
              fmt::format("  load_matrices{}({}[slot][i], {}[{}] + {});", along ? "" : "_transposed", factor.matrices(),
                          factor.places(), along ? "slice" : "i", factor.BytesTo("stage", "i * 16", "slice * 16")));
  }

  void WriteUnaligned(Lines& body) const {
    body.Open("for (int step = 0; step < steps; ++step)");
    body.Add("load(step, 0);");
    body.Add("end_copy_group();");
    body.Add("wait_for_copies<0>();");
    body.Add("__syncthreads();");
    body.Add("const int stage = 0;");
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kTileK; k += 16)");
    WriteFragments(body, "");
    WriteRead(body, "");
    WriteMultiply(body, "");
    body.Close();
    body.Add("__syncthreads();");
    body.Close();
  }

  // All parts arrive by copies: the next slice of 16 terms is read while this one is multiplied, also from the next
  // step's tiles.
  void WriteCopied(Lines& body) const {
    body.Add("// Of the 16 terms that are multiplied, and of those that come next.");
    WriteFragments(body, "[2]");
    body.Open("auto read = [&](int slot, int stage, int k)");
    WriteRead(body, "[slot]");
    body.Close(";");
    body.Open("for (int step = 0; step < kStages - 1; ++step)");
    body.Add("if (step < steps) load(step, step);");
    body.Add("end_copy_group();");
    body.Close();
    body.Add("wait_for_copies<kStages - 2>();");
    body.Add("__syncthreads();");
    body.Add("if (steps > 0) read(0, 0, 0);");
    body.Add("constexpr int kSlices = kTileK / 16;");
    body.Open("for (int step = 0; step < steps; ++step)");
    body.Add("#pragma unroll");
    body.Open("for (int slice = 0; slice < kSlices; ++slice)");
    body.Open("if (slice + 1 < kSlices)");
    body.Add("read((slice + 1) % 2, step % kStages, (slice + 1) * 16);");
    body.Else();
    body.Add("wait_for_copies<kStages - 2>();");
    body.Add("__syncthreads();");
    body.Add("if (step + 1 < steps) read(0, (step + 1) % kStages, 0);");
    body.Close();
    body.Open("if (slice == 0)");
    // It was last read before the barrier of the step before.
    body.Add("const int next = step + kStages - 1;");
    body.Add("if (next < steps) load(next, next % kStages);");
    body.Add("end_copy_group();");
    body.Close();
    WriteMultiply(body, "[slice % 2]");
    body.Close();
    body.Close();
  }

  // A factor waits in registers: there is no room for the next slice too.
  void WriteStored(Lines& body) const {
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
    WriteFragments(body, "");
    WriteRead(body, "");
    WriteMultiply(body, "");
    body.Close();
    body.Close();
    body.Open("if (next < steps)");
    body.Add("const int stage = next % kStages;");
    left().Store(body);
    right().Store(body);
    body.Close();
    body.Close();
  }

  void WriteFragments(Lines& body, const char* slots) const {
    body.Add(fmt::format("unsigned {1}{0}[{2}][4], {3}{0}[{4}][4];", slots, left().matrices(), matrices_m(),
                         right().matrices(), matrices_n() / 2));
  }

  // From the tiles `stage`, the terms from k on.
  void WriteRead(Lines& body, const char* slot) const {
    const auto load = [&](const FactorLoads& factor, int count, bool right, const char* warp) {
      body.Add("#pragma unroll");
      body.Add(fmt::format("for (int i = 0; i < {}; ++i)", count));
      const std::string element =
          factor.Element("stage", RowOfLane(factor, right, warp), TermOfLane(factor, right, "k + "));
      AddBroken(body, fmt::format("  load_matrices{}({}{}[i], shared_address(&{}));",
                                  factor.TermsAreNeighbours() ? "" : "_transposed", factor.matrices(), slot, element));
    };
    load(left(), matrices_m(), false, "warp_m + i * 16 + ");
    load(right(), matrices_n() / 2, true, "warp_n + i * 16 + ");
  }

  void WriteMultiply(Lines& body, const std::string& slot) const {
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", matrices_m()));
    body.Add("#pragma unroll");
    body.Add(fmt::format("  for (int j = 0; j < {}; ++j)", matrices_n()));
    const std::string a = left().matrices() + slot, b = right().matrices() + slot;
    AddBroken(body,
              fmt::format("    multiply_add({2}[i][j], {0}[i], {1}[j / 2][j % 2 * 2], {1}[j / 2][j % 2 * 2 + 1]);", a,
                          b, sums()));
  }

  std::vector<std::string> Helpers() const override {
    const std::string type = left().ElementType();
    const bool along = left().TermsAreNeighbours() || right().TermsAreNeighbours();
    const bool across = !left().TermsAreNeighbours() || !right().TermsAreNeighbours();
    std::vector<std::string> helpers = {MultiplyAddText(type), std::string(kSwizzledText),
                                        std::string(kSharedAddressText)};
    if (along) helpers.emplace_back(kLoadMatricesText);
    if (across) helpers.emplace_back(kLoadTransposedText);
    if (!copies()) return helpers;
    helpers.push_back(CopyAlignedOctetText(type));
    if (!IsAligned()) helpers.push_back(CopyOctetText(type));
    helpers.emplace_back(kCopyGroupsText);
    return helpers;
  }
};

// Two tensors of one type.
bool IsOfHalves(const Problem& problem, const SumOfProducts& product) {
  const core::Stage& stage = problem.stage(product.stage);
  const auto left = TypeOfHalves(problem, stage, product.contraction.left.nodes);
  const auto right = TypeOfHalves(problem, stage, product.contraction.right.nodes);
  return left && right && *left == *right;
}

CodeOutcome WriteTensorTiles(const Problem& given, const Group& group, const ParameterValues& parameters,
                             std::vector<std::string>& conditions) {
  Problem problem = given;
  problem.form = WithSplitTerms(std::move(problem.form), conditions);
  if (problem.rows_in_turns) problem.form = WithWindowsOfProduct(problem, group);
  auto found = ContractionGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  auto& contraction = std::get<ContractionGroup>(found);
  if (!HasTensorCores(problem.input.chip)) return Refuse("the chip has no tensor cores for halves");
  if (problem.in_double) return Refuse("the product is computed in double precision");
  const core::Stage& stage = problem.stage(contraction.stage);
  if (!IsOfHalves(problem, {contraction.stage, contraction.contraction}) ||
      !std::all_of(contraction.others.begin(), contraction.others.end(),
                   [&](const SumOfProducts& other) { return IsOfHalves(problem, other); }))
    return Refuse("the factors are not two tensors of f16 or of bf16", stage.line);
  const std::string& tile = parameters.at("tile");
  if (contraction.rows) {
    if (tile != "auto") return Refuse("rows of results say themselves which tiles they take");
    auto tiles = RowTilesOf(kTensorRowShapes, problem, contraction);
    if (!tiles) return Refuse("rows are longer than a tile", stage.line);
    const TileShape& shape = *tiles->shape;
    return TensorWriter(problem, group, std::move(contraction), shape, std::move(tiles)).Write("tensor_rows");
  }
  if (!contraction.others.empty() || contraction.window) {
    // Each of the products has sums of its own, and so have windows of results.
    const auto shapes = std::span(kTensorShapes).subspan(contraction.others.size() < 2 ? 2 : 4);
    const TileShape* shape =
        tile == "auto" ? &BestTileShape(shapes, problem, contraction) : FindTileShape(shapes, tile);
    if (shape == nullptr) return Refuse("there are no registers for several such tiles of sums");
    const bool pools = contraction.window != nullptr;
    return TensorWriter(problem, group, std::move(contraction), *shape)
        .Write(pools ? "pooled_tensor_tiles" : "tensor_tiles");
  }
  if (tile != "auto") {
    TensorWriter writer(problem, group, std::move(contraction), TileShapeOf(kTensorShapes, tile));
    if (!writer.Fits()) return Refuse("elements that wait in registers leave no room for so large a tile");
    return writer.Write("tensor_tiles");
  }
  TensorWriter best(problem, group, contraction, BestTileShape(kTensorShapes, problem, contraction));
  if (best.Fits()) return best.Write("tensor_tiles");
  const std::span<const TileShape> smaller = std::span(kTensorShapes).subspan(1);
  return TensorWriter(problem, group, contraction, BestTileShape(smaller, problem, contraction)).Write("tensor_tiles");
}

CodeOutcome EmitTensorTiles(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  return WithOwnNames(problem, LocalsOfTiles(), [&](const Problem& own) {
    std::vector<std::string> conditions;
    CodeOutcome outcome = WriteTensorTiles(own, group, parameters, conditions);
    if (auto* code = std::get_if<Code>(&outcome))
      code->conditions.insert(code->conditions.end(), conditions.begin(), conditions.end());
    return outcome;
  });
}

}  // namespace

Schedule TensorTilesSchedule() {
  return {.id = "schedule_tensor_tiles",
          .title = "products in tiles on tensor cores",
          .parameters = {kPadding, kSizes, {"tile", {"auto", "128x256", "128x128", "64x128", "128x64", "64x64"}}},
          .emit = EmitTensorTiles};
}

}  // namespace warpwright::schedule
