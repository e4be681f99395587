#include "schedule/contraction_loads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/polynomial.h"
#include "schedule/tensor_cores.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;
using core::VariableId;

constexpr int64_t kRun = 8;  // neighbours in memory that make a sector

Polynomial StrideAlong(const FlatOffset& offset, VariableId variable) {
  const auto found = offset.coefficients.find(variable);
  return found == offset.coefficients.end() ? Polynomial(0) : Polynomial::Of(found->second);
}

core::VariableSet SetOf(const std::vector<Axis>& axes) {
  core::VariableSet set = 0;
  for (const Axis& axis : axes) set |= core::SetOf(axis.variable);
  return set;
}

std::string Joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, " && ")); }

void AddReads(const core::Stage& stage, core::NodeId id, std::vector<const core::TensorRead*>& reads) {
  if (const auto* read = std::get_if<core::TensorRead>(&stage.nodes[id])) reads.push_back(read);
  core::ForEachArgument(stage.nodes[id], [&](core::NodeId arg) { AddReads(stage, arg, reads); });
}

}  // namespace

std::optional<FlatOffset> Flattened(const FlatOffset& offset, const std::vector<Axis>& axes) {
  FlatOffset flat = offset;
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    const Polynomial inner = StrideAlong(offset, axes[i + 1].variable) * Polynomial::Of(axes[i + 1].extent);
    if (StrideAlong(offset, axes[i].variable) != inner) return std::nullopt;
    flat.coefficients.erase(axes[i].variable);
  }
  return flat;
}

std::optional<GroupAccess> GroupAccessOf(const FlatOffset& offset, const std::vector<Axis>& axes,
                                         const std::vector<core::Size>& shape, int width) {
  const auto flat = Flattened(offset, axes);
  const VariableId along = axes.back().variable;
  if (!flat || StrideAlong(*flat, along) != Polynomial(1)) return std::nullopt;
  std::vector<Polynomial> rows;  // distances of rows, planes, ...: multiples of the last extent
  for (size_t d = shape.size(); d-- > 1;)
    rows.push_back(Polynomial::Of(shape[d]) * (rows.empty() ? Polynomial(1) : rows.back()));
  std::vector<Polynomial> strides = {Polynomial::Of(flat->constant)};
  for (const auto& [variable, coefficient] : flat->coefficients)
    if (variable != along) strides.push_back(Polynomial::Of(coefficient));
  std::vector<std::string> parts;
  std::vector<Polynomial> needed;
  const auto need = [&](const Polynomial& stride, const core::Size& size) {
    const bool follows =
        stride.Content() % width == 0 ||
        std::any_of(needed.begin(), needed.end(), [&](const auto& by) { return stride.DividedBy(by).has_value(); });
    if (follows) return;
    needed.push_back(stride);
    parts.push_back(fmt::format("{} % {} == 0", Parenthesized(SizeText(size)), width));
  };
  const auto is_row = [&](const Polynomial& stride) {
    return std::any_of(rows.begin(), rows.end(), [&](const Polynomial& row) { return stride == row; });
  };
  // The shortest of them answers for all others.
  for (const Polynomial& row : rows) {
    if (std::find(strides.begin(), strides.end(), row) == strides.end()) continue;
    const auto size = row == rows.front() ? std::optional(shape.back()) : row.ToExpression();
    if (!size) return std::nullopt;
    need(row, *size);
    break;
  }
  for (const Polynomial& stride : strides) {
    if (is_row(stride)) continue;
    const auto size = stride.ToExpression();
    if (!size) return std::nullopt;
    need(stride, *size);
  }
  return GroupAccess{*flat, along, Joined(parts)};
}

bool AlwaysHolds(const Problem& problem, const std::string& tensor, const std::string& condition) {
  if (problem.divisors.empty() || problem.entry.Find(tensor) == nullptr) return false;
  std::string rest = condition;
  for (const auto& [name, divisor] : problem.divisors)
    for (int width = 2; width <= 8; width *= 2)
      if (const std::string known = fmt::format("{} % {} == 0", name, width); divisor % width == 0 && rest == known)
        rest.clear();
  return rest.empty();
}

