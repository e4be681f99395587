#include "schedule/window_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/late_stores.h"

namespace warpwright::schedule {

WindowResults::WindowResults(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows,
                             const FlatAxis& columns, const FlatAxis& positions, const VariableTexts& variables,
                             ResultLayout layout, Names& names)
    : problem_(problem),
      group_(group),
      window_(problem.stage(group.window->stage)),
      reduce_(std::get<core::Reduce>(window_.nodes.back())),
      rows_(rows),
      columns_(columns),
      positions_(positions),
      variables_(variables),
      layout_(std::move(layout)),
      names_(names),
      sum_(problem, problem.stage(group.stage), group.contraction, variables, names),
      again_(sum_.LeavesOut() ? "again" : "") {
  const auto type = core::TypesOf(problem_.form, window_)[reduce_.body];
  if (type != core::ValueType::kReal) refusal_ = Refuse("windows of what is no real number", window_.line);
  accumulator_ = {.op = reduce_.op,
                  .type = type,
                  .c_type = problem_.real(),
                  .value = names_.TakeOf(NamesFor(problem_, window_, reduce_, false)),
                  .index = {}};
}

void WindowResults::Write(const std::string& extents, Lines& body, const std::function<void(Lines&)>& product) {
  Declare(extents, body);
  positions_.DeclareExtents(body);
  body.Add("#pragma unroll 1");
  body.Open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", positions_.index(), positions_.count()));
  if (!positions_.single()) positions_.Decode(body, positions_.index());
  product(body);
  body.Add("");
  if (!again_.empty()) {
    WriteCheck(body);
    body.Open(fmt::format("if ({})", again_));
    WriteFold(Sums::kAgain, body);
    body.Else();
  }
  WriteFold(Sums::kHeld, body);
  if (!again_.empty()) body.Close();
  body.Add("__syncthreads();  // others still multiply what the next place's factors will overwrite");
  body.Close();
  WriteStores(body);
}

// An array beside the sums, in their order.
void WindowResults::Declare(const std::string& extents, Lines& body) {
  const std::string name = accumulator_.value;
  body.Add(fmt::format("{} {}{};", accumulator_.c_type, name, extents));
  accumulator_.value = layout_.Sum(" + l", name);
  const std::string start = Declared(problem_, accumulator_).front();
  OpenHeld(body);
  body.Add(start.substr(start.find(' ') + 1));
  for (int i = 0; i < 3; ++i) body.Close();
}

void WindowResults::WriteCheck(Lines& body) {
  body.Add(
      "// A term that is left out was 0 times the other factor, which is no number if that is infinite: then this");
  body.Add("// thread's sums are added up again, without such terms.");
  body.Add(fmt::format("bool {} = false;", again_));
  OpenHeld(body);
  body.Add(fmt::format("{} |= isnan({});", again_, layout_.Sum(" + l")));
  for (int i = 0; i < 3; ++i) body.Close();
}

VariableTexts WindowResults::Texts(const VariableMap& of_product) const {
  VariableTexts texts;
  for (const auto& [own, variable] : of_product) texts[own] = variables_.at(variable);
  return texts;
}

// `inside`: writes what is done with a result; its variables are declared where that names them.
void WindowResults::ForResults(const char* unroll, Lines& body, const std::function<void(Lines&)>& inside) {
  const Names outside = names_;
  Lines statements(body.level() + 3);
  inside(statements);
  const std::string text = statements.text();
  const auto decode = [&](const FlatAxis& axis) {
    const bool named = std::any_of(axis.axes().begin(), axis.axes().end(),
                                   [&](const Axis& one) { return HasWord(text, variables_.at(one.variable)); });
    if (named) axis.Decode(body, axis.index());
  };
  body.Add(unroll);
  body.Open(fmt::format("for (int j = 0; j < {}; j += {})", layout_.columns, layout_.width));
  body.Add(unroll);
  body.Open(fmt::format("for (int l = 0; l < {}; ++l)", layout_.width));
  body.Add(fmt::format("const int {} = {} + l;", columns_.index(), layout_.column));
  body.Add(fmt::format("if ({} >= {}) break;", columns_.index(), columns_.count()));
  decode(columns_);
  body.Add(unroll);
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  body.Add(fmt::format("const int {} = {};", rows_.index(), layout_.row));
  body.Add(fmt::format("if ({} >= {}) break;", rows_.index(), rows_.count()));
  decode(rows_);
  body.Append(statements);
  for (int i = 0; i < 3; ++i) body.Close();
  names_ = outside;
}

void WindowResults::WriteFold(Sums sums, Lines& body) {
  ForResults(sums == Sums::kHeld ? "#pragma unroll" : "#pragma unroll 1", body, [&](Lines& lines) {
    const std::string sum = sums == Sums::kAgain ? sum_.Again(lines) : sum_.Scaled(layout_.Sum(" + l"), lines);
    Scope scope{.variables = Texts(group_.window->variables),
                .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                  if (!read.stage || read.tensor != problem_.stage(group_.stage).name) return std::nullopt;
                  return Parenthesized(sum);
                }};
    ExpressionCode code(problem_, window_, std::move(scope), names_, lines);
    const std::string value = code.Value(reduce_.body, accumulator_.type);
    if (code.refusal()) refusal_ = code.refusal();
    const std::string update = Updated(problem_, accumulator_, value, "").front();
    if (sums == Sums::kHeld) return lines.Add(update);
    WriteUpdateAt(value, lines);
  });
}

