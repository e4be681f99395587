#include "schedule/row_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace warpwright::schedule {

using Variables = std::map<core::VariableId, std::string>;

namespace {
constexpr int kTermsOfPart = 64;
}

RowWriter::RowWriter(const Problem& problem, const Group& group, RowPlan plan, RowShape shape)
    : problem_(problem), group_(group), plan_(std::move(plan)), shape_(std::move(shape)), names_(problem) {}

namespace {

// Whether only its conditions keep a sum's terms inside of what they are read from: the last group of a row is shorter.
bool IsRagged(const RowMember& member, size_t rows) {
  if (!member.reduce || member.reduce->guards.empty()) return false;
  const core::VariableSet of_rows = core::SetOf(static_cast<core::VariableId>(rows)) - 1;
  return std::any_of(member.stage.nodes.begin(), member.stage.nodes.end(), [&](const core::Node& node) {
    bool both = false;
    if (std::holds_alternative<core::TensorRead>(node))
      core::ForEachPosition(node, [&](const core::Affine& position) {
        const core::VariableSet variables = core::VariablesOf(position);
        both |= (variables & of_rows) != 0 && (variables & ~of_rows) != 0;
      });
    return both;
  });
}

}  // namespace

// One width for all passes, so that the launcher asks once.
void RowWriter::PlanPacking() {
  if (shape_.team == Team::kColumn) return;
  size_t largest = 1;
  for (const RowPass& pass : plan_.passes)
    for (const Access& access : pass.accesses)
      if (!pass.columns.empty() && IsContiguous(access, pass.columns.back()))
        largest = std::max(largest, core::SizeOf(access.dtype));
  Packing packing;
  packing.width = shape_.vector_bytes / static_cast<int>(largest);
  if (packing.width <= 1) return;
  for (const RowPass& pass : plan_.passes) {
    if (std::any_of(pass.members.begin(), pass.members.end(),
                    [&](size_t m) { return IsRagged(plan_.members[m], plan_.rows.size()); }))
      continue;
    const std::string divides =
        fmt::format("{} % {} == 0", Parenthesized(SizeText(pass.columns.back().extent)), packing.width);
    if (std::find(packing.conditions.begin(), packing.conditions.end(), divides) == packing.conditions.end())
      packing.conditions.push_back(divides);
    for (const Access& access : pass.accesses) {
      if (!IsContiguous(access, pass.columns.back())) continue;
      const bool whole = std::all_of(pass.members.begin(), pass.members.end(),
                                     [&](size_t m) { return !access.store || plan_.members[m].stage.domain.empty(); });
      if (const auto needs = Divisible(access, pass.columns.back(), packing.width); needs && whole)
        packing.Add(access, *needs);
    }
  }
  packing_ = std::move(packing);
}

CodeOutcome RowWriter::Write() {
  Code code;
  PlanPacking();
  name_ = KernelName(problem_, splits()                       ? "parts"
                               : shape_.team == Team::kColumn ? "columns"
                               : plan_.rows.empty()           ? "whole"
                                                              : "rows");
  if (packing_.packs()) {
    packed_ = MakePackedType(problem_, packing_);
    helpers_.push_back(packed_.definition);
    if (!packed_.store_definition.empty()) helpers_.push_back(packed_.store_definition);
    names_.Take("kWidth");
    k_ = names_.TakeOf({"k", "item"});
  }
  KernelArguments arguments = ArgumentsOf(problem_, splits() ? Statistics() : group_);
  if (shape_.partials_are_argument) {
    arguments.parameters.push_back(fmt::format("{}* __restrict__ {}", problem_.real(), shape_.partials));
    arguments.values.push_back(shape_.partials);
  }
  Lines body(1);
  WriteRow(body);
  for (const RowPass& pass : plan_.passes) WritePass(pass, body);
  if (splits()) WritePartials(body);
  else WriteValues(body);
  if (refusal_) return *refusal_;
  std::map<std::string, std::string> variables;
  for (const auto& [stage, result] : results_) variables[stage] = core::IsArg(result.op) ? result.index : result.value;
  Lines kernel;
  kernel.AddAll(FormulaComment(problem_, splits() ? Statistics() : group_, variables));
  if (packing_.packs()) kernel.Add("template <int kWidth>");
  kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", shape_.threads * shape_.teams), name_,
                  arguments.parameters));
  kernel.Append(body);
  kernel.Add("}");
  code.kernels = kernel.text();
  code.launch = WriteLaunch(arguments);
  code.helpers = helpers_;
  const char* who = shape_.team == Team::kWarp ? "a warp for each row" : "a block for each row";
  code.notes = {shape_.team == Team::kColumn ? "neighbouring rows by neighbouring threads" : who};
  return code;
}

