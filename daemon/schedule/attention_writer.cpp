#include "schedule/attention_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "schedule/overlaps.h"

namespace warpwright::schedule {
namespace {

constexpr int64_t kDeepest = 128;  // terms of a score, and elements of a result: registers and shared memory

}  // namespace

std::span<const char* const> LocalsOfAttention() {
  static constexpr const char* kLocals[] = {"tiles",
                                            "row_tile",
                                            "column_tile",
                                            "value_tile",
                                            "offset",
                                            "sums",
                                            "scores",
                                            "largest",
                                            "total",
                                            "next",
                                            "shrink",
                                            "shift",
                                            "weight",
                                            "inside",
                                            "element",
                                            "last",
                                            "begin",
                                            "thread_row",
                                            "thread_column",
                                            "first_row",
                                            "first_column",
                                            "stage",
                                            "lane",
                                            "warp",
                                            "load",
                                            "high",
                                            "low",
                                            "again",
                                            "sum",
                                            "score",
                                            "query",
                                            "key",
                                            "r",
                                            "c",
                                            "n",
                                            "j",
                                            "i",
                                            "most",
                                            "whole",
                                            "is_weighed",
                                            "logit"};
  return kLocals;
}

AttentionWriter::AttentionWriter(const Problem& problem, const Group& group, AttentionPlan plan, int tile)
    : problem_(problem), group_(group), plan_(std::move(plan)), tile_(tile), names_(problem) {
  for (const char* name : LocalsOfAttention()) names_.Take(name);
  row_ = names_.Take("row"), column_ = names_.Take("column"), depth_ = names_.TakeOf({"k", "d"}),
  col_ = names_.Take("col");
  std::map<core::VariableId, std::string> batch;
  for (const Axis& axis : plan_.product.batch) batch_names_.push_back(names_.Take("b" + std::to_string(axis.variable)));
  for (size_t b = 0; b < batch_names_.size(); ++b) batch[plan_.product.batch[b].variable] = batch_names_[b];
  batch_.emplace(plan_.product.batch, batch, names_, "batch", "batches");
  depth_count_ = Rounded(plan_.product.k[0].extent).value_or(0);
  col_count_ = Rounded(plan_.col_extent).value_or(0);
}

// To whole columns of threads, at all sizes that are timed.
std::optional<int64_t> AttentionWriter::Rounded(const core::Size& extent) const {
  const auto largest = LargestOf(problem_, extent);
  if (!largest || *largest > kDeepest) return std::nullopt;
  return (std::max<int64_t>(*largest, 1) + 15) / 16 * 16;
}

CodeOutcome AttentionWriter::Write() {
  if (depth() == 0 || cols() == 0) return schedule::Refuse("rows of the factors are too long for registers");
  const std::string name = KernelName(problem_, "one_pass");
  const KernelArguments arguments = ArgumentsOf(problem_, group_);
  Lines kernel;
  kernel.AddAll(FormulaComment(problem_, group_));
  WriteComment(kernel);
  kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", threads()), name, arguments.parameters));
  Lines body(1);
  body.Add(fmt::format("constexpr int kTile = {}, kDepth = {}, kCols = {};", tile_, depth(), cols()));
  WriteBody(body);
  kernel.Append(body);
  kernel.Add("}");
  if (refusal_) return *refusal_;
  Code code;
  code.helpers = Helpers();
  code.kernels = kernel.text();
  code.launch = WriteLaunch(name, arguments);
  code.notes = {fmt::format("rows by {}, scores kept in registers", tile_)};
  for (const auto& [extent, most] : {std::pair(plan_.product.k[0].extent, depth()), {plan_.col_extent, cols()}})
    if (const std::string text = fmt::format("{} <= {}", SizeText(extent), most);
        !extent.Variables().empty() && (code.conditions.empty() || code.conditions.back() != text))
      code.conditions.push_back(text);
  // A block stores its rows while others still read keys and values.
  for (std::string& apart : ApartConditions(problem_, group_, group_.stages))
    code.conditions.push_back(std::move(apart));
  return code;
}

VariableTexts AttentionWriter::Variables(size_t of) const {
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
std::string AttentionWriter::Scaled(const std::string& score, Lines& lines) {
  if (plan_.score_scale.empty()) return score;
  return fmt::format("({} * {})", score, Parenthesized(Value(plan_.scores, plan_.score_scale, {}, lines)));
}
std::string AttentionWriter::Value(size_t of, const std::vector<core::NodeId>& nodes, const Known& known,
                                   Lines& lines) {
  Scope scope{.variables = Variables(of), .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                for (const auto& [i, text] : known)
                  if (read.stage && read.tensor == stage(i).name) return i == plan_.scores ? Scaled(text, lines) : text;
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
void AttentionWriter::WriteBlock(Lines& body) {
  batch_->DeclareExtents(body);
  const std::string blocks = names_.Take("row_blocks");
  body.Add(fmt::format("const int {} = {};", blocks, CeilDivided(SizeText(rows()), "kTile")));
  body.Add(fmt::format("const int first_row = blockIdx.x % {} * kTile;", blocks));
  if (batch_->empty()) return;
  body.Add(fmt::format("const int {} = blockIdx.x / {};", batch_->index(), blocks));
  if (!batch_->single()) batch_->Decode(body, batch_->index());
}

bool AttentionWriter::HasZerosOutside() const {
  const std::vector<core::Guard>& guards = SumOf(plan_.sums).guards;
  return std::any_of(guards.begin(), guards.end(),
                     [&](const core::Guard& guard) { return IsZeroOutside(problem_, guard); });
}

// The condition on column - row, where there is one.
const core::Guard* AttentionWriter::Band() const {
  const auto is = [&](const core::Affine::Term& term, AttentionRole role, int sign) {
    return term.part == core::Affine::Part::kWhole && core::IsNumber(term.coefficient, sign) &&
           plan_.variables.at(plan_.largest).at(term.variable).role == role;
  };
  for (const core::Guard& guard : SumOf(plan_.largest).guards) {
    const auto& terms = guard.value.terms;
    if (terms.size() != 2 || !core::IsNumber(guard.value.divisor, 1) || !core::IsNumber(guard.value.constant, 0))
      continue;
    if ((is(terms[0], AttentionRole::kRow, -1) && is(terms[1], AttentionRole::kColumn, 1)) ||
        (is(terms[1], AttentionRole::kRow, -1) && is(terms[0], AttentionRole::kColumn, 1)))
      return &guard;
  }
  return nullptr;
}

std::string AttentionWriter::WriteLast(Lines& body) const {
  const std::string all = SizeText(columns());
  const core::Guard* band = Band();
  if (HasZerosOutside() || band == nullptr || !band->high) return Parenthesized(all);
  // The last row's end: first_row + kTile - 1 + high.
  const bool one = core::IsNumber(*band->high, 1);
  const std::string end = one ? "kTile" : "kTile - 1 + " + Parenthesized(SizeText(*band->high));
  body.Add(fmt::format("const int last = min({}, first_row + {});  // no row has columns behind", all, end));
  return "last";
}

std::string AttentionWriter::WriteBegin(Lines& body, const char* step) const {
  const core::Guard* band = Band();
  if (HasZerosOutside() || band == nullptr || !band->low) return "0";
  const std::string low = SizeText(*band->low);
  const std::string first = low.starts_with("-") ? "first_row - " + low.substr(1) : "first_row + " + low;
  body.Add(fmt::format("const int begin = max(0, {}) / {} * {};  // no row has columns before", first, step, step));
  return "begin";
}

void AttentionWriter::WriteIfInside(Lines& body, size_t of, core::NodeId node, const Known& known,
                                    const std::string& statement) {
  const std::string guards = ConditionText(SumOf(of).guards, Variables(of));
  Lines inside(body.level() + 1);
  const std::string value = Value(of, {node}, known, inside);
  AddBroken(body, fmt::format("if ({} < {} && {} < {}{}) {{", row_, Parenthesized(SizeText(rows())), column_,
                              Parenthesized(SizeText(columns())), guards.empty() ? "" : " && " + guards));
  body.Append(inside);
  AddBroken(body, "  " + fmt::format(fmt::runtime(statement), value));
  body.Add("}");
}

bool AttentionWriter::IsSummedAsItIs() {
  Lines ignored;
  const Known known = {{plan_.scores, "score"}, {plan_.largest, "largest"}};
  return Value(plan_.total, {SumOf(plan_.total).body}, known, ignored) ==
             Value(plan_.sums, {plan_.weight}, known, ignored) &&
         ignored.empty() &&
         ConditionText(SumOf(plan_.total).guards, Variables(plan_.total)) ==
             ConditionText(SumOf(plan_.sums).guards, Variables(plan_.sums));
}

void AttentionWriter::WriteOutputs(Lines& body, const std::string& sum, const std::string& total,
                                   const std::string& largest) {
  body.Open(fmt::format("if ({} < {} && {} < {})", row_, Parenthesized(SizeText(rows())), col_,
                        Parenthesized(SizeText(plan_.col_extent))));
  WriteOutputsThere(body, sum, total, largest);
  body.Close();
}

void AttentionWriter::WriteOutputsThere(Lines& body, const std::string& sum, const std::string& total,
                                        const std::string& largest) {
  Known known = {{plan_.total, total}, {plan_.largest, largest}, {plan_.sums, sum}};
  if (!plan_.scale.empty()) {
    const std::string scale = Value(plan_.sums, plan_.scale, known, body);
    known[plan_.sums] = fmt::format("({} * {})", sum, Parenthesized(scale));
  }
  LateStores stores(problem_, names_, plan_.outputs.size() > 1);
  for (const size_t output : plan_.outputs) WriteOutput(body, output, known, stores);
  stores.Write(body);
}

void AttentionWriter::WriteAgainComment(Lines& body) const {
  body.Add("// A column that is left out had the weight 0, which makes an infinite value no number, as does what is");
  body.Add(
      "// rounded off another weight, and a score too large before it is scaled; and of scores that are rounded by "
      "more");
  body.Add(
      "// than one the largest may weigh nothing or too much: this is computed once more, term by term, and its scores "
      "in");
  body.Add("// double precision.");
}

void AttentionWriter::WriteAgainIfTotal(Lines& body, const std::string& for_rows, const std::string& row) const {
  body.Add("#pragma unroll");
  body.Open(for_rows);
  body.Add("const bool is_weighed = total[r] > 0.5f && total[r] < INFINITY;");
  body.Add(fmt::format("again |= {} < {} && !is_weighed;", row, Parenthesized(SizeText(rows()))));
  body.Close();
}

void AttentionWriter::WriteScoreAgain(Lines& body) {
  body.Add("double score = 0.0;");
  body.Open(
      fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", depth_, Parenthesized(SizeText(plan_.product.k[0].extent))));
  body.Add(fmt::format("const double query = {};", Value(plan_.scores, plan_.product.left.nodes, {}, body)));
  body.Add(fmt::format("const double key = {};", Value(plan_.scores, plan_.product.right.nodes, {}, body)));
  body.Add("score += query * key;");
  body.Close();
}

void AttentionWriter::WriteElementAgain(Lines& body, const std::string& last) {
  body.Add(fmt::format("if ({} >= {} || {} >= {}) continue;", row_, Parenthesized(SizeText(rows())), col_,
                       Parenthesized(SizeText(plan_.col_extent))));
  const auto for_columns = [&](const std::string& guards, const std::function<void()>& inside) {
    body.Open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", column_, last));
    if (!guards.empty()) AddBroken(body, fmt::format("if (!({})) continue;", guards));
    WriteScoreAgain(body);
    const std::string logit = Value(plan_.largest, {SumOf(plan_.largest).body}, {{plan_.scores, "score"}}, body);
    AddBroken(body, fmt::format("const double logit = {};", logit));
    inside();
    body.Close();
  };
  const auto guards_of = [&](size_t of) { return ConditionText(SumOf(of).guards, Variables(of)); };
  body.Add("double most = -INFINITY;");
  for_columns(guards_of(plan_.largest), [&] { body.Add("most = fmax(most, logit);"); });
  body.Add("float whole = 0.0f, sum = 0.0f;");
  // Not fused with the product before, whose rounding is that of the largest.
  const auto add_weight = [&] { body.Add("const float weight = expf(__dadd_rn(logit, -most));"); };
  const std::string guards = guards_of(plan_.sums);
  const bool zeros = HasZerosOutside() && !guards.empty(), together = !zeros && guards == guards_of(plan_.total);
  if (!together)
    for_columns(guards_of(plan_.total), [&] {
      add_weight();
      body.Add("whole += weight;");
    });
  for_columns(zeros ? "" : guards, [&] {
    add_weight();
    if (together) body.Add("whole += weight;");
    const std::string value = Value(plan_.sums, plan_.value, {}, body);
    const std::string weight = zeros ? fmt::format("({} ? weight : 0.0f)", guards) : "weight";
    AddBroken(body, fmt::format("sum += {} * {};", weight, Parenthesized(value)));
  });
  WriteOutputsThere(body, "sum", "whole", "most");
}

void AttentionWriter::WriteOutput(Lines& body, size_t output, const Known& known, LateStores& stores) {
  const core::Stage& own = stage(output);
  const auto root = static_cast<core::NodeId>(own.nodes.size() - 1);
  stores.Open(body, own, ConditionText(own.domain, Variables(output)));
  const std::string value = Value(output, {root}, known, body);
  std::vector<std::string> at;
  for (const core::Affine& position : StoredAt(own)) at.push_back(PositionText(position, Variables(output)));
  stores.Set(body, fmt::format("{}[{}]", own.name, OffsetText(problem_, ShapeOf(problem_, own.name), at)),
             Stored(problem_, own.dtype, core::ValueType::kReal, value));
  stores.Close(body);
}

std::string AttentionWriter::WriteLaunch(const std::string& name, const KernelArguments& arguments) const {
  Lines launch;
  const int64_t bytes = SharedBytes();
  AddBroken(launch,
            fmt::format("cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});", name, bytes));
  std::string grid = CeilDivided(SizeText(rows()), std::to_string(tile_));
  if (!batch_->empty()) grid = fmt::format("{} * {}", Parenthesized(grid), Parenthesized(batch_->extent()));
  launch.Add(Launch(problem_, name, grid, std::to_string(threads()), arguments.values, std::to_string(bytes)));
  return launch.text();
}

}  // namespace warpwright::schedule
