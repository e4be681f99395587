#include "schedule/row_results.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::schedule {

RowResults::RowResults(const Problem& problem, const ContractionGroup& group, const RowTiles& tiles,
                       const FlatAxis& rows, const FlatAxis& columns, const VariableTexts& variables,
                       ResultLayout layout, std::string first_column, Names& names)
    : of_(*group.rows),
      problem_(of_.problem),
      tiles_(tiles),
      rows_(rows),
      columns_(columns),
      variables_(variables),
      layout_(std::move(layout)),
      first_column_(std::move(first_column)),
      names_(names),
      sum_(problem, problem.stage(group.stage), group.contraction, variables, names),
      again_(sum_.LeavesOut() ? "again" : ""),
      inside_(names.TakeOf({"inside", "has_row"})) {}

void RowResults::Write(Lines& body, const std::function<void(Lines&)>& product) {
  const auto tile = [&](Lines& lines) {
    product(lines);
    lines.Add("");
    if (!again_.empty()) WriteCheck(lines);
  };
  if (tiles_.whole) tile(body);
  for (const RowPass& pass : of_.plan.passes) {
    Declare(pass, body);
    if (!tiles_.whole) {
      body.Open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += kTileN)", first_column_, columns_.count()));
      tile(body);
    }
    WriteFold(pass, body);
    if (!tiles_.whole) {
      body.Add("__syncthreads();  // others still multiply what the next tile's factors will overwrite");
      body.Close();
    }
    Combine(pass, body);
  }
  WriteValues(body);
}

bool RowResults::HasOthers(core::ReduceOp op) const {
  return std::count_if(of_.plan.members.begin(), of_.plan.members.end(),
                       [&](const RowMember& member) { return member.statistic() && member.reduce->op == op; }) > 1;
}

// Arrays for the statistics of a pass.
void RowResults::Declare(const RowPass& pass, Lines& body) {
  std::vector<std::string> starts;
  for (const size_t m : pass.members) {
    const RowMember& member = of_.plan.members[m];
    if (!member.statistic()) continue;
    const core::ReduceOp op = member.reduce->op;
    const auto type = core::TypesOf(problem_.form, member.stage)[member.reduce->body];
    const bool boolean = type == core::ValueType::kBoolean;
    Lines unused;
    ExpressionCode code(problem_, member.stage, ScopeFor("0"), names_, unused);
    Accumulator accumulator{.op = op,
                            .type = boolean ? core::ValueType::kInteger : type,
                            .c_type = boolean ? "int" : code.CType(member.reduce->body),
                            .value = "",
                            .index = ""};
    const std::string name = names_.TakeOf(NamesFor(problem_, member.stage, *member.reduce, HasOthers(op)));
    body.Add(fmt::format("{} {}[{}];", accumulator.c_type, name, layout_.rows));
    called_[member.stage.name] = name;
    accumulator.value = name + "[i]";
    if (core::IsArg(op)) {
      const std::string at = names_.Take(name + "_at");
      body.Add(fmt::format("int {}[{}];", at, layout_.rows));
      called_[member.stage.name] = at;
      accumulator.index = at + "[i]";
    }
    // "float smallest[i] = INFINITY;" without the type.
    for (const std::string& line : Declared(problem_, accumulator)) starts.push_back(line.substr(line.find(' ') + 1));
    results_[member.stage.name] = std::move(accumulator);
  }
  if (starts.empty()) return;
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  for (const std::string& start : starts) body.Add(start);
  body.Close();
}

// `again` becomes true where a warp's sums must be added up again: its lanes combine what they find.
void RowResults::WriteCheck(Lines& body) {
  body.Add(
      "// A term that is left out was 0 times the other factor, which is no number if that is infinite: then this");
  body.Add("// warp's sums are added up again, without such terms.");
  body.Add(fmt::format("bool {} = false;", again_));
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int j = 0; j < {}; j += {})", layout_.columns, layout_.width));
  body.Add("#pragma unroll");
  body.Add(fmt::format("for (int l = 0; l < {}; ++l) {} |= isnan({});", layout_.width, again_, layout_.Sum(" + l")));
  body.Close();
  body.Close();
  body.Add(fmt::format("{0} = __any_sync(0xffffffffu, {0});", again_));
}

// The loop over a thread's rows. Those beyond the last one take part with it, and store nothing.
void RowResults::OpenRows(Lines& body, bool stores) {
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  body.Add(fmt::format("const int {} = min({}, {} - 1);", rows_.index(), layout_.row, rows_.count()));
  if (stores) body.Add(fmt::format("const bool {} = {} < {};", inside_, layout_.row, rows_.count()));
  rows_.Decode(body, rows_.index());
}

void RowResults::WriteFold(const RowPass& pass, Lines& body) {
  const bool stores =
      std::any_of(pass.members.begin(), pass.members.end(), [&](size_t m) { return !of_.plan.members[m].statistic(); });
  OpenRows(body, stores);
  if (!again_.empty()) {
    body.Open(fmt::format("if ({})", again_));
    WriteColumns(pass, Sums::kAgain, body);
    body.Else();
  }
  WriteColumns(pass, Sums::kHeld, body);
  if (!again_.empty()) body.Close();
  body.Close();
}

