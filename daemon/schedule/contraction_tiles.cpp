// schedule_tiles: sums of products of two factors (matrix products in any layout, convolutions) tile by tile, with
// fused multiply-adds. A block keeps a tile of results in registers and brings the factors' parts for some terms into
// shared memory, the next part while it multiplies this one; what becomes of a sum is computed before it is stored.
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

namespace warpwright::schedule {
namespace {

// A lane holds squares of 4 x 4 results; a warp's lanes, 4 by 8 of them, read a row of both tiles without bank
// conflicts.
constexpr int kSquare = 4, kLanesM = 4, kLanesN = 8;

constexpr std::array<TileShape, 5> kShapes = {{
    {"128x256", 128, 256, 8, 4, 2, 1, 0.82},  // of doubles there would be too many for registers
    {"128x128", 128, 128, 16, 4, 2, 2, 0.80},
    {"128x32", 128, 32, 16, 4, 1, 4, 0.55},
    {"32x128", 32, 128, 16, 1, 4, 4, 0.55},
    {"32x32", 32, 32, 32, 2, 1, 8, 0.35},
}};

// Of which a warp has all columns of its rows; the widest have no registers for doubles.
constexpr std::array<TileShape, 5> kRowShapes = {{
    {"64x256", 64, 256, 8, 4, 1, 1, 0.50},
    {"64x128", 64, 128, 16, 4, 1, 2, 0.50},
    {"64x64", 64, 64, 16, 4, 1, 3, 0.40},
    {"128x32", 128, 32, 16, 4, 1, 4, 0.40},
    {"32x32", 32, 32, 32, 2, 1, 8, 0.30},
}};

int ResultsM(const TileShape& shape) { return shape.warp_m() / kLanesM; }
int ResultsN(const TileShape& shape) { return shape.warp_n() / kLanesN; }

// Where a thread's i-th row or column of `count` is: squares are `apart`.
std::string StridedIndex(const char* thread, int count, const char* index, int apart) {
  if (count == kSquare) return fmt::format("{} + {}", thread, index);
  return fmt::format("{} + {} / 4 * {} + {} % 4", thread, index, apart, index);
}
ResultLayout LayoutOf(const TileShape& shape) {
  const int m = ResultsM(shape), n = ResultsN(shape);
  const std::string column = n == kSquare ? "thread_n" : fmt::format("thread_n + j / 4 * {}", kSquare * kLanesN);
  return {.rows = m,
          .columns = n,
          .width = kSquare,
          .row = StridedIndex("thread_m", m, "i", kSquare * kLanesM),
          .column = column,
          .sums = "sums[i][j{}]",
          .lanes = kLanesN};
}

class TilesWriter final : public ContractionWriter {
 public:
  TilesWriter(const Problem& problem, const Group& group, ContractionGroup contraction, const TileShape& shape,
              std::optional<RowTiles> row_tiles = std::nullopt)
      : ContractionWriter(problem, group, std::move(contraction), shape, LayoutOf(shape), false, std::move(row_tiles)) {
  }

 private:
  void WriteComment(Lines& kernel) const override {
    kernel.Add(fmt::format("// A block computes {} x {} results, {} terms a step: its parts of both factors stand in",
                           shape().m, shape().n, shape().k));
    kernel.Add("// shared memory, the next ones wait in registers while these are multiplied.");
  }

  void WriteTiles(Lines& body) const override {
    body.Add("// Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.");
    body.Add(fmt::format("__shared__ __align__(16) {} {}[2]{}, {}[2]{};", problem().real(), left().tile(),
                         left().TileExtents(), right().tile(), right().TileExtents()));
  }

  void WriteThread(Lines& body) const override {
    const auto offset = [](const std::string& warp, int extent, int warps) {
      return warps == 1 ? "" : fmt::format("{} * {} + ", warp, extent);
    };
    const int across = shape().warps_n;
    body.Add("// A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.");
    body.Add("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    body.Add(fmt::format(
        "const int thread_m = {}lane / 8 * 4, thread_n = {}lane % 8 * 4;",
        offset(across == 1 ? "warp" : fmt::format("warp / {}", across), shape().warp_m(), shape().warps_m),
        offset(shape().warps_m == 1 ? "warp" : fmt::format("warp % {}", across), shape().warp_n(), across)));
  }

  std::string Sums() const override { return fmt::format("[{}][{}]", ResultsM(shape()), ResultsN(shape())); }

