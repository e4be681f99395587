// Attention on tensor cores: queries, keys and values are f16 or bf16. Scores are summed in f32; a weight goes into the
// second product as two halves, what the first one rounds off being the second, so that nothing of it is lost.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "schedule/attention_writer.h"
#include "schedule/contraction_loads.h"
#include "schedule/tensor_cores.h"

namespace warpwright::schedule {
namespace {

constexpr int kColumnsOfStep = 64;

constexpr std::string_view kSplitPair = R"(// Two numbers as sums of two halves each.
__device__ __forceinline__ void split_pair(float a, float b, unsigned& high, unsigned& low) {{
  const {0}2 rounded = {1}(a, b);
  const float2 back = {2}(rounded);
  const {0}2 rest = {1}(a - back.x, b - back.y);
  high = reinterpret_cast<const unsigned&>(rounded), low = reinterpret_cast<const unsigned&>(rest);
}}

)";

// Octets of a factor's row, where neighbours along it are neighbours in memory.
struct Octets {
  GroupAccess access;
  std::string tensor;
  core::Size length;
};

class TensorAttentionWriter final : public AttentionWriter {
 public:
  TensorAttentionWriter(const Problem& problem, const Group& group, AttentionPlan plan, int tile, core::DType dtype)
      : AttentionWriter(problem, group, std::move(plan), tile), dtype_(dtype) {
    const Contraction& product = this->plan().product;
    queries_ = OctetsOf(this->plan().scores, product.left.nodes.front(), product.k);
    keys_ = OctetsOf(this->plan().scores, product.right.nodes.front(), product.k);
    for (const auto& [variable, is] : this->plan().variables.at(this->plan().sums))
      if (is.role == AttentionRole::kCol)
        values_ = OctetsOf(this->plan().sums, this->plan().value.front(), {{variable, this->plan().col_extent}});
  }

  // Whether all three are read by octets.
  bool Applies() const { return queries_ && keys_ && values_; }

 private:
  int threads() const override { return 2 * tile(); }  // a warp for 16 rows
  int64_t SharedBytes() const override { return 2 * (tile() * depth() + 2 * kColumnsOfStep * (depth() + cols())); }

  std::optional<Octets> OctetsOf(size_t of, core::NodeId node, const std::vector<Axis>& along) const {
    const auto& read = std::get<core::TensorRead>(stage(of).nodes[node]);
    const auto offset = FlatOffsetOf(ShapeOf(problem(), read.tensor), read.at);
    auto access = offset ? GroupAccessOf(*offset, along, ShapeOf(problem(), read.tensor), 8) : std::nullopt;
    if (!access) return std::nullopt;
    return Octets{std::move(*access), read.tensor, along.front().extent};
  }

  std::vector<std::string> Helpers() const override {
    const bool half = dtype_ == core::DType::kF16;
    const std::string type = CTypeOf(dtype_);
    return {
        MultiplyAddText(type),
        std::string(kSwizzledText),
        std::string(kSharedAddressText),
        std::string(kLoadMatricesText),
        std::string(kLoadTransposedText),
        CopyAlignedOctetText(type),
        CopyOctetText(type),
        std::string(kCopyGroupsText),
        fmt::format(kSplitPair, half ? "__half" : "__nv_bfloat16", half ? "__floats2half2_rn" : "__floats2bfloat162_rn",
                    half ? "__half22float2" : "__bfloat1622float2")};
  }

  void WriteComment(Lines& kernel) const override {
    kernel.Add(
        fmt::format("//\n// A block computes kTile rows on tensor cores, 16 for each warp, and walks all columns, {} a "
                    "step, of which the",
                    kColumnsOfStep));
    kernel.Add(
        "// next are on their way. Scores become weights in registers, and what a row has summed up so far shrinks by");
    kernel.Add("// exp(largest before - largest now).");
  }

