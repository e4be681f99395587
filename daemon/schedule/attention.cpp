// schedule_attention: a softmax's weights and the sums that they weigh in one pass over the columns of a row, so that
// scores never leave the block. What a row has summed up shrinks when a larger score comes.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/attention_plan.h"
#include "schedule/contraction_axes.h"
#include "schedule/expression_code.h"
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

constexpr int kPadding = 4;        // floats: columns of a tile in different banks, quads aligned
constexpr int64_t kDeepest = 128;  // terms of a score, and elements of a result: registers and shared memory

class AttentionWriter {
 public:
  AttentionWriter(const Problem& problem, const Group& group, AttentionPlan plan, int tile)
      : problem_(problem), group_(group), plan_(std::move(plan)), tile_(tile), names_(problem) {
    for (const char* name :
         {"tiles",  "sums",    "scores", "largest",    "total",         "next",      "shrink",       "weight",
          "inside", "element", "last",   "thread_row", "thread_column", "first_row", "first_column", "r",
          "c",      "n",       "j",      "i"})
      names_.Take(name);
    row_ = names_.Take("row"), column_ = names_.Take("column"), depth_ = names_.TakeOf({"k", "d"}),
    col_ = names_.Take("col");
    std::map<core::VariableId, std::string> batch;
    for (const Axis& axis : plan_.product.batch)
      batch_names_.push_back(names_.Take("b" + std::to_string(axis.variable)));
    for (size_t b = 0; b < batch_names_.size(); ++b) batch[plan_.product.batch[b].variable] = batch_names_[b];
    batch_.emplace(plan_.product.batch, batch, names_, "batch", "batches");
  }