void RowResults::WriteColumns(const RowPass& pass, Sums sums, Lines& body) {
  const char* const unroll = sums == Sums::kHeld ? "#pragma unroll" : "#pragma unroll 1";
  const Names outside = names_;
  body.Add(unroll);
  body.Open(fmt::format("for (int j = 0; j < {}; j += {})", layout_.columns, layout_.width));
  body.Add(unroll);
  body.Open(fmt::format("for (int l = 0; l < {}; ++l)", layout_.width));
  body.Add(fmt::format("const int {} = {} + l;", columns_.index(), layout_.column));
  body.Add(fmt::format("if ({} >= {}) break;", columns_.index(), columns_.count()));
  columns_.Decode(body, columns_.index());
  const std::string text = sums == Sums::kAgain ? sum_.Again(body) : sum_.Scaled(layout_.Sum(" + l"), body);
  const std::string result = names_.TakeOf({"value", "product_value"});
  body.Add(fmt::format("const {} {} = {};", problem_.real(), result, text));
  WriteElement(pass, result, body);
  body.Close();
  body.Close();
  names_ = outside;
}

void RowResults::WriteElement(const RowPass& pass, const std::string& result, Lines& body) {
  const auto storing = std::count_if(pass.members.begin(), pass.members.end(),
                                     [&](size_t m) { return !of_.plan.members[m].statistic(); });
  LateStores late(problem_, names_, storing > 1);
  for (const size_t m : pass.members) {
    const RowMember& member = of_.plan.members[m];
    ExpressionCode code(problem_, member.stage, ScopeFor(result), names_, body);
    if (member.statistic()) WriteStatistic(member, code, body);
    else WriteStore(member, code, late, body);
    if (code.refusal()) refusal_ = code.refusal();
  }
  late.Write(body);
}

void RowResults::WriteStatistic(const RowMember& member, ExpressionCode& code, Lines& body) {
  const std::string condition = ConditionText(member.reduce->guards, code.scope().variables);
  if (!condition.empty()) body.Open(fmt::format("if ({})", condition));
  const Accumulator& accumulator = results_.at(member.stage.name);
  std::string candidate = code.Value(member.value(), accumulator.type), index;
  if (core::IsArg(accumulator.op)) {
    const std::string value = names_.Take("candidate");
    body.Add(fmt::format("const {} {} = {};", accumulator.c_type, value, candidate));
    candidate = value;
    index = Parenthesized(PositionText(*member.reduce->index, code.scope().variables));
  }
  for (const std::string& line : Updated(problem_, accumulator, candidate, index)) body.Add(line);
  if (!condition.empty()) body.Close();
}

void RowResults::WriteStore(const RowMember& member, ExpressionCode& code, LateStores& late, Lines& body) {
  const core::Stage& stage = member.stage;
  const auto& variables = code.scope().variables;
  late.Open(body, stage, ConditionText(stage.domain, variables));
  const std::string value = Stored(problem_, stage.dtype, code.TypeOf(member.value()), code.Value(member.value()));
  std::vector<std::string> at;
  for (const core::Affine& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
  const std::string element =
      fmt::format("{}[{}]", stage.name, OffsetText(problem_, ShapeOf(problem_, stage.name), at));
  late.Set(body, element, value, member.columns.empty() ? "" : inside_);
  late.Close(body);
}

void RowResults::Combine(const RowPass& pass, Lines& body) {
  std::vector<std::string> calls;
  for (const size_t m : pass.members)
    if (of_.plan.members[m].statistic())
      calls.push_back(
          CombinedOverLanes(problem_, results_.at(of_.plan.members[m].stage.name), layout_.lanes, helpers_));
  if (calls.empty()) return;
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  for (const std::string& call : calls) body.Add(call);
  body.Close();
}

// Outputs with one value for each row, by the first of the lanes that have it.
void RowResults::WriteValues(Lines& body) {
  if (of_.plan.values.empty()) return;
  OpenRows(body, true);
  body.Open(fmt::format("if ({} && lane % {} == 0)", inside_, layout_.lanes));
  LateStores late(problem_, names_, of_.plan.values.size() > 1);
  for (const size_t m : of_.plan.values) {
    const RowMember& member = of_.plan.members[m];
    ExpressionCode code(problem_, member.stage, ScopeFor(""), names_, body);
    WriteStore(member, code, late, body);
    if (code.refusal()) refusal_ = code.refusal();
  }
  late.Write(body);
  body.Close();
  body.Close();
}

// `result`: the name of the element of the product's rows.
Scope RowResults::ScopeFor(const std::string& result) const {
  Scope scope;
  for (const auto& [of_plan, of_product] : of_.variables) scope.variables[of_plan] = variables_.at(of_product);
  scope.value = [this, result](const core::TensorRead& read) -> std::optional<std::string> {
    if (!read.stage && read.tensor == of_.product) return result;
    const auto found = results_.find(read.tensor);
    if (!read.stage || found == results_.end()) return std::nullopt;
    return core::IsArg(found->second.op) ? found->second.index : found->second.value;
  };
  return scope;
}

}  // namespace warpwright::schedule