bool NeverHolds(const Problem& problem, std::string_view condition) {
  constexpr std::string_view kAnd = " && ", kIs = " == 0", kRemainder = " % ";
  while (!condition.empty() && !problem.input.cases.empty()) {
    const std::string_view part = condition.substr(0, condition.find(kAnd));
    condition.remove_prefix(std::min(condition.size(), part.size() + kAnd.size()));
    const size_t remainder = part.rfind(kRemainder);
    if (remainder == std::string_view::npos || !part.ends_with(kIs)) continue;
    int64_t divisor = 0;
    const char* const end = part.data() + part.size() - kIs.size();
    const auto read = std::from_chars(part.data() + remainder + kRemainder.size(), end, divisor);
    const auto size = core::Size::Parse(std::string(part.substr(0, remainder)));
    if (read.ptr != end || divisor < 1 || !size) continue;
    const auto holds = [&](const core::ScheduledCase& c) { return ValueIn(*size, c).value_or(0) % divisor == 0; };
    if (std::none_of(problem.input.cases.begin(), problem.input.cases.end(), holds)) return true;
  }
  return false;
}

std::string FactorLoads::AddressCondition() const {
  return AlignedAddress(read_->tensor, static_cast<int>(core::SizeOf(*groups())) * width());
}

FactorLoads::FactorLoads(const Problem& problem, const core::Stage& stage, const Factor& factor, const FlatAxis& rows,
                         std::string first_row, const TileScope& scope, const TileFormat& format, Names& names)
    : problem_(problem),
      stage_(stage),
      factor_(factor),
      rows_(rows),
      terms_(*scope.terms),
      scope_(scope),
      names_(names),
      first_row_(std::move(first_row)),
      format_(format) {
  ReadFactor();
  ChooseAccess();
  FitThreads();
  tile_ = names.TakeOf({name_ + "_tile", rows.index() + "_tile"});
  name_ = tile_.substr(0, tile_.size() - 5);
  next_ = names.Take(name_ + "_next");
  row_ = names.Take(name_ + "_" + rows.index());
  term_ = names.Take(name_ + "_" + terms_.index());
  if (group_condition_) aligned_ = names.Take(name_ + "_aligned");
  load_ = names.Take("load_" + name_);
  if (!format_.halves) return;
  matrices_ = names.Take(name_ + "_matrices"), places_ = names.Take(name_ + "_at");
  from_ = names.Take(name_ + "_from"), to_ = names.Take(name_ + "_to");
}

void FactorLoads::ReadFactor() {
  std::vector<const core::TensorRead*> reads;
  for (const core::NodeId id : factor_.nodes) AddReads(stage_, id, reads);
  name_ = reads.empty() ? rows_.index() : reads.front()->tensor;
  for (const core::NodeId id : factor_.conditions) AddReads(stage_, id, reads);
  if (reads.size() != 1) return;
  read_ = reads.front();
  if (read_->stage) return;
  offset_ = FlatOffsetOf(ShapeOf(problem_, read_->tensor), read_->at);
  if (!offset_) return;
  flat_rows_ = !GuardsMention(rows_.axes()) && Flattened(*offset_, rows_.axes()).has_value();
  flat_terms_ = !GuardsMention(terms_.axes()) && Flattened(*offset_, terms_.axes()).has_value();
}

// Whether anything but the one read depends on these variables.
bool FactorLoads::GuardsMention(const std::vector<Axis>& axes) const {
  const core::VariableSet set = SetOf(axes);
  for (const core::Guard& guard : factor_.guards)
    if ((core::VariablesOf(guard.value) & set) != 0) return true;
  for (const core::Node& node : stage_.nodes)
    if (const auto* index = std::get_if<core::IndexValue>(&node))
      if ((core::VariablesOf(index->index) & set) != 0) return true;
  return false;
}