std::string RowWriter::First() const { return shape_.team == Team::kColumn ? "threadIdx.y == 0" : "threadIdx.x == 0"; }

void RowWriter::WriteRow(Lines& body) {
  std::vector<Dimension>& dimensions = plan_.row_dimensions;
  if (dimensions.empty()) return;
  const std::string type = problem_.wide ? "long long" : "int";
  const std::string rows = TotalText(problem_, dimensions);
  const bool across = shape_.team == Team::kColumn;
  row_ = across ? names_.TakeOf({"col", "column"}) : names_.TakeOf({"row", "row_index"});
  if (dimensions.size() == 1) dimensions[0].name = row_;
  else NameDimensions(dimensions, names_);
  if (shape_.team == Team::kBlock) {
    body.Add(fmt::format("const {} {} = blockIdx.x;", type, row_));
  } else if (shape_.team == Team::kWarp) {
    body.Add(fmt::format("const {} {} = {} * blockDim.y + threadIdx.y;", type, row_,
                         problem_.wide ? "static_cast<long long>(blockIdx.x)" : "blockIdx.x"));
    body.Add(fmt::format("if ({} >= {}) return;", row_, rows));
  } else {
    const std::string at = names_.TakeOf({"position", "own_column"});
    inside_ = names_.TakeOf({"inside", "has_column"});
    body.Add(fmt::format("const {} {} = blockIdx.x * blockDim.x + threadIdx.x;", type, at));
    body.Add(fmt::format("const bool {} = {} < {};", inside_, at, rows));
    body.Add("// Threads beyond the last column take part with it, and store nothing.");
    body.Add(fmt::format("const {} {} = {} ? {} : {} - 1;", type, row_, inside_, at, rows));
  }
  if (dimensions.size() > 1) WriteCoordinates(dimensions, type, row_, names_, body);
}

std::string RowWriter::OffsetOf(const Access& access, const Variables& variables) const {
  return OffsetText(*access.offset, variables);
}

std::optional<std::string> RowWriter::HeldElement(const Access& access) const {
  for (const auto& [held, name] : held_)
    if (held.store == access.store && SamePlace(held, access)) return fmt::format("{}.at[{}]", name, k_);
  return std::nullopt;
}

Scope RowWriter::ScopeFor(const Variables& variables) {
  Scope scope{variables, nullptr, &constants_};
  scope.value = [this, variables](const core::TensorRead& read) -> std::optional<std::string> {
    if (const auto found = results_.find(read.tensor); read.stage && found != results_.end())
      return core::IsArg(found->second.op) ? found->second.index : found->second.value;
    const core::TensorArgument* tensor = problem_.form.FindTensor(read.tensor);
    if (tensor == nullptr) return std::nullopt;
    const Access access = AccessOf(*tensor, read);
    if (!access.offset) return std::nullopt;
    if (const auto held = HeldElement(access)) return Loaded(problem_, tensor->dtype, *held);
    return Loaded(problem_, tensor->dtype, fmt::format("{}[{}]", read.tensor, OffsetOf(access, variables)));
  };
  return scope;
}

bool RowWriter::HasOthers(core::ReduceOp op) const {
  return std::count_if(plan_.members.begin(), plan_.members.end(),
                       [&](const RowMember& member) { return member.statistic() && member.reduce->op == op; }) > 1;
}

