// schedule_attention: a softmax's weights and the sums that they weigh in one pass over the columns of a row, so that
// scores never leave the block. What a row has summed up shrinks when a larger score comes.
#include <fmt/format.h>

#include <functional>

#include "schedule/attention_writer.h"
#include "schedule/own_names.h"
#include "schedule/schedules.h"
#include "schedule/whole_rows.h"

namespace warpwright::schedule {
namespace {

constexpr int kPadding = 4;  // floats: columns of a tile in different banks, quads aligned

// With fused multiply-adds, 4 x 4 scores for each thread; as many columns a step as a block has rows.
class MultiplyAddAttention final : public AttentionWriter {
 public:
  using AttentionWriter::AttentionWriter;

 private:
  int lanes() const { return tile() / 4; }  // that share four rows
  int threads() const override { return lanes() * lanes(); }
  int64_t SharedBytes() const override { return 4 * ((2 * depth() + tile()) * (tile() + kPadding) + tile() * cols()); }

  void WriteComment(Lines& kernel) const override {
    kernel.Add(
        "//\n// A block computes kTile rows and walks all columns, kTile a step: scores become weights in registers, "
        "and what");
    kernel.Add("// a row has summed up so far shrinks by exp(largest before - largest now).");
  }

  void WriteBody(Lines& body) override {
    WriteTiles(body);
    WriteFirst(body);
    const std::string last = WriteLast(body);
    const std::string begin = WriteBegin(body, "kTile");
    body.Open(fmt::format("for (int first_column = {}; first_column < {}; first_column += kTile)", begin, last));
    body.Add("__syncthreads();");
    WriteLoad(body, plan().product.right.nodes, plan().scores, "column_tile[k][i]", depth_name(), column(), "kDepth");
    WriteLoad(body, plan().value, plan().sums, "value_tile[i][k]", col(), column(), "kCols");
    body.Add("__syncthreads();");
    WriteScores(body);
    WriteWeights(body);
    WriteSums(body);
    body.Close();
    WriteTotals(body);
    WriteAgain(body, last);
    WriteResults(body);
  }

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
    WriteBlock(body);
    body.Add(
        fmt::format("const int thread_row = threadIdx.x / {0} * 4, thread_column = threadIdx.x % {0} * 4;", lanes()));
    WriteLoad(body, plan().product.left.nodes, plan().scores, "row_tile[k][i]", depth_name(), row(), "kDepth");
    body.Add(fmt::format("float largest[4], total[4] = {{}}, sums[4][kCols / {}] = {{}};", lanes()));
    body.Add("for (int r = 0; r < 4; ++r) largest[r] = -INFINITY;");
  }