void FactorLoads::ChooseAccess() {
  const VariableId row = rows_.axes().back().variable, term = terms_.axes().back().variable;
  if (!offset_) return;
  const Polynomial row_stride = StrideAlong(*offset_, row), term_stride = StrideAlong(*offset_, term);
  // Terms that are nearer to each other than rows, and more than the taps of a window.
  const auto run = ValueIn(terms_.axes().back().extent, HeaviestCase(problem_));
  along_terms_ = row_stride != Polynomial(1) && term_stride != Polynomial(0) &&
                 (flat_terms_ || run.value_or(0) >= kRun) &&
                 (term_stride == Polynomial(1) || row_stride.DividedBy(term_stride).has_value());
  const core::DType dtype = problem_.form.FindTensor(read_->tensor)->dtype;
  const bool quads = dtype == core::DType::kF32 || dtype == core::DType::kF16 || dtype == core::DType::kBF16;
  if (!quads || problem_.in_double || !factor_.conditions.empty() || !(along_terms_ ? flat_terms_ : flat_rows_)) return;
  if (auto access =
          GroupAccessOf(*offset_, (along_terms_ ? terms_ : rows_).axes(), ShapeOf(problem_, read_->tensor), group()))
    group_condition_ = access->condition;
}

// A block of few threads may have more rows than threads: then its terms are beside each other.
void FactorLoads::FitThreads() {
  if (fast() > format_.threads) along_terms_ = !along_terms_;
}

std::optional<core::DType> FactorLoads::groups() const {
  if (!group_condition_) return std::nullopt;
  return problem_.form.FindTensor(read_->tensor)->dtype;
}

// From one of a thread's elements to the next, in the slow direction.
std::string FactorLoads::Step() const {
  const int apart = format_.threads / fast();
  if (passes() == 1) return "";
  return apart == 1 ? " + i" : fmt::format(" + i * {}", apart);
}

void FactorLoads::Declare(Lines& lines, bool known) const {
  const std::string times = width() == 1 ? "" : fmt::format(" * {}", width());
  lines.Add(fmt::format("const int {} = threadIdx.x % {}{}, {} = threadIdx.x / {};", along_terms_ ? term_ : row_,
                        fast(), times, along_terms_ ? row_ : term_, fast()));
  if (group_condition_ && !known) {
    const std::string condition = group_condition_->empty() ? "" : *group_condition_ + " && ";
    lines.Add(fmt::format("const bool {} = {}{};", aligned_, condition, AddressCondition()));
  }
  const std::string prefix = name_ + "_";
  if (Decodes(rows_, flat_rows_) && (!along_terms_ || passes() == 1)) {
    rows_.Decode(lines, fmt::format("{} + {}", first_row_, row_), prefix);
  } else if (Decodes(rows_, flat_rows_)) {
    VariableTexts variables;
    rows_.Bind(variables, prefix, fmt::format("[{}]", passes()));
    std::vector<std::string> arrays;
    for (const Axis& axis : rows_.axes()) arrays.push_back(variables.at(axis.variable));
    lines.Add(fmt::format("int {};", fmt::join(arrays, ", ")));
    lines.Open(fmt::format("for (int i = 0; i < {}; ++i)", passes()));
    lines.Add(fmt::format("const int {} = {} + {}{};", rows_.index(), first_row_, row_, Step()));
    rows_.DecodeInto(lines, rows_.index(), prefix, "i");
    lines.Close();
  }
  if (!copies()) lines.Add(fmt::format("{} {}[{}];", ElementType(), next_, passes() * width()));
}

std::string FactorLoads::ElementType() const {
  return format_.halves ? CTypeOf(problem_.form.FindTensor(read_->tensor)->dtype) : problem_.real();
}

std::string FactorLoads::TileExtents() const {
  if (format_.halves) return fmt::format("[kTileK * {}]", format_.rows_name);
  return fmt::format("[kTileK][{} + 4]", format_.rows_name);
}

std::string FactorLoads::Element(const std::string& stage, const std::string& row, const std::string& term) const {
  if (!format_.halves) return fmt::format("{}[{}][{}][{}]", tile_, stage, term, row);
  const bool along = TermsAreNeighbours();
  return fmt::format("{}[{}][swizzled<{}>({}, {})]", tile_, stage, along ? "kTileK" : format_.rows_name,
                     along ? row : term, along ? term : row);
}

VariableTexts FactorLoads::Variables() const {
  VariableTexts variables = scope_.uniform;
  const auto bind = [&](const FlatAxis& axis, bool flat, const std::string& prefix, const std::string& suffix) {
    if (axis.single() || !flat) return axis.Bind(variables, axis.single() ? "" : prefix, axis.single() ? "" : suffix);
    for (const Axis& each : axis.axes()) variables[each.variable] = axis.index();  // only the last one is used
  };
  bind(rows_, flat_rows_, name_ + "_", along_terms_ && passes() > 1 ? "[i]" : "");
  bind(terms_, flat_terms_, "", "");
  return variables;
}