  void WriteSteps(Lines& body) const override {
    const int m = ResultsM(shape()), n = ResultsN(shape());
    body.Open("for (int step = 0; step <= steps; ++step)");
    body.Add("if (step < steps) load(step);");
    body.Open("if (step > 0)");
    body.Add("const int stage = (step - 1) % 2;");
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kTileK; ++k)");
    body.Add(fmt::format("{} a[{}], b[{}];", problem().real(), m, n));
    const auto fragment = [&](const char* name, int count, const std::string& tile, const std::string& at) {
      body.Add("#pragma unroll");
      body.Add(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {}[stage][k][{}];", count, name, tile, at));
    };
    fragment("a", m, left().tile(), StridedIndex("thread_m", m, "i", kSquare * kLanesM));
    fragment("b", n, right().tile(), StridedIndex("thread_n", n, "i", kSquare * kLanesN));
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", m));
    body.Add("#pragma unroll");
    body.Add(fmt::format("  for (int j = 0; j < {}; ++j) {}[i][j] += a[i] * b[j];", n, sums()));
    body.Close();
    body.Close();
    body.Open("if (step < steps)");
    // That stage was last read before the barrier of the step before.
    body.Add("const int stage = step % 2;");
    left().Store(body);
    right().Store(body);
    body.Close();
    body.Add("__syncthreads();");
    body.Close();
  }

  std::vector<std::string> Helpers() const override {
    std::vector<std::string> helpers;
    for (const FactorLoads* factor : {&left(), &right()})
      if (const auto type = factor->groups()) {
        std::string text = LoadQuadText(*type);
        if (std::find(helpers.begin(), helpers.end(), text) == helpers.end()) helpers.push_back(std::move(text));
      }
    return helpers;
  }
};

CodeOutcome WriteTiles(const Problem& given, const Group& group, const ParameterValues& parameters,
                       std::vector<std::string>& conditions) {
  Problem problem = given;
  problem.form = WithSplitTerms(std::move(problem.form), conditions);
  if (problem.rows_in_turns) problem.form = WithWindowsOfProduct(problem, group);
  auto found = ContractionGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  auto& contraction = std::get<ContractionGroup>(found);
  const std::string& tile = parameters.at("tile");
  if (contraction.rows) {
    if (tile != "auto") return Refuse("rows of results say themselves which tiles they take");
    auto tiles = RowTilesOf(std::span(kRowShapes).subspan(problem.in_double ? 1 : 0), problem, contraction);
    if (!tiles) return Refuse("rows are longer than a tile");
    const TileShape& row_shape = *tiles->shape;
    return TilesWriter(problem, group, std::move(contraction), row_shape, std::move(tiles)).Write("row_tiles");
  }
  if (!contraction.others.empty() || contraction.window) {
    // Each of the products has sums of its own, and tiles in shared memory; beside sums stand windows' results.
    if (contraction.others.size() > 1) return Refuse("there is no shared memory for the tiles of three products");
    const auto few = std::span(kShapes).subspan(2);
    const TileShape* few_sums = tile == "auto" ? &BestTileShape(few, problem, contraction) : FindTileShape(few, tile);
    if (few_sums == nullptr) return Refuse("there are no registers for two such tiles of sums");
    const bool pools = contraction.window != nullptr;
    return TilesWriter(problem, group, std::move(contraction), *few_sums).Write(pools ? "pooled_tiles" : "tiles");
  }
  const auto shapes = std::span(kShapes).subspan(problem.in_double ? 1 : 0);
  const TileShape& shape = tile == "auto" ? BestTileShape(shapes, problem, contraction) : TileShapeOf(kShapes, tile);
  if (problem.in_double && &shape == &kShapes.front()) return Refuse("there are no registers for so many doubles");
  return TilesWriter(problem, group, std::move(contraction), shape).Write("tiles");
}

CodeOutcome EmitTiles(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  return WithOwnNames(problem, LocalsOfTiles(), [&](const Problem& own) {
    std::vector<std::string> conditions;
    CodeOutcome outcome = WriteTiles(own, group, parameters, conditions);
    if (auto* code = std::get_if<Code>(&outcome))
      code->conditions.insert(code->conditions.end(), conditions.begin(), conditions.end());
    return outcome;
  });
}

}  // namespace

Schedule TilesSchedule() {
  return {.id = "schedule_tiles",
          .title = "products in tiles",
          .parameters = {kPadding, kSizes, {"tile", {"auto", "128x256", "128x128", "128x32", "32x128", "32x32"}}},
          .emit = EmitTiles};
}

}  // namespace warpwright::schedule