  void WriteBody(Lines& body) override {
    WriteTiles(body);
    WriteBlock(body);
    body.Add("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
    body.Add("const int thread_row = warp * 16 + lane / 4, thread_column = lane % 4 * 2;");
    WriteAligned(body);
    WriteCopies(body, *queries_, plan().scores, row(), depth_name(), "row_tile", "kTile", "kDepth");
    body.Open("auto load = [&](int first_column, int stage)");
    WriteCopies(body, *keys_, plan().scores, column(), depth_name(), "column_tile[stage]", "kColumns", "kDepth");
    WriteCopies(body, *values_, plan().sums, column(), col(), "value_tile[stage]", "kColumns", "kCols");
    body.Close(";");
    const std::string last = WriteLast(body);
    const std::string begin = WriteBegin(body, "kColumns");
    body.Add(begin == "0" ? "load(0, 0);" : fmt::format("load({0}, {0} / kColumns % 2);", begin));
    body.Add("end_copy_group();");
    body.Add("float largest[2] = {-INFINITY, -INFINITY}, total[2] = {}, sums[kCols / 8][4] = {};");
    body.Open(fmt::format("for (int first_column = {}; first_column < {}; first_column += kColumns)", begin, last));
    body.Add("const int stage = first_column / kColumns % 2;");
    body.Add(fmt::format("if (first_column + kColumns < {}) load(first_column + kColumns, 1 - stage);", last));
    body.Add("end_copy_group();");
    body.Add("wait_for_copies<1>();");
    body.Add("__syncthreads();");
    WriteScores(body);
    WriteWeights(body);
    WriteSums(body);
    body.Add("__syncthreads();");
    body.Close();
    WriteTotals(body);
    WriteAgain(body, last);
    WriteResults(body);
  }

  void WriteTiles(Lines& body) const {
    const std::string type = CTypeOf(dtype_);
    body.Add(fmt::format("constexpr int kColumns = {};", kColumnsOfStep));
    body.Add("extern __shared__ __align__(128) unsigned char tiles[];");
    body.Add(fmt::format("auto row_tile = reinterpret_cast<{}*>(tiles);", type));
    body.Add(
        fmt::format("auto column_tile = reinterpret_cast<{}(*)[kColumns * kDepth]>(row_tile + kTile * kDepth);", type));
    body.Add(fmt::format("auto value_tile = reinterpret_cast<{}(*)[kColumns * kCols]>(column_tile + 2);", type));
  }

  static std::string Aligned(const Octets& octets) { return octets.tensor + "_aligned"; }
  void WriteAligned(Lines& body) const {
    std::vector<std::string> written;
    for (const auto& octets : {queries_, keys_, values_}) {
      const std::string& condition = octets->access.condition;
      if (std::find(written.begin(), written.end(), octets->tensor) != written.end()) continue;
      written.push_back(octets->tensor);
      AddBroken(body, fmt::format("const bool {} = {}{};", Aligned(*octets),
                                  condition.empty() ? "" : condition + " && ", AlignedAddress(octets->tensor, 16)));
    }
  }

  // `across`: the rows of the tile.
  void WriteCopies(Lines& body, const Octets& octets, size_t of, const std::string& across, const std::string& along,
                   const std::string& tile, const std::string& count, const std::string& length) const {
    const bool is_row = across == row();
    const std::string octets_of_row = length + " / 8", extent = Parenthesized(SizeText(octets.length));
    body.Open(fmt::format("for (int i = threadIdx.x; i < {} * {}; i += blockDim.x)", count, octets_of_row));
    body.Add(fmt::format("const int {0} = i % ({2}) * 8, {1} = {3} + i / ({2});", along, across, octets_of_row,
                         is_row ? "first_row" : "first_column"));
    AddBroken(body, fmt::format("copy_octet(&{}[swizzled<{}>(i / ({}), {})], {} + {}, {} < {} ? {} - {} : 0, {});",
                                tile, length, octets_of_row, along, octets.tensor,
                                OffsetText(octets.access.offset, Variables(of)), across,
                                Parenthesized(SizeText(is_row ? rows() : columns())), extent, along, Aligned(octets)));
    body.Close();
  }

  void WriteScores(Lines& body) const {
    body.Add("float scores[kColumns / 8][4] = {};");
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kDepth; k += 16)");
    body.Add("unsigned rows[4];");
    body.Add(
        "load_matrices(rows, shared_address(&row_tile[swizzled<kDepth>(warp * 16 + lane % 16, k + lane / 16 * 8)]));");
    body.Add("#pragma unroll");
    body.Open("for (int n = 0; n < kColumns / 8; n += 2)");
    body.Add("unsigned columns[4];");
    body.Add("const int c = n * 8 + lane / 16 * 8 + lane % 8;");
    body.Add("load_matrices(columns, shared_address(&column_tile[stage][swizzled<kDepth>(c, k + lane / 8 % 2 * 8)]));");
    body.Add("multiply_add(scores[n], rows, columns[0], columns[1]);");
    body.Add("multiply_add(scores[n + 1], rows, columns[2], columns[3]);");
    body.Close();
    body.Close();
  }

  // For the thread's columns of a step.
  void ForColumns(Lines& body, const std::function<void()>& inside) const {
    body.Add("#pragma unroll");
    body.Open("for (int n = 0; n < kColumns / 8; ++n)");
    body.Add("#pragma unroll");
    body.Open("for (int c = 0; c < 2; ++c)");
    body.Add(fmt::format("const int {} = first_column + n * 8 + thread_column + c;", column()));
    inside();
    body.Close();
    body.Close();
  }