ExpressionCode FactorLoads::CodeInto(Lines& lines, const std::optional<std::string>& loaded) {
  Scope scope{.variables = Variables()};
  const bool flat = offset_ && ((flat_rows_ && !rows_.single()) || (flat_terms_ && !terms_.single()));
  if (loaded) {
    scope.value = [loaded](const core::TensorRead&) { return loaded; };
  } else if (flat || format_.halves) {
    const auto& shape = ShapeOf(problem_, read_->tensor);
    std::string offset;
    if (flat) {
      FlatOffset merged = *offset_;
      if (flat_rows_) merged = *Flattened(merged, rows_.axes());
      if (flat_terms_) merged = *Flattened(merged, terms_.axes());
      offset = OffsetText(merged, scope.variables);
    } else {
      std::vector<std::string> at;
      for (const core::Coordinate& coordinate : read_->at)
        at.push_back(PositionText(std::get<core::Affine>(coordinate), scope.variables));
      offset = OffsetText(problem_, shape, at);
    }
    const core::DType dtype = problem_.form.FindTensor(read_->tensor)->dtype;
    scope.value = [this, dtype, offset](const core::TensorRead& read) -> std::optional<std::string> {
      const std::string element = fmt::format("{}[{}]", read.tensor, offset);
      return format_.halves ? element : Loaded(problem_, dtype, element);
    };
  }
  return ExpressionCode(problem_, stage_, std::move(scope), names_, lines);
}

std::string FactorLoads::Product(ExpressionCode& code) const {
  std::vector<std::string> factors;
  for (const core::NodeId id : factor_.nodes) factors.push_back(code.Value(id, core::ValueType::kReal));
  if (factors.size() == 1) return factors[0];
  for (std::string& factor : factors) factor = Parenthesized(factor);
  return fmt::format("{}", fmt::join(factors, " * "));
}

void FactorLoads::Load(Lines& lines) {
  const std::string step = Step();
  const auto declare_row = [&](const std::string& more) {
    lines.Add(fmt::format("const int {} = {} + {}{};", rows_.index(), first_row_, row_, more));
  };
  const auto declare_term = [&](const std::string& more) {
    lines.Add(fmt::format("const int {} = {} + {}{};", terms_.index(), scope_.first_term, term_, more));
    if (Decodes(terms_, flat_terms_)) terms_.Decode(lines, terms_.index());
  };
  along_terms_ ? declare_term("") : declare_row("");
  if (passes() > 1) {
    lines.Add("#pragma unroll");
    lines.Open(fmt::format("for (int i = 0; i < {}; ++i)", passes()));
  }
  along_terms_ ? declare_row(step) : declare_term(step);
  const std::string at = passes() > 1 ? (width() == 1 ? "i" : fmt::format("{} * i", width())) : "0";
  if (copies()) CopyOctets(lines);
  else if (group_condition_) LoadQuads(lines, at);
  else LoadElement(lines, at);
  if (passes() > 1) lines.Close();
}

std::string FactorLoads::Conditions(const VariableTexts& variables, ExpressionCode& code) const {
  std::vector<std::string> parts;
  if (!group_condition_ || along_terms_) parts.push_back(fmt::format("{} < {}", rows_.index(), rows_.count()));
  if (!group_condition_ || !along_terms_) parts.push_back(fmt::format("{} < {}", terms_.index(), terms_.count()));
  if (const std::string guards = ConditionText(factor_.guards, variables); !guards.empty()) parts.push_back(guards);
  for (const core::NodeId id : factor_.conditions)
    parts.push_back(Parenthesized(code.Value(id, core::ValueType::kBoolean)));
  return Joined(parts);
}

