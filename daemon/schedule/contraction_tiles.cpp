// schedule_tiles: sums of products of two factors (matrix products in any layout, convolutions) tile by tile, with
// fused multiply-adds. A block keeps a tile of results in registers and brings the factors' parts for some terms into
// shared memory, the next part while it multiplies this one; what becomes of a sum is computed before it is stored.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/polynomial.h"
#include "schedule/contraction_loads.h"
#include "schedule/contraction_results.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

// Terms that are worth a loop of their own around the others (the channels of a convolution, around its taps).
constexpr int64_t kLongAxis = 16;

// The sum's variables within a step, and those that are the same for all of it: taps of a window, whose guards and
// offsets need no division then.
struct SplitSum {
  std::vector<Axis> inner, outer;
};
SplitSum Split(const Problem& problem, const std::vector<Axis>& k) {
  const auto length = [&](const Axis& axis) { return ValueIn(axis.extent, HeaviestCase(problem)).value_or(0); };
  const auto longest =
      std::max_element(k.begin(), k.end(), [&](const Axis& a, const Axis& b) { return length(a) < length(b); });
  SplitSum split;
  if (k.size() == 1 || length(*longest) < kLongAxis) return {k, {}};
  for (const Axis& axis : k) (axis == *longest ? split.inner : split.outer).push_back(axis);
  return split;
}

class TilesWriter {
 public:
  TilesWriter(const Problem& problem, const Group& group, ContractionGroup contraction, const TileShape& shape)
      : problem_(problem),
        group_(group),
        of_(std::move(contraction)),
        stage_(problem.stage(of_.stage)),
        shape_(shape),
        names_(problem),
        variables_(NamesOfVariables(stage_, of_.contraction.k, names_)),
        split_(Split(problem, of_.contraction.k)),
        batch_(of_.contraction.batch, variables_, names_, "batch", "batches"),
        rows_(of_.contraction.m, variables_, names_, "row", "rows"),
        columns_(of_.contraction.n, variables_, names_, "column", "columns"),
        terms_(split_.inner, variables_, names_, "term", "terms"),
        outer_(split_.outer, variables_, names_, "tap", "taps") {}

  CodeOutcome Write() {
    first_row_ = names_.Take("first_" + rows_.index());
    first_column_ = names_.Take("first_" + columns_.index());
    scope_ = {&terms_, names_.Take("first_" + terms_.index()), {}};
    batch_.Bind(scope_.uniform);
    outer_.Bind(scope_.uniform);
    FactorLoads left(problem_, stage_, of_.contraction.left, rows_, first_row_, shape_.m, scope_, shape_, names_);
    FactorLoads right(problem_, stage_, of_.contraction.right, columns_, first_column_, shape_.n, scope_, shape_,
                      names_);
    ResultStores results(problem_, of_, rows_, columns_, batch_, variables_, names_);
    const std::string name = KernelName(problem_, "tiles");
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    const std::string formula = FormulaComment(problem_, group_);
    kernel.Add(formula.substr(0, formula.rfind('\n')));
    WriteComment(kernel);
    kernel.Add(
        Head(fmt::format("__global__ void __launch_bounds__({})", shape_.threads()), name, arguments.parameters));
    Lines body(1);
    WritePlaces(body, left, right);
    left.Declare(body);
    right.Declare(body);
    WriteLoads(body, left);
    WriteLoads(body, right);
    WriteSteps(body, left, right);
    results.Write(body, shape_, first_row_, first_column_);
    kernel.Append(body);
    kernel.Add("}");
    for (const auto& refusal : {left.refusal(), right.refusal(), results.refusal()})
      if (refusal) return *refusal;
    Code code;
    code.helpers = HelpersFor(left, right, results);
    code.kernels = kernel.text();
    code.launch = WriteLaunch(name, arguments);
    code.notes = {fmt::format("tiles of {} x {} results, {} terms a step", shape_.m, shape_.n, shape_.k)};
    return code;
  }