void RowWriter::WritePass(const RowPass& pass, Lines& body) {
  std::vector<Dimension> columns = pass.columns;
  const bool packs = packing_.packs();
  const std::string total = TotalText(problem_, columns);
  const bool across = shape_.team == Team::kColumn;
  const std::string column = across ? names_.TakeOf({"row", "r"}) : names_.TakeOf({"col", "c", "column"});
  if (columns.size() == 1) columns[0].name = column;
  else NameDimensions(columns, names_);
  Variables variables = VariableNames(plan_.row_dimensions);
  for (const auto& [v, name] : VariableNames(columns)) variables[v] = name;

  for (size_t m : pass.members) {
    const RowMember& member = plan_.members[m];
    if (!member.statistic()) continue;
    const core::ReduceOp op = member.reduce->op;
    const auto types = core::TypesOf(problem_.form, member.stage);
    Lines unused;
    Accumulator accumulator;
    accumulator.op = op;
    accumulator.type = types[member.reduce->body] == core::ValueType::kBoolean ? core::ValueType::kInteger
                                                                               : types[member.reduce->body];
    ExpressionCode code(problem_, member.stage, {variables}, names_, unused);
    accumulator.c_type =
        types[member.reduce->body] == core::ValueType::kBoolean ? "int" : code.CType(member.reduce->body);
    accumulator.value = names_.TakeOf(NamesFor(problem_, member.stage, *member.reduce, HasOthers(op)));
    if (core::IsArg(op)) accumulator.index = names_.Take(accumulator.value + "_at");
    for (const std::string& line : Declared(problem_, accumulator)) body.Add(line);
    results_[member.stage.name] = accumulator;
  }

  const std::vector<Part> parts = PartsOf(pass);
  Lines before(body.level()), inner(body.level() + 1 + (packs ? 1 : 0) + (parts.empty() ? 0 : 1)),
      loads(body.level() + 1), stores(body.level() + 1);
  held_.clear();
  for (const Access& access : pass.accesses) {
    const bool chosen = std::any_of(packing_.accesses.begin(), packing_.accesses.end(),
                                    [&](const Access& p) { return p.store == access.store && SamePlace(p, access); });
    const bool present = std::any_of(held_.begin(), held_.end(), [&](const auto& h) {
      return h.first.store == access.store && SamePlace(h.first, access);
    });
    if (!packs || !chosen || present) continue;
    const std::string name = names_.TakeOf({access.tensor + "_pack", access.tensor + "_new"});
    const std::string address = access.tensor + " + " + OffsetOf(access, variables);
    if (access.store) {
      loads.Add(fmt::format("{}<{}, kWidth> {};", packed_.name, ElementTypeOf(problem_, access), name));
      stores.Add(packed_.Store(name, address));
    } else {
      loads.Add(packed_.Load(name, address));
    }
    held_.push_back({access, name});
  }
  Variables inside = variables;
  if (packs) inside[columns.back().variables.back()] += " + " + k_;
  std::vector<std::unique_ptr<ExpressionCode>> codes;
  for (size_t m : pass.members) {
    const RowMember& member = plan_.members[m];
    codes.push_back(std::make_unique<ExpressionCode>(problem_, member.stage, ScopeFor(inside), names_, before));
    codes.back()->Hoist(plan_.ColumnVariables(), member.value());
    codes.back()->To(inner);
  }
  const std::string begin = parts.empty() ? "" : names_.TakeOf({"begin", column + "_begin"});
  const Names outer_names = names_;  // those of the loop's own constants are free again after it
  const auto storing =
      std::count_if(pass.members.begin(), pass.members.end(), [&](size_t m) { return !plan_.members[m].statistic(); });
  LateStores late(problem_, names_, storing > 1);
  for (size_t i = 0; i < codes.size(); ++i) WriteMember(plan_.members[pass.members[i]], inside, *codes[i], late, inner);
  late.Write(inner);
  names_ = outer_names;

  body.Append(before);
  const bool column_team = shape_.team == Team::kColumn;
  const std::string thread = column_team ? "threadIdx.y" : "threadIdx.x";
  const std::string threads = shape_.team == Team::kWarp ? "32" : column_team ? "blockDim.y" : "blockDim.x";
  const std::string times = packs ? " * kWidth" : "";
  const std::string own = fmt::format("blockIdx.y * {} + {}", threads, thread);
  const std::string index = problem_.wide && plan_.rows.empty() ? "long long" : "int";  // of all there is
  const std::string start = !splits() ? thread + times : packs ? "(" + own + ")" + times : own;
  const std::string step = (splits() ? "gridDim.y * " : "") + threads + times;
  // A thread that takes part with another's column must not read what that one stores.
  const std::string stays = storing > 0 && !inside_.empty() ? inside_ + " && " : "";
  if (parts.empty()) {
    body.Open(fmt::format("for ({4} {0} = {1}; {5}{0} < {2}; {0} += {3})", column, start, total, step, index, stays));
  } else {
    const std::string far = fmt::format("{} * {}", kTermsOfPart, Parenthesized(step));
    body.Add(
        fmt::format("// Sums of {} terms, then of these sums: long columns lose little to rounding.", kTermsOfPart));
    body.Open(fmt::format("for (int {0} = {1}; {4}{0} < {2}; {0} += {3})", begin, start, total, far, stays));
    for (const Part& part : parts)
      body.Add(fmt::format("{} {} = {};", problem_.real(), part.name, NumberText(problem_, 0)));
    body.Open(
        fmt::format("for (int {0} = {1}; {0} < {2} && {0} < {1} + {3}; {0} += {4})", column, begin, total, far, step));
  }
  if (columns.size() > 1) WriteCoordinates(columns, index, column, names_, body);
  body.Append(loads);
  if (packs) {
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < kWidth; ++{0})", k_));
  }
  body.Append(inner);
  if (packs) body.Close();
  body.Append(stores);
  body.Close();
  if (!parts.empty()) {
    for (const Part& part : parts) {
      Accumulator& sum = results_.at(part.stage);
      sum.value = part.sum;
      body.Add(fmt::format("{} += {};", sum.value, part.name));
    }
    body.Close();
  }
  const bool alone = shape_.team == Team::kColumn && shape_.threads == 1;
  for (size_t m : pass.members)
    if (plan_.members[m].statistic() && !alone)
      body.Add(Combined(problem_, results_.at(plan_.members[m].stage.name), shape_.team, helpers_));
  for (const auto& [access, name] : held_) names_.Release(name);
  held_.clear();
  names_.Release(column);
}