void FactorLoads::LoadElement(Lines& lines, const std::string& to) {
  // Values that have a statement of their own must not be read where the conditions fail.
  Lines inside(lines.level() + 1);
  ExpressionCode code = CodeInto(inside, std::nullopt);
  const VariableTexts variables = Variables();
  const std::string zero = format_.halves ? ZeroOfHalves(ElementType()) : NumberText(problem_, 0);
  const std::string target = fmt::format("{}[{}]", next_, to);
  Lines before(lines.level());
  code.To(before);
  const std::string conditions = Conditions(variables, code);
  code.To(inside);
  const std::string value = Product(code);
  refusal_ = code.refusal();
  lines.Append(before);
  const bool bounds_only = factor_.guards.empty() && factor_.conditions.empty();
  if (!bounds_only) AddBroken(lines, fmt::format("const bool inside = {};", conditions));
  const std::string condition = bounds_only ? conditions : "inside";
  if (inside.empty()) return AddBroken(lines, fmt::format("{} = {} ? {} : {};", target, condition, value, zero));
  lines.Add(fmt::format("{} = {};", target, zero));
  lines.Open(fmt::format("if ({})", condition));
  lines.Append(inside);
  lines.Add(fmt::format("{} = {};", target, value));
  lines.Close();
}

FlatOffset FactorLoads::GroupedOffset() const {
  const FlatAxis& axis = along_terms_ ? terms_ : rows_;
  FlatOffset offset = GroupAccessOf(*offset_, axis.axes(), ShapeOf(problem_, read_->tensor), group())->offset;
  if (!along_terms_ && flat_terms_) offset = *Flattened(offset, terms_.axes());
  if (along_terms_ && flat_rows_) offset = *Flattened(offset, rows_.axes());
  return offset;
}

std::string FactorLoads::GroupOffset(const VariableTexts& variables) const {
  return OffsetText(GroupedOffset(), variables);
}

void FactorLoads::CopyOctets(Lines& lines) {
  Lines none;
  ExpressionCode code = CodeInto(none, std::nullopt);
  const VariableTexts variables = Variables();
  const FlatAxis& axis = along_terms_ ? terms_ : rows_;
  const std::string to = Element("stage", row_ + (along_terms_ ? Step() : ""), term_ + (along_terms_ ? "" : Step()));
  AddBroken(lines,
            fmt::format("copy_octet(&{}, {} + {}, {} ? {} - {} : 0, {});", to, read_->tensor, GroupOffset(variables),
                        Conditions(variables, code), axis.count(), axis.index(), aligned_));
}

void FactorLoads::LoadQuads(Lines& lines, const std::string& to) {
  Lines inside(lines.level() + 1);
  const std::string target = to == "0" ? "j" : to + " + j", element = fmt::format("{}[{}]", next_, target);
  ExpressionCode code = CodeInto(inside, element);
  const VariableTexts variables = Variables();
  const FlatAxis& axis = along_terms_ ? terms_ : rows_;
  const std::string rest = fmt::format("{} - {}", axis.count(), axis.index()), conditions = Conditions(variables, code);
  AddBroken(lines, fmt::format("load_quad(&{}[{}], {} + {}, {} ? {} : 0, {});", next_, to, read_->tensor,
                               GroupOffset(variables), conditions, rest, aligned_));
  const std::string value = Product(code);
  refusal_ = code.refusal();
  if (value == element) return;
  lines.Add("#pragma unroll");
  lines.Open(fmt::format("for (int j = 0; j < {}; ++j)", width()));
  // What is computed of nothing need not be nothing.
  lines.Open(fmt::format("if ({} && j < {})", conditions, rest));
  lines.Append(Lines(inside));
  lines.Add(fmt::format("{} = {};", element, value));
  lines.Close();
  lines.Close();
}

void FactorLoads::Store(Lines& lines) const {
  if (copies()) return;
  const bool loops = passes() > 1;
  const std::string step = Step();
  std::string row = row_, term = term_, from = loops ? "i" : "0";
  (along_terms_ ? row : term) += step;
  if (width() > 1) {
    (along_terms_ ? term : row) += " + j";
    from = loops ? fmt::format("{} * i + j", width()) : "j";
  }
  if (loops) {
    lines.Add("#pragma unroll");
    lines.Add(fmt::format("for (int i = 0; i < {}; ++i)", passes()));
  }
  const std::string indent = loops ? "  " : "";
  if (width() > 1) {
    lines.Add("#pragma unroll");
    lines.Add(fmt::format("{}for (int j = 0; j < {}; ++j)", indent, width()));
  }
  lines.Add(fmt::format("{}{}{} = {}[{}];", indent, width() > 1 ? "  " : "", Element("stage", row, term), next_, from));
}

}  // namespace warpwright::schedule