 private:
  void WriteComment(Lines& kernel) const {
    kernel.Add("//");
    kernel.Add(fmt::format("// A block computes {} x {} results, {} terms a step: its parts of both factors stand in",
                           shape_.m, shape_.n, shape_.k));
    kernel.Add("// shared memory, the next ones wait in registers while these are multiplied.");
  }

  void WritePlaces(Lines& body, const FactorLoads& left, const FactorLoads& right) const {
    body.Add(fmt::format("constexpr int kTileM = {}, kTileN = {}, kTileK = {};", shape_.m, shape_.n, shape_.k));
    body.Add("// Rows are longer by 4, so that a column's elements are in different banks and quads stay aligned.");
    body.Add(fmt::format("__shared__ __align__(16) {} {}[2][kTileK][kTileM + 4], {}[2][kTileK][kTileN + 4];",
                         problem_.real(), left.tile(), right.tile()));
    for (const FlatAxis* axis : {&batch_, &rows_, &columns_, &terms_, &outer_}) axis->DeclareExtents(body);
    body.Add(fmt::format("const int {} = blockIdx.y * kTileM, {} = blockIdx.x * kTileN;", first_row_, first_column_));
    if (batch_.single()) body.Add(fmt::format("const int {} = blockIdx.z;", batch_.index()));
    else if (!batch_.empty()) batch_.Decode(body, "blockIdx.z");
    body.Add("// A warp's lanes are 4 x 8 squares of 4 x 4 results, and it has several such sets side by side.");
    body.Add("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    const int warp_m = shape_.m / shape_.warps_m, warp_n = shape_.n / shape_.warps_n;
    body.Add(fmt::format(
        "const int thread_m = {} + lane / 8 * 4, thread_n = {} + lane % 8 * 4;",
        WarpOffset(shape_.warps_n == 1 ? "warp" : fmt::format("warp / {}", shape_.warps_n), warp_m, shape_.warps_m),
        WarpOffset(shape_.warps_m == 1 ? "warp" : fmt::format("warp % {}", shape_.warps_n), warp_n, shape_.warps_n)));
  }
  static std::string WarpOffset(const std::string& warp, int extent, int warps) {
    return warps == 1 ? "" : fmt::format("{} * {} + ", warp, extent);
  }

  // auto load_A = [&](int first_k) { ... };
  void WriteLoads(Lines& body, FactorLoads& factor) const {
    std::vector<std::string> parameters = {"int " + scope_.first_term};
    for (const Axis& axis : outer_.axes()) parameters.push_back("int " + scope_.uniform.at(axis.variable));
    body.Open(fmt::format("auto load_{} = [&]({})", factor.name(), fmt::join(parameters, ", ")));
    factor.Load(body);
    body.Close(";");
  }
  void CallLoads(Lines& body, const std::string& step, const FactorLoads& left, const FactorLoads& right) const {
    std::vector<std::string> arguments = {fmt::format("{} * kTileK", step)};
    if (!outer_.empty()) {
      const std::string wrapped = Parenthesized(step);
      arguments = {fmt::format("{} / {} * kTileK", wrapped, outer_.count())};
      body.Add(fmt::format("const int {} = {} % {};", outer_.index(), wrapped, outer_.count()));
      outer_.Decode(body, outer_.index());
      for (const Axis& axis : outer_.axes()) arguments.push_back(scope_.uniform.at(axis.variable));
    }
    for (const FactorLoads* factor : {&left, &right})
      body.Add(fmt::format("load_{}({});", factor->name(), fmt::join(arguments, ", ")));
  }

  void WriteSteps(Lines& body, const FactorLoads& left, const FactorLoads& right) const {
    const std::string rounds = fmt::format("({} + kTileK - 1) / kTileK", terms_.count());
    body.Add(fmt::format("const int steps = {}{};", outer_.empty() ? "" : outer_.count() + " * ",
                         outer_.empty() ? rounds : "(" + rounds + ")"));
    body.Open("auto load = [&](int step)");
    CallLoads(body, "step", left, right);
    body.Close(";");
    body.Add("");
    const int results_m = 4 * shape_.squares_m(), results_n = 4 * shape_.squares_n();
    body.Add(fmt::format("{} sums[{}][{}] = {{}};", problem_.real(), results_m, results_n));
    body.Add("load(0);");
    body.Open("for (int step = 0; step < steps; ++step)");
    // One barrier a step is enough: the buffer that is filled here was last read before the barrier of the step before.
    body.Add("const int buffer = step % 2;");
    left.Store(body);
    right.Store(body);
    body.Add("__syncthreads();");
    body.Add("if (step + 1 < steps) load(step + 1);");
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kTileK; ++k)");
    WriteMultiply(body, left, right);
    body.Close();
    body.Close();
    body.Add("");
  }