// Sums by neighbouring threads are of long columns and of few threads: they are summed in parts, into which the
// statistics' code adds from here on.
std::vector<RowWriter::Part> RowWriter::PartsOf(const RowPass& pass) {
  std::vector<Part> parts;
  if (shape_.team != Team::kColumn || problem_.in_double) return parts;
  for (size_t m : pass.members) {
    const RowMember& member = plan_.members[m];
    if (!member.statistic()) continue;
    Accumulator& sum = results_.at(member.stage.name);
    if (sum.op != core::ReduceOp::kSum || sum.type != core::ValueType::kReal) continue;
    parts.push_back({member.stage.name, sum.value, names_.TakeOf({"part", sum.value + "_part"})});
    sum.value = parts.back().name;
  }
  return parts;
}

void RowWriter::WriteMember(const RowMember& member, const Variables& variables, ExpressionCode& code, LateStores& late,
                            Lines& inner) {
  if (!member.statistic()) return WriteStore(member, variables, code, late, inner);
  const std::string condition = ConditionText(member.reduce->guards, variables);
  if (!condition.empty()) inner.Open(fmt::format("if ({})", condition));
  const Accumulator& accumulator = results_.at(member.stage.name);
  const std::string value = code.Value(member.value(), accumulator.type);
  std::string candidate = value, index;
  if (core::IsArg(accumulator.op)) {
    candidate = names_.Take("candidate");
    const std::string at = names_.Take("at");
    inner.Add(fmt::format("const {} {} = {};", accumulator.c_type, candidate, value));
    inner.Add(fmt::format("const int {} = {};", at, PositionText(*member.reduce->index, variables)));
    index = at;
  }
  for (const std::string& line : Updated(problem_, accumulator, candidate, index)) inner.Add(line);
  if (!condition.empty()) inner.Close();
  if (code.refusal()) refusal_ = code.refusal();
}