  CodeOutcome Write() {
    const auto depth = Rounded(plan_.product.k[0].extent), cols = Rounded(plan_.col_extent);
    if (!depth || !cols) return Refuse("rows of the factors are too long for registers");
    const std::string name = KernelName(problem_, "one_pass");
    const KernelArguments arguments = ArgumentsOf(problem_, group_);
    Lines kernel;
    kernel.AddAll(FormulaComment(problem_, group_));
    kernel.Add(
        "//\n// A block computes kTile rows and walks all columns, kTile a step: scores become weights in registers, "
        "and what");
    kernel.Add("// a row has summed up so far shrinks by exp(largest before - largest now).");
    kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads()), name, arguments.parameters));
    Lines body(1);
    body.Add(fmt::format("constexpr int kTile = {}, kDepth = {}, kCols = {};", tile_, *depth, *cols));
    WriteTiles(body);
    WriteFirst(body);
    body.Open(fmt::format("for (int first_column = 0; first_column < {}; first_column += kTile)", WriteLast(body)));
    body.Add("__syncthreads();");
    WriteLoad(body, plan_.product.right.nodes, plan_.scores, "column_tile[k][i]", depth_, column_, "kDepth");
    WriteLoad(body, plan_.value, plan_.sums, "value_tile[i][k]", col_, column_, "kCols");
    body.Add("__syncthreads();");
    WriteScores(body);
    WriteWeights(body);
    WriteSums(body);
    body.Close();
    WriteResults(body);
    kernel.Append(body);
    kernel.Add("}");
    if (refusal_) return *refusal_;
    Code code;
    code.kernels = kernel.text();
    code.launch = WriteLaunch(name, arguments, *depth, *cols);
    code.notes = {fmt::format("rows by {}, scores kept in registers", tile_)};
    for (const auto& [extent, most] : {std::pair(plan_.product.k[0].extent, *depth), {plan_.col_extent, *cols}})
      if (const std::string text = fmt::format("{} <= {}", SizeText(extent), most);
          !extent.Variables().empty() && (code.conditions.empty() || code.conditions.back() != text))
        code.conditions.push_back(text);
    return code;
  }

 private:
  int lanes() const { return tile_ / 4; }  // that share four rows
  int threads() const { return lanes() * lanes(); }
  // To whole columns of threads, at all sizes that are timed.
  std::optional<int64_t> Rounded(const core::Size& extent) const {
    const auto largest = LargestOf(problem_, extent);
    if (!largest || *largest > kDeepest) return std::nullopt;
    return (std::max<int64_t>(*largest, 1) + 15) / 16 * 16;
  }
  const core::Stage& stage(size_t i) const { return problem_.stage(i); }
  const core::Size& rows() const { return plan_.product.m[0].extent; }
  const core::Size& columns() const { return plan_.product.n[0].extent; }

  VariableTexts Variables(size_t of) const {
    VariableTexts texts;
    for (const auto& [variable, is] : plan_.variables.at(of)) {
      switch (is.role) {
        case AttentionRole::kBatch: texts[variable] = batch_names_[is.batch]; break;
        case AttentionRole::kRow: texts[variable] = row_; break;
        case AttentionRole::kColumn: texts[variable] = column_; break;
        case AttentionRole::kDepth: texts[variable] = depth_; break;
        case AttentionRole::kCol: texts[variable] = col_; break;
      }
    }
    return texts;
  }
  // What earlier stages have come to, by stage.
  using Known = std::map<size_t, std::string>;
  std::string Value(size_t of, const std::vector<core::NodeId>& nodes, const Known& known, Lines& lines) {
    Scope scope{.variables = Variables(of), .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                  for (const auto& [i, text] : known)
                    if (read.stage && read.tensor == stage(i).name) return text;
                  return std::nullopt;
                }};
    ExpressionCode code(problem_, stage(of), std::move(scope), names_, lines);
    std::string product;
    for (const core::NodeId node : nodes) {
      const std::string factor = code.Value(node, core::ValueType::kReal);
      product += (product.empty() ? "" : " * ") + (nodes.size() == 1 ? factor : Parenthesized(factor));
    }
    if (code.refusal()) refusal_ = code.refusal();
    return product;
  }
  const core::Reduce& SumOf(size_t of) const { return std::get<core::Reduce>(stage(of).nodes.back()); }

  void WriteTiles(Lines& body) const {
    body.Add("// Rows are longer by 4, so that what threads store beside each other is in different banks.");
    body.Add("extern __shared__ __align__(16) float tiles[];");
    const auto tile = [&](const char* name, const char* extent, const char* at) {
      body.Add(fmt::format("auto {} = reinterpret_cast<float(*)[{}]>({});", name, extent, at));
    };
    tile("row_tile", "kTile + 4", "tiles");
    tile("column_tile", "kTile + 4", "row_tile + kDepth");
    tile("weights", "kTile + 4", "column_tile + kDepth");
    tile("value_tile", "kCols", "weights + kTile");
  }

  void WriteFirst(Lines& body) {
    batch_->DeclareExtents(body);
    const std::string blocks = names_.Take("row_blocks");
    body.Add(fmt::format("const int {} = {};", blocks, CeilDivided(SizeText(rows()), "kTile")));
    body.Add(fmt::format("const int first_row = blockIdx.x % {} * kTile;", blocks));
    if (!batch_->empty()) {
      body.Add(fmt::format("const int {} = blockIdx.x / {};", batch_->index(), blocks));
      if (!batch_->single()) batch_->Decode(body, batch_->index());
    }
    body.Add(
        fmt::format("const int thread_row = threadIdx.x / {0} * 4, thread_column = threadIdx.x % {0} * 4;", lanes()));
    WriteLoad(body, plan_.product.left.nodes, plan_.scores, "row_tile[k][i]", depth_, row_, "kDepth");
    body.Add(fmt::format("float largest[4], total[4] = {{}}, sums[4][kCols / {}] = {{}};", lanes()));
    body.Add("for (int r = 0; r < 4; ++r) largest[r] = -INFINITY;");
  }

  // "row_tile[k][i]": element k of the i-th row of the tile.
  void WriteLoad(Lines& body, const std::vector<core::NodeId>& nodes, size_t of, std::string to,
                 const std::string& along, const std::string& across, const std::string& length) {
    const bool is_row = across == row_;
    body.Open(fmt::format("for (int i = threadIdx.x; i < kTile * {}; i += blockDim.x)", length));
    body.Add(fmt::format("const int {} = i % {}, {} = {} + i / {};", along, length, across,
                         is_row ? "first_row" : "first_column", length));
    body.Add("float element = 0.0f;");
    const core::Size& along_extent = along == depth_ ? plan_.product.k[0].extent : plan_.col_extent;
    body.Open(fmt::format("if ({} < {} && {} < {})", across, Parenthesized(SizeText(is_row ? rows() : columns())),
                          along, Parenthesized(SizeText(along_extent))));
    Lines inside(body.level());
    const std::string value = Value(of, nodes, {}, inside);
    body.Append(inside);
    body.Add(fmt::format("element = {};", value));
    body.Close();
    const std::string place = fmt::format("i / {}", length);
    to.replace(to.find("[i]"), 3, "[" + place + "]");
    to.replace(to.find("[k]"), 3, "[" + along + "]");
    body.Add(to + " = element;");
    body.Close();
  }

  // Where the columns of a block's rows end: "T", or the diagonal.
  std::string WriteLast(Lines& body) const {
    const std::string all = SizeText(columns());
    for (const core::Guard& guard : SumOf(plan_.largest).guards) {
      const auto& terms = guard.value.terms;
      if (!guard.high || terms.size() != 2 || !core::IsNumber(guard.value.divisor, 1)) continue;
      const auto is = [&](const core::Affine::Term& term, AttentionRole role, int sign) {
        return term.part == core::Affine::Part::kWhole && core::IsNumber(term.coefficient, sign) &&
               plan_.variables.at(plan_.largest).at(term.variable).role == role;
      };
      const bool diagonal = (is(terms[0], AttentionRole::kRow, -1) && is(terms[1], AttentionRole::kColumn, 1)) ||
                            (is(terms[1], AttentionRole::kRow, -1) && is(terms[0], AttentionRole::kColumn, 1));
      if (!diagonal || !core::IsNumber(guard.value.constant, 0)) continue;
      // The last row's end: first_row + kTile - 1 + high.
      const bool one = core::IsNumber(*guard.high, 1);
      const std::string end = one ? "kTile" : "kTile - 1 + " + Parenthesized(SizeText(*guard.high));
      body.Add(fmt::format("const int last = min({}, first_row + {});  // no row has columns behind", all, end));
      return "last";
    }
    return Parenthesized(all);
  }

  void WriteScores(Lines& body) const {
    body.Add("float scores[4][4] = {};");
    body.Add("#pragma unroll 8");
    body.Open("for (int k = 0; k < kDepth; ++k)");
    body.Add("#pragma unroll\nfor (int r = 0; r < 4; ++r)\n#pragma unroll");
    body.Add(
        "  for (int c = 0; c < 4; ++c) scores[r][c] += row_tile[k][thread_row + r] * column_tile[k][thread_column + "
        "c];");
    body.Close();
  }

  // if (inside) { ... }, for the score of row and column.
  void WriteInside(Lines& body, size_t of, core::NodeId node, const Known& known, const std::string& statement) {
    body.Add("#pragma unroll");
    body.Open("for (int c = 0; c < 4; ++c)");
    body.Add(fmt::format("const int {} = first_column + thread_column + c;", column_));
    const std::string guards = ConditionText(SumOf(of).guards, Variables(of));
    Lines inside(body.level() + 1);
    const std::string value = Value(of, {node}, known, inside);
    body.Open(fmt::format("if ({} < {} && {} < {}{})", row_, Parenthesized(SizeText(rows())), column_,
                          Parenthesized(SizeText(columns())), guards.empty() ? "" : " && " + guards));
    body.Append(inside);
    body.Add(fmt::format(fmt::runtime(statement), value));
    body.Close();
  }

  void WriteWeights(Lines& body) {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    body.Add(fmt::format("const int {} = first_row + thread_row + r;", row_));
    body.Add("float next = largest[r];");
    const Known score = {{plan_.scores, "scores[r][c]"}};
    WriteInside(body, plan_.largest, SumOf(plan_.largest).body, score, "next = fmaxf(next, {});");
    body.Close();
    body.Add(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", lanes() / 2));
    body.Add("  next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, offset));");
    body.Add("const float shrink = largest[r] == next ? 1.0f : expf(largest[r] - next);");
    body.Add("largest[r] = next;");
    body.Add("total[r] *= shrink;");
    body.Add(fmt::format("#pragma unroll\nfor (int n = 0; n < kCols / {}; ++n) sums[r][n] *= shrink;", lanes()));
    const Known with_largest = {{plan_.scores, "scores[r][c]"}, {plan_.largest, "next"}};
    body.Add("float weight[4] = {};");
    const bool alike = IsSummedAsItIs();
    if (!alike) {
      WriteInside(body, plan_.total, SumOf(plan_.total).body, with_largest, "weight[c] = {};");
      body.Add("total[r] += weight[c];");
      body.Close();
    }
    WriteInside(body, plan_.sums, plan_.weight, with_largest, "weight[c] = {};");
    if (alike) body.Add("total[r] += weight[c];");
    body.Add("weights[thread_row + r][thread_column + c] = weight[c];");
    body.Close();
    body.Close();
  }

  // The total is of the weights themselves.
  bool IsSummedAsItIs() {
    Lines ignored;
    const Known known = {{plan_.scores, "score"}, {plan_.largest, "largest"}};
    return Value(plan_.total, {SumOf(plan_.total).body}, known, ignored) ==
               Value(plan_.sums, {plan_.weight}, known, ignored) &&
           ignored.empty() &&
           ConditionText(SumOf(plan_.total).guards, Variables(plan_.total)) ==
               ConditionText(SumOf(plan_.sums).guards, Variables(plan_.sums));
  }

  void WriteSums(Lines& body) const {
    body.Add("// The threads of a warp have all weights of its rows.");
    body.Add("__syncwarp();");
    body.Add("#pragma unroll 4");
    body.Open("for (int j = 0; j < kTile; ++j)");
    const std::string guards = ConditionText(SumOf(plan_.sums).guards, Variables(plan_.sums));
    if (!guards.empty()) body.Add(fmt::format("const int {} = first_column + j;", column_));
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    if (!guards.empty()) {
      // A weight of 0 would make an infinite value no number.
      body.Add(fmt::format("const int {} = first_row + thread_row + r;", row_));
      body.Add(fmt::format("if (!({})) continue;", guards));
    }
    body.Add(fmt::format("#pragma unroll\nfor (int n = 0; n < kCols / {}; ++n)", lanes()));
    body.Add(fmt::format("  sums[r][n] += weights[thread_row + r][j] * value_tile[j][threadIdx.x % {0} + n * {0}];",
                         lanes()));
    body.Close();
    body.Close();
  }

  void WriteResults(Lines& body) {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    body.Add(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", lanes() / 2));
    body.Add("  total[r] += __shfl_xor_sync(0xffffffffu, total[r], offset);");
    body.Add(fmt::format("const int {} = first_row + thread_row + r;", row_));
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int n = 0; n < kCols / {}; ++n)", lanes()));
    body.Add(fmt::format("const int {0} = threadIdx.x % {1} + n * {1};", col_, lanes()));
    body.Open(fmt::format("if ({} < {} && {} < {})", row_, Parenthesized(SizeText(rows())), col_,
                          Parenthesized(SizeText(plan_.col_extent))));
    Known known = {{plan_.total, "total[r]"}, {plan_.largest, "largest[r]"}, {plan_.sums, "sums[r][n]"}};
    if (!plan_.scale.empty()) {
      const std::string scale = Value(plan_.sums, plan_.scale, known, body);
      known[plan_.sums] = fmt::format("(sums[r][n] * {})", Parenthesized(scale));
    }
    for (const size_t output : plan_.outputs) WriteOutput(body, output, known);
    for (int i = 0; i < 3; ++i) body.Close();
  }

  void WriteOutput(Lines& body, size_t output, const Known& known) {
    const core::Stage& own = stage(output);
    const auto root = static_cast<core::NodeId>(own.nodes.size() - 1);
    const std::string domain = ConditionText(own.domain, Variables(output));
    if (!domain.empty()) body.Open(fmt::format("if ({})", domain));
    const std::string value = Value(output, {root}, known, body);
    std::vector<std::string> at;
    for (const core::Affine& position : StoredAt(own)) at.push_back(PositionText(position, Variables(output)));
    AddBroken(body, fmt::format("{}[{}] = {};", own.name, OffsetText(problem_, ShapeOf(problem_, own.name), at),
                                Stored(problem_, own.dtype, core::ValueType::kReal, value)));
    if (!domain.empty()) body.Close();
  }

  std::string WriteLaunch(const std::string& name, const KernelArguments& arguments, int64_t depth,
                          int64_t cols) const {
    Lines launch;
    const int64_t bytes = 4 * ((2 * depth + tile_) * (tile_ + kPadding) + tile_ * cols);
    AddBroken(launch,
              fmt::format("cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});", name, bytes));
    std::string grid = CeilDivided(SizeText(rows()), std::to_string(tile_));
    if (!batch_->empty()) grid = fmt::format("{} * {}", Parenthesized(grid), Parenthesized(batch_->extent()));
    launch.Add(Launch(problem_, name, grid, std::to_string(threads()), arguments.values, std::to_string(bytes)));
    return launch.text();
  }

  const Problem& problem_;
  const Group& group_;
  const AttentionPlan plan_;
  const int tile_;  // rows of a block, and columns of a step: 4 x 4 scores for each thread
  Names names_;
  std::string row_, column_, depth_, col_;
  std::vector<std::string> batch_names_;
  std::optional<FlatAxis> batch_;
  std::optional<core::RewriteRefusal> refusal_;
};

CodeOutcome EmitAttention(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  auto plan = PlanAttention(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  if (problem.in_double) return Refuse("it is computed in double precision");
  return AttentionWriter(problem, group, std::move(std::get<AttentionPlan>(plan)), IntegerOf(parameters, "tile"))
      .Write();
}

}  // namespace

Schedule AttentionSchedule() {
  return {.id = "schedule_attention",
          .title = "weights and weighted sums in one pass",
          .parameters = {{"tile", {"64", "32"}}},
          .emit = EmitAttention};
}

}  // namespace warpwright::schedule