  void WriteWeights(Lines& body) {
    const std::string score = "scores[n][2 * r + c]";
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 2; ++r)");
    body.Add(fmt::format("const int {} = first_row + thread_row + r * 8;", row()));
    body.Add("float next = largest[r];");
    ForColumns(body, [&] {
      WriteIfInside(body, plan().largest, SumOf(plan().largest).body, {{plan().scores, score}},
                    "next = fmaxf(next, {});");
    });
    body.Add("// Four lanes share a row.");
    body.Add(
        "for (int offset = 2; offset > 0; offset /= 2) next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, "
        "offset));");
    body.Add("const float shrink = largest[r] == next ? 1.0f : expf(largest[r] - next);");
    body.Add("largest[r] = next;");
    body.Add("const float shift = next == -INFINITY ? 0.0f : next;  // of a row that is -inf so far, weights are 0");
    body.Add("total[r] *= shrink;");
    body.Add("#pragma unroll");
    body.Add("for (int n = 0; n < kCols / 8; ++n) sums[n][2 * r] *= shrink, sums[n][2 * r + 1] *= shrink;");
    const Known known = {{plan().scores, score}, {plan().largest, "shift"}};
    ForColumns(body, [&] {
      body.Add("float weight = 0.0f;");
      if (!IsSummedAsItIs()) {
        WriteIfInside(body, plan().total, SumOf(plan().total).body, known, "total[r] += {};");
        WriteIfInside(body, plan().sums, plan().weight, known, "weight = {};");
      } else {
        WriteIfInside(body, plan().sums, plan().weight, known, "weight = {};");
        body.Add("total[r] += weight;");
      }
      body.Add(score + " = weight;");
    });
    body.Close();
  }

  // bfloat16 has the exponents of f32.
  bool scales() const { return dtype_ == core::DType::kF16; }

  void WriteSums(Lines& body) const {
    body.Add("#pragma unroll");
    body.Open("for (int k = 0; k < kColumns; k += 16)");
    body.Add("unsigned high[4], low[4];");
    body.Add("#pragma unroll");
    body.Open("for (int i = 0; i < 4; ++i)");
    body.Add("const float* pair = &scores[k / 8 + i / 2][i % 2 * 2];");
    if (scales()) body.Add("// 2^15 times, since a small weight of a large value must not lose bits below 2^-14.");
    const char* times = scales() ? " * 0x1p15f" : "";
    body.Add(fmt::format("split_pair(pair[0]{0}, pair[1]{0}, high[i], low[i]);", times));
    body.Close();
    body.Add("#pragma unroll");
    body.Open("for (int n = 0; n < kCols / 8; n += 2)");
    body.Add("unsigned values[4];");
    body.Add("const int c = n * 8 + lane / 16 * 8;");
    body.Add(
        "load_matrices_transposed(values, shared_address(&value_tile[stage][swizzled<kCols>(k + lane % 16, c)]));");
    for (const char* part : {"high", "low"}) {
      body.Add(fmt::format("multiply_add(sums[n], {}, values[0], values[1]);", part));
      body.Add(fmt::format("multiply_add(sums[n + 1], {}, values[2], values[3]);", part));
    }
    body.Close();
    body.Close();
  }

  void WriteTotals(Lines& body) const {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 2; ++r)");
    body.Add(
        "for (int offset = 2; offset > 0; offset /= 2) total[r] += __shfl_xor_sync(0xffffffffu, total[r], offset);");
    body.Close();
  }

  // For the thread's elements of the result.
  void ForResults(Lines& body, const char* unroll, const std::function<void()>& inside) const {
    body.Add("#pragma unroll");
    body.Open("for (int r = 0; r < 2; ++r)");
    for (const char* head : {"for (int n = 0; n < kCols / 8; ++n)", "for (int c = 0; c < 2; ++c)"}) {
      body.Add(unroll);
      body.Open(head);
    }
    body.Add(
        fmt::format("const int {} = first_row + thread_row + r * 8, {} = n * 8 + thread_column + c;", row(), col()));
    inside();
    for (int i = 0; i < 3; ++i) body.Close();
  }

  void WriteAgain(Lines& body, const std::string& last) {
    WriteAgainComment(body);
    body.Add("bool again = false;");
    body.Add("#pragma unroll");
    body.Open("for (int n = 0; n < kCols / 8; ++n)");
    body.Add("#pragma unroll");
    body.Add("for (int i = 0; i < 4; ++i) again |= isnan(sums[n][i]);");
    body.Close();
    WriteAgainIfTotal(body, "for (int r = 0; r < 2; ++r)", "first_row + thread_row + r * 8");
    body.Open("if (again)");
    ForResults(body, "#pragma unroll 1", [&] { WriteElementAgain(body, last); });
    body.Add("return;");
    body.Close();
  }

  void WriteResults(Lines& body) {
    const char* sum = scales() ? "(sums[n][2 * r + c] * 0x1p-15f)" : "sums[n][2 * r + c]";
    ForResults(body, "#pragma unroll", [&] { WriteOutputs(body, sum, "total[r]", "largest[r]"); });
  }

  const core::DType dtype_;
  std::optional<Octets> queries_, keys_, values_;
};

}  // namespace

std::optional<CodeOutcome> TensorAttention(const Problem& problem, const Group& group, const AttentionPlan& plan,
                                           int tile) {
  if (!HasTensorCores(problem.input.chip)) return std::nullopt;
  const auto left = TypeOfHalves(problem, problem.stage(plan.scores), plan.product.left.nodes);
  const auto right = TypeOfHalves(problem, problem.stage(plan.scores), plan.product.right.nodes);
  const auto value = TypeOfHalves(problem, problem.stage(plan.sums), plan.value);
  if (!left || left != right || left != value) return std::nullopt;
  TensorAttentionWriter writer(problem, group, plan, tile, *left);
  if (!writer.Applies()) return std::nullopt;
  return writer.Write();
}

}  // namespace warpwright::schedule