  // "row_tile[k][i]": element k of the i-th row of the tile.
  void WriteLoad(Lines& body, const std::vector<core::NodeId>& nodes, size_t of, std::string to,
                 const std::string& along, const std::string& across, const std::string& length) {
    const bool is_row = across == row();
    body.Open(fmt::format("for (int i = threadIdx.x; i < kTile * {}; i += blockDim.x)", length));
    body.Add(fmt::format("const int {} = i % {}, {} = {} + i / {};", along, length, across,
                         is_row ? "first_row" : "first_column", length));
    body.Add("float element = 0.0f;");
    const core::Size& along_extent = along == depth_name() ? plan().product.k[0].extent : plan().col_extent;
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

  // For the thread's four columns.
  void WriteInside(Lines& body, size_t of, core::NodeId node, const Known& known, const std::string& statement) {
    body.Add("#pragma unroll");
    body.Open("for (int c = 0; c < 4; ++c)");
    body.Add(fmt::format("const int {} = first_column + thread_column + c;", column()));
    WriteIfInside(body, of, node, known, statement);
  }

  void WriteWeights(Lines& body) {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    body.Add(fmt::format("const int {} = first_row + thread_row + r;", row()));
    body.Add("float next = largest[r];");
    const Known score = {{plan().scores, "scores[r][c]"}};
    WriteInside(body, plan().largest, SumOf(plan().largest).body, score, "next = fmaxf(next, {});");
    body.Close();
    body.Add(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", lanes() / 2));
    body.Add("  next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, offset));");
    body.Add("const float shrink = largest[r] == next ? 1.0f : expf(largest[r] - next);");
    body.Add("largest[r] = next;");
    body.Add("const float shift = next == -INFINITY ? 0.0f : next;  // of a row that is -inf so far, weights are 0");
    body.Add("total[r] *= shrink;");
    body.Add(fmt::format("#pragma unroll\nfor (int n = 0; n < kCols / {}; ++n) sums[r][n] *= shrink;", lanes()));
    const Known with_largest = {{plan().scores, "scores[r][c]"}, {plan().largest, "shift"}};
    body.Add("float weight[4] = {};");
    const bool alike = IsSummedAsItIs();
    if (!alike) {
      WriteInside(body, plan().total, SumOf(plan().total).body, with_largest, "weight[c] = {};");
      body.Add("total[r] += weight[c];");
      body.Close();
    }
    WriteInside(body, plan().sums, plan().weight, with_largest, "weight[c] = {};");
    if (alike) body.Add("total[r] += weight[c];");
    body.Add("weights[thread_row + r][thread_column + c] = weight[c];");
    body.Close();
    body.Close();
  }

  void WriteSums(Lines& body) const {
    body.Add("// The threads of a warp have all weights of its rows.");
    body.Add("__syncwarp();");
    body.Add("#pragma unroll 4");
    body.Open("for (int j = 0; j < kTile; ++j)");
    const std::string guards =
        HasZerosOutside() ? "" : ConditionText(SumOf(plan().sums).guards, Variables(plan().sums));
    if (!guards.empty()) body.Add(fmt::format("const int {} = first_column + j;", column()));
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    if (!guards.empty()) {
      // A weight of 0 would make an infinite value no number.
      body.Add(fmt::format("const int {} = first_row + thread_row + r;", row()));
      body.Add(fmt::format("if (!({})) continue;", guards));
    }
    body.Add(fmt::format("#pragma unroll\nfor (int n = 0; n < kCols / {}; ++n)", lanes()));
    body.Add(fmt::format("  sums[r][n] += weights[thread_row + r][j] * value_tile[j][threadIdx.x % {0} + n * {0}];",
                         lanes()));
    body.Close();
    body.Close();
  }

  void WriteTotals(Lines& body) const {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 4; ++r)");
    body.Add(fmt::format("for (int offset = {}; offset > 0; offset /= 2)", lanes() / 2));
    body.Add("  total[r] += __shfl_xor_sync(0xffffffffu, total[r], offset);");
    body.Close();
  }

  // For the thread's elements of the result.
  void ForResults(Lines& body, const char* unroll, const std::function<void()>& inside) const {
    body.Add(unroll);
    body.Open("for (int r = 0; r < 4; ++r)");
    body.Add(fmt::format("const int {} = first_row + thread_row + r;", row()));
    body.Add(unroll);
    body.Open(fmt::format("for (int n = 0; n < kCols / {}; ++n)", lanes()));
    body.Add(fmt::format("const int {0} = threadIdx.x % {1} + n * {1};", col(), lanes()));
    inside();
    for (int i = 0; i < 2; ++i) body.Close();
  }

  void WriteAgain(Lines& body, const std::string& last) {
    WriteAgainComment(body);
    body.Add("bool again = false;");
    body.Add("#pragma unroll\nfor (int r = 0; r < 4; ++r)\n#pragma unroll");
    body.Add(fmt::format("  for (int n = 0; n < kCols / {}; ++n) again |= isnan(sums[r][n]);", lanes()));
    WriteAgainIfTotal(body, "for (int r = 0; r < 4; ++r)", "first_row + thread_row + r");
    body.Open("if (again)");
    ForResults(body, "#pragma unroll 1", [&] { WriteElementAgain(body, last); });
    body.Add("return;");
    body.Close();
  }

  void WriteResults(Lines& body) {
    ForResults(body, "#pragma unroll", [&] { WriteOutputs(body, "sums[r][n]", "total[r]", "largest[r]"); });
  }
};

CodeOutcome WriteAttention(const Problem& given, const Group& group, const ParameterValues& parameters) {
  Problem problem = given;
  problem.form = WithWholeRows(problem.form);
  problem.structure = core::StructureOf(problem.form);
  auto plan = PlanAttention(problem, group);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&plan)) return *refusal;
  if (problem.in_double) return Refuse("it is computed in double precision");
  auto& planned = std::get<AttentionPlan>(plan);
  const int tile = IntegerOf(parameters, "tile");
  if (auto on_tensor_cores = TensorAttention(problem, group, planned, tile)) return std::move(*on_tensor_cores);
  return MultiplyAddAttention(problem, group, std::move(planned), tile).Write();
}

CodeOutcome EmitAttention(const Problem& problem, const Group& group, const ParameterValues& parameters) {
  return WithOwnNames(problem, LocalsOfAttention(),
                      [&](const Problem& own) { return WriteAttention(own, group, parameters); });
}

}  // namespace

Schedule AttentionSchedule() {
  return {.id = "schedule_attention",
          .title = "weights and weighted sums in one pass",
          .parameters = {{"tile", {"64", "32"}}},
          .emit = EmitAttention};
}

}  // namespace warpwright::schedule