void RowWriter::WriteStore(const RowMember& member, const Variables& variables, ExpressionCode& code, LateStores& late,
                           Lines& lines) {
  const core::Stage& stage = member.stage;
  const Access store{stage.name, stage.dtype, true, FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage))};
  const auto held = HeldElement(store);
  const std::string condition = ConditionText(stage.domain, variables);
  if (!held) late.Open(lines, stage, condition);
  else if (!condition.empty()) lines.Open(fmt::format("if ({})", condition));
  const std::string value = Stored(problem_, stage.dtype, code.TypeOf(member.value()), code.Value(member.value()));
  if (held) {
    lines.Add(fmt::format("{} = {};", *held, value));
    if (!condition.empty()) lines.Close();
  } else {
    std::vector<std::string> at;
    for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
    const std::string offset =
        store.offset ? OffsetOf(store, variables) : OffsetText(problem_, ShapeOf(problem_, stage.name), at);
    late.Set(lines, fmt::format("{}[{}]", stage.name, offset), value);
    late.Close(lines);
  }
  if (code.refusal()) refusal_ = code.refusal();
}

Group RowWriter::Statistics() const {
  Group statistics;
  for (size_t i : group_.stages)
    if (!problem_.stage(i).output) statistics.stages.push_back(i);
  return statistics;
}

// Each part of a row leaves its partial results side by side with those of other rows.
void RowWriter::WritePartials(Lines& body) {
  const std::string rows = plan_.row_dimensions.empty() ? "" : TotalText(problem_, plan_.row_dimensions);
  body.Open(fmt::format("if ({}{})", inside_.empty() ? "" : inside_ + " && ", First()));
  size_t number = 0;
  for (const auto& [stage, accumulator] : Results()) {
    const std::string part =
        number == 0 ? "blockIdx.y"
                    : fmt::format("{}gridDim.y + blockIdx.y", number == 1 ? "" : fmt::format("{} * ", number));
    const std::string at =
        rows.empty() ? part : fmt::format("{} * {} + {}", Parenthesized(part), Parenthesized(rows), row_);
    body.Add(fmt::format("{}[{}] = {};", shape_.partials, at, accumulator.value));
    ++number;
  }
  body.Close();
}

std::vector<std::pair<std::string, Accumulator>> RowWriter::Results() const {
  std::vector<std::pair<std::string, Accumulator>> results;
  for (const RowMember& member : plan_.members)
    if (member.statistic()) results.push_back({member.stage.name, results_.at(member.stage.name)});
  return results;
}

void RowWriter::WriteValues(Lines& body) {
  if (plan_.values.empty()) return;
  body.Open(fmt::format("if ({}{})", inside_.empty() ? "" : inside_ + " && ", First()));
  const Variables variables = VariableNames(plan_.row_dimensions);
  LateStores late(problem_, names_, plan_.values.size() > 1);
  for (size_t m : plan_.values) {
    const RowMember& member = plan_.members[m];
    ExpressionCode code(problem_, member.stage, ScopeFor(variables), names_, body);
    WriteStore(member, variables, code, late, body);
  }
  late.Write(body);
  body.Close();
}

std::string RowWriter::WriteLaunch(const KernelArguments& arguments) {
  Lines launch;
  const std::string rows = plan_.row_dimensions.empty() ? "1" : TotalText(problem_, plan_.row_dimensions);
  std::string grid = rows, block = std::to_string(shape_.threads);
  if (shape_.team == Team::kWarp) {
    grid = CeilDivided(rows, std::to_string(shape_.teams));
    block = fmt::format("dim3(32, {})", shape_.teams);
  } else if (shape_.team == Team::kColumn) {
    grid = CeilDivided(rows, std::to_string(shape_.teams));
    block = fmt::format("dim3({}, {})", shape_.teams, shape_.threads);
  }
  if (splits()) grid = fmt::format("dim3({}, {})", grid, shape_.parts);
  if (!packing_.packs()) {
    launch.Add(Launch(problem_, name_, grid, block, arguments.values));
    return launch.text();
  }
  launch.Open(fmt::format("if ({})", PackingCondition(problem_, packing_, helpers_)));
  launch.Add(Launch(problem_, fmt::format("{}<{}>", name_, packing_.width), grid, block, arguments.values));
  launch.Else();
  launch.Add(Launch(problem_, name_ + "<1>", grid, block, arguments.values));
  launch.Close();
  return launch.text();
}

}  // namespace warpwright::schedule