  void WriteMultiply(Lines& body, const FactorLoads& left, const FactorLoads& right) const {
    const int results_m = 4 * shape_.squares_m(), results_n = 4 * shape_.squares_n();
    body.Add(fmt::format("{} a[{}], b[{}];", problem_.real(), results_m, results_n));
    const auto fragment = [&](const char* name, int count, const std::string& tile, const char* place, int apart) {
      const std::string at = count == 4 ? "i" : fmt::format("i / 4 * {} + i % 4", apart);
      body.Add("#pragma unroll");
      body.Add(
          fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {}[buffer][k][{} + {}];", count, name, tile, place, at));
    };
    fragment("a", results_m, left.tile(), "thread_m", 4 * TileShape::kLanesM);
    fragment("b", results_n, right.tile(), "thread_n", 4 * TileShape::kLanesN);
    body.Add("#pragma unroll");
    body.Add(fmt::format("for (int i = 0; i < {}; ++i)", results_m));
    body.Add("#pragma unroll");
    body.Add(fmt::format("  for (int j = 0; j < {}; ++j) sums[i][j] += a[i] * b[j];", results_n));
  }

  static std::vector<std::string> HelpersFor(const FactorLoads& left, const FactorLoads& right,
                                             const ResultStores& results) {
    std::vector<std::string> helpers;
    std::vector<core::DType> loaded;
    for (const FactorLoads* factor : {&left, &right})
      if (const auto type = factor->quads(); type && std::find(loaded.begin(), loaded.end(), *type) == loaded.end())
        loaded.push_back(*type);
    for (const core::DType type : loaded) helpers.push_back(LoadQuadText(type));
    if (const auto type = results.quads()) helpers.push_back(StoreQuadText(*type));
    return helpers;
  }

  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments) const {
    Lines launch;
    const auto blocks = [](const FlatAxis& axis, int tile) { return CeilDivided(axis.extent(), std::to_string(tile)); };
    std::vector<std::string> grid = {blocks(columns_, shape_.n), blocks(rows_, shape_.m)};
    if (!batch_.empty()) grid.push_back(batch_.extent());
    AddBroken(launch, fmt::format("const dim3 grid({});", fmt::join(grid, ", ")));
    launch.Add(Launch(problem_, name, "grid", std::to_string(shape_.threads()), arguments.values));
    return launch.text();
  }

  const Problem& problem_;
  const Group& group_;
  const ContractionGroup of_;
  const core::Stage& stage_;
  const TileShape& shape_;
  Names names_;
  const VariableTexts variables_;
  const SplitSum split_;
  const FlatAxis batch_, rows_, columns_, terms_, outer_;
  std::string first_row_, first_column_;
  TileScope scope_;
};

CodeOutcome EmitTiles(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  auto found = ContractionGroupOf(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  auto& contraction = std::get<ContractionGroup>(found);
  const std::string& tile = parameters.at("tile");
  const TileShape& shape = tile == "auto" ? BestTileShape(problem, contraction) : TileShapeOf(tile);
  return TilesWriter(problem, group, std::move(contraction), shape).Write();
}

}  // namespace

Schedule TilesSchedule() {
  return {.id = "schedule_tiles",
          .title = "products in tiles",
          .parameters = {{"tile", {"auto", "128x128", "128x32", "32x128", "32x32"}}},
          .emit = EmitTiles};
}

}  // namespace warpwright::schedule