// Registers have no index: in loops that are not unrolled each of them is asked whether it is the one.
void WindowResults::WriteUpdateAt(const std::string& value, Lines& body) {
  const std::string own_value = names_.TakeOf({"value", "pooled_value"});
  const std::string own_i = names_.Take("own_i"), own_j = names_.Take("own_j"), own_l = names_.Take("own_l");
  body.Add(fmt::format("const {} {} = {};", accumulator_.c_type, own_value, value));
  body.Add(fmt::format("const int {} = i, {} = j, {} = l;", own_i, own_j, own_l));
  OpenHeld(body);
  body.Add(fmt::format("if (i == {} && j == {} && l == {}) {}", own_i, own_j, own_l,
                       Updated(problem_, accumulator_, own_value, "").front()));
  for (int i = 0; i < 3; ++i) body.Close();
}

// Loops over what a thread holds, unrolled.
void WindowResults::OpenHeld(Lines& body) const {
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int j = 0; j < {}; j += {})", layout_.columns, layout_.width));
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int l = 0; l < {}; ++l)", layout_.width));
}

void WindowResults::WriteStores(Lines& body) {
  ForResults("#pragma unroll", body, [&](Lines& lines) {
    LateStores late(problem_, names_, group_.outputs.size() > 1);
    for (const StageReader& output : group_.outputs) {
      const core::Stage& stage = problem_.stage(output.stage);
      const VariableTexts variables = Texts(output.variables);
      late.Open(lines, stage, ConditionText(stage.domain, variables));
      std::string value = accumulator_.value;
      core::ValueType type = accumulator_.type;
      if (output.stage != group_.window->stage) {
        Scope scope{.variables = variables, .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                      if (!read.stage || read.tensor != window_.name) return std::nullopt;
                      return accumulator_.value;
                    }};
        ExpressionCode code(problem_, stage, std::move(scope), names_, lines);
        value = code.Root();
        type = code.TypeOf(static_cast<core::NodeId>(stage.nodes.size() - 1));
        if (code.refusal()) refusal_ = code.refusal();
      }
      std::vector<std::string> at;
      for (const core::Affine& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
      late.Set(lines, fmt::format("{}[{}]", stage.name, OffsetText(problem_, ShapeOf(problem_, stage.name), at)),
               Stored(problem_, stage.dtype, type, value));
      late.Close(lines);
    }
    late.Write(lines);
  });
}

}  // namespace warpwright::schedule
