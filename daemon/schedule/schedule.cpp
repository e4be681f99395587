#include "schedule/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string>

#include "core/computation_walk.h"
#include "rewrite/finish_edit.h"
#include "rewrite/site.h"
#include "schedule/emission.h"
#include "schedule/expression_code.h"
#include "schedule/fixed_sizes.h"
#include "schedule/kernel_text.h"
#include "schedule/problem.h"
#include "schedule/schedules.h"
#include "schedule/splice.h"
#include "source/ast.h"

namespace warpwright::schedule {
namespace {

// Sizes that 32-bit offsets reach with room for a block beyond the end.
constexpr int64_t kNarrowElements = (int64_t{1} << 31) - (int64_t{1} << 20);

Status CheckParameters(const Schedule& schedule, const ParameterValues& parameters) {
  for (const auto& [name, value] : parameters) {
    const auto declared = std::find_if(schedule.parameters.begin(), schedule.parameters.end(),
                                       [&n = name](const ScheduleParameter& p) { return p.name == n; });
    if (declared == schedule.parameters.end())
      return Fail(ErrorCode::kUsage, fmt::format("{} has no parameter \"{}\"", schedule.id, name));
    if (std::find(declared->values.begin(), declared->values.end(), value) == declared->values.end())
      return Fail(ErrorCode::kUsage, fmt::format("{}: {} cannot be \"{}\"", schedule.id, name, value),
                  fmt::format("one of {}", fmt::join(declared->values, ", ")));
  }
  return {};
}

// Of the sizes for which the form is right, as the launcher asks for it: "K == 3 && stride == 1".
std::variant<core::RewriteRefusal, std::string> ConditionOf(const core::Computation& computation, const Entry& entry) {
  constexpr std::string_view kIs = " = ";
  const auto is_number = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  // Of the blank before the operator in "C % G" and "C / G".
  const auto operator_of = [](const std::string& text) { return std::min(text.find(" % "), text.find(" / ")); };
  const auto is_value = [&](const std::string& text) {
    const size_t operation = operator_of(text);
    const auto is_scalar = [&](const std::string& name) {
      const EntryParameter* parameter = entry.Find(name);
      return parameter != nullptr && !parameter->buffer;
    };
    if (operation == std::string::npos) return is_number(text) || is_scalar(text);
    const std::string divisor = text.substr(operation + 3);
    return is_scalar(text.substr(0, operation)) && (is_number(divisor) || is_scalar(divisor));
  };
  // What the original makes of no groups at all is its own.
  const auto divides = [&](const std::string& text) {
    const size_t operation = operator_of(text);
    const std::string divisor = operation == std::string::npos ? "" : text.substr(operation + 3);
    return divisor.empty() || is_number(divisor) ? std::string() : divisor + " > 0 && ";
  };
  std::vector<std::string> parts;
  for (const std::string& assumption : computation.assumptions) {
    const size_t is = assumption.find(kIs);
    if (core::IsOfOnePath(assumption))
      return Refuse("what it computes is only known of some inputs (" + assumption + ")");
    if (is == std::string::npos) continue;
    const std::string left = assumption.substr(0, is), right = assumption.substr(is + kIs.size());
    if (!is_value(left) || !is_value(right))
      return Refuse("what it computes is only known at some sizes (" + assumption + ")");
    parts.push_back(divides(left) + left + " == " + right);
  }
  return fmt::format("{}", fmt::join(parts, " && "));
}

// Of "K % 16 = 0": what ConditionOf lets the launcher ask for.
std::map<std::string, int64_t> DivisorsOf(const core::Computation& computation) {
  std::map<std::string, int64_t> divisors;
  for (const std::string& assumption : computation.assumptions) {
    const size_t remainder = assumption.find(" % "), is = assumption.find(" = 0");
    if (remainder == std::string::npos || is == std::string::npos || is + 4 != assumption.size()) continue;
    int64_t divisor = 0;
    const char* const end = assumption.data() + is;
    const auto read = std::from_chars(assumption.data() + remainder + 3, end, divisor);
    if (read.ec == std::errc() && read.ptr == end) divisors[assumption.substr(0, remainder)] = divisor;
  }
  return divisors;
}

// Of "stride = 2": numbers that names stand for wherever the form is right.
std::map<std::string, int64_t> NumbersOf(const core::Computation& computation) {
  constexpr std::string_view kIs = " = ";
  std::map<std::string, int64_t> numbers;
  for (const std::string& assumption : computation.assumptions) {
    const size_t is = assumption.find(kIs);
    if (is == std::string::npos || assumption.find(' ') != is) continue;
    int64_t number = 0;
    const char* const end = assumption.data() + assumption.size();
    const auto read = std::from_chars(assumption.data() + is + kIs.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) numbers[assumption.substr(0, is)] = number;
  }
  return numbers;
}

// The name of an intermediate that several stages define, each a part: whoever reads it looks for one. Empty: none is.
std::string IntermediateInParts(const core::Computation& form) {
  std::set<std::string> names;
  for (const core::Stage& stage : form.stages)
    if (!stage.output && !names.insert(stage.name).second) return stage.name;
  return {};
}

// A window that is longer than what it is moved over has no place, but C rounds (2 - 3) / 2 + 1 to one, and (0 - 1) / 3
// + 1 for every third row of none. The formula then is of what is not there, unless it says itself where its terms end.
std::vector<std::string> WindowsFit(const core::Computation& form) {
  std::vector<std::string> conditions;
  for (const core::Stage& stage : form.stages) {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
    core::VariableSet moved = 0;
    for (const core::Node& node : stage.nodes)
      if (std::holds_alternative<core::TensorRead>(node))
        core::ForEachPosition(node, [&](const core::Affine& position) {
          const bool ends =
              reduce != nullptr && std::any_of(reduce->guards.begin(), reduce->guards.end(),
                                               [&](const core::Guard& guard) { return guard.value == position; });
          if (!ends) moved |= core::VariablesOf(position);
        });
    for (core::VariableId v = 0; v < stage.extents.size(); ++v) {
      if ((moved & core::SetOf(v)) == 0) continue;
      for (const core::Size& numerator : NumeratorsOf(stage.extents[v])) {
        const std::string text = SizeText(numerator);
        const std::string condition = text + " >= 0";
        const bool known = std::find(conditions.begin(), conditions.end(), condition) != conditions.end();
        if (text.find(" - ") != std::string::npos && !known) conditions.push_back(condition);
      }
    }
  }
  return conditions;
}

// The condition under which the problem's input, then with numbers in place of small sizes, is what is computed; empty:
// it has none.
std::variant<core::RewriteRefusal, std::string> FixSmallSizes(const Schedule& schedule,
                                                              const ParameterValues& parameters, Problem& problem) {
  const auto takes = std::find_if(schedule.parameters.begin(), schedule.parameters.end(),
                                  [](const ScheduleParameter& p) { return p.name == kSizes.name; });
  if (takes == schedule.parameters.end()) return std::string();
  const auto sizes = SmallSizes(problem.input, problem.entry);
  const auto asked = parameters.find(std::string(kSizes.name));
  if (asked != parameters.end() && asked->second != kSizes.values.front()) {
    if (sizes.empty())
      return Refuse("it has no small sizes that could stay open: this is the same as sizes=small_fixed");
    return std::string();
  }
  if (sizes.empty()) return std::string();
  auto bound = WithSizes(problem.input.computation, sizes);
  if (!bound) return std::string();
  problem.input.computation = std::move(*bound);
  BindShapes(problem.input.spec, sizes);
  return ConditionOfSizes(sizes);
}

bool NeedsWideOffsets(const Problem& problem) {
  const auto& arguments = problem.input.spec.args;
  // A count in 64 bits says that there may be so many, wherever the original's kernels are.
  const bool counts_wide = std::any_of(arguments.begin(), arguments.end(), [&](const core::Argument& argument) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    const auto& sizes = problem.form.sizes;
    return scalar && scalar->dtype == core::DType::kI64 &&
           std::find(sizes.begin(), sizes.end(), argument.name) != sizes.end();
  });
  return problem.entry.computes_wide || counts_wide ||
         std::any_of(problem.form.tensors.begin(), problem.form.tensors.end(), [&](const core::TensorArgument& tensor) {
           return LargestOf(problem, Product(tensor.shape)).value_or(0) > kNarrowElements;
         });
}

bool ComputesInDouble(const Problem& problem) {
  return problem.entry.computes_in_double ||
         std::any_of(problem.form.tensors.begin(), problem.form.tensors.end(), [](const core::TensorArgument& tensor) {
           return (tensor.read || tensor.written) && tensor.dtype == core::DType::kF64;
         });
}

// How many of the names the code has. A schedule that refused may have taken more.
auto NamedIn(const std::string& code, const std::set<std::string>& names) {
  return std::count_if(names.begin(), names.end(), [&](const std::string& name) { return HasWord(code, name); });
}

}  // namespace

const std::vector<Schedule>& Schedules() {
  static const std::vector<Schedule> schedules = {AttentionSchedule(), TensorTilesSchedule(), TilesSchedule(),
                                                  ScanSchedule(),      ScatterSchedule(),     RowsSchedule(),
                                                  ColumnsSchedule(),   SplitSchedule(),       TransposeSchedule(),
                                                  WindowSchedule(),    MapSchedule(),         LaunchesSchedule()};
  return schedules;
}

const Schedule* FindSchedule(std::string_view id) {
  const auto& all = Schedules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Schedule& s) { return s.id == id; });
  return found == all.end() ? nullptr : &*found;
}

int IntegerOf(const ParameterValues& parameters, std::string_view name) {
  const std::string& text = parameters.at(std::string(name));
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

core::RewriteRefusal Refuse(std::string reason, int line) { return core::RewriteRefusal{std::move(reason), line}; }

namespace {

// Which a segment is tried with first, each for itself.
bool IsForSegments(const Schedule& schedule) { return HasTiles(schedule) || schedule.id == "schedule_window"; }

// `segment`: the launcher's segment that `scheduling` is of; none: it is of the whole entry.
Result<core::RewriteOutcome> ApplyTo(const core::SourceRef& source, const Schedule& schedule,
                                     const ParameterValues& parameters, const core::Scheduling& scheduling,
                                     std::optional<size_t> segment = std::nullopt) {
  WW_TRY(core::Validate(scheduling.computation));
  WW_ASSIGN(const source::Ast ast, source::Ast::Parse(source));
  auto entry = ReadEntry(ast, scheduling.spec, segment);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&entry)) return *refusal;
  Problem problem;
  problem.entry = std::move(std::get<Entry>(entry));
  const auto condition = ConditionOf(scheduling.computation, problem.entry);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&condition)) return *refusal;
  const std::string& sizes = std::get<std::string>(condition);
  problem.input = scheduling;
  const auto numbers = NumbersOf(problem.input.computation);
  if (auto bound = WithSizes(problem.input.computation, numbers)) {
    problem.input.computation = std::move(*bound);
    BindShapes(problem.input.spec, numbers);
  }
  const auto fixed = FixSmallSizes(schedule, parameters, problem);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&fixed)) return *refusal;
  problem.form = Fused(problem.input.computation);
  if (const std::string parts = IntermediateInParts(problem.form); !parts.empty())
    return Refuse("the intermediate " + parts + " is computed in several parts");
  problem.structure = core::StructureOf(problem.form);
  problem.in_double = ComputesInDouble(problem);
  problem.wide = NeedsWideOffsets(problem);
  problem.divisors = DivisorsOf(problem.input.computation);
  const auto padding = parameters.find(std::string(kPadding.name));
  problem.zero_unless_seen = padding != parameters.end() && padding->second == kPadding.values.back();
  std::vector<std::string> conditions = WindowsFit(problem.form);
  if (!std::get<std::string>(fixed).empty()) conditions.push_back(std::get<std::string>(fixed));
  for (const std::string& name : problem.entry.compared_with_null) conditions.push_back(name + " != nullptr");
  Obsolete obsolete = sizes.empty() && conditions.empty() ? FindObsolete(ast, problem.entry) : Obsolete{};
  TakenNames names;
  problem.fresh_name = [&](const std::string& base) {
    std::string name = base;
    const auto taken = [&] {
      return names.given.contains(name) || (!obsolete.names.contains(name) && rewrite::MentionsIdentifier(ast, name));
    };
    for (int i = 2; taken(); ++i) name = base + std::to_string(i);
    names.given.insert(name);
    return name;
  };
  problem.shared_name = [&](const std::string& base) {
    const auto found = names.shared.find(base);
    return found != names.shared.end() ? found->second : names.shared[base] = problem.fresh_name(base);
  };
  std::string kept;
  problem.kernel_name = [&](const std::string& wish) {
    return *names.kernels.insert(kept.empty() ? problem.fresh_name(wish) : kept).first;
  };
  const bool others_count = segment && !IsForSegments(schedule);
  const auto emit = [&] { return names = {}, Emit(problem, schedule, others_count, parameters, names); };
  CodeOutcome outcome = emit();
  const auto* code = std::get_if<Code>(&outcome);
  if (code != nullptr && !code->conditions.empty()) {
    obsolete = {}, outcome = emit();  // old kernels stay, and their names
  } else if (code != nullptr && obsolete.kernels.size() == 1 && NamedIn(code->kernels, names.kernels) == 1 &&
             ReplacesInPlace(ast, problem.entry, obsolete)) {
    kept = *obsolete.kernels.begin(), outcome = emit();
  }
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
  code = &std::get<Code>(outcome);
  if (segment && code->products_without_tiles) return Refuse("a product of matrices would be made without tiles");
  conditions.insert(conditions.end(), code->conditions.begin(), code->conditions.end());
  if (!sizes.empty()) conditions.push_back(sizes);
  return Splice(ast, problem.entry, obsolete, fmt::format("{}", fmt::join(conditions, " && ")), *code);
}

// Each segment whose formula is known, as phases are (emission.cpp): in tiles or windows where that applies, else by
// the first in the list that does, all of which are asked at once. What nothing takes stays.
Result<core::RewriteOutcome> ApplyToSegments(const core::SourceRef& source, const ParameterValues& parameters,
                                             const core::Scheduling& scheduling) {
  std::vector<const Schedule*> order;
  for (const Schedule& schedule : Schedules()) order.push_back(&schedule);
  const auto others =
      std::stable_partition(order.begin(), order.end(), [](const Schedule* s) { return IsForSegments(*s); });
  order.erase(others + 1, order.end());
  const auto pads = [](const Schedule& schedule) {
    return std::any_of(schedule.parameters.begin(), schedule.parameters.end(),
                       [](const ScheduleParameter& p) { return p.name == kPadding.name; });
  };
  core::Rewritten result{.text = source.text, .notes = {}, .entry = {}};
  std::optional<core::RewriteRefusal> refused;
  for (const core::SegmentForm& form : scheduling.segments) {
    const core::Scheduling segment{form.computation, core::SegmentSpec(scheduling.spec), scheduling.cases,
                                   scheduling.chip};
    for (const Schedule* schedule : order) {
      WW_ASSIGN(core::RewriteOutcome outcome,
                ApplyTo(source.With(result.text), *schedule, pads(*schedule) ? parameters : ParameterValues{}, segment,
                        form.number));
      if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) {
        if (!refused) refused = *refusal;
        continue;
      }
      auto& rewritten = std::get<core::Rewritten>(outcome);
      result.text = std::move(rewritten.text);
      result.notes.insert(result.notes.end(), rewritten.notes.begin(), rewritten.notes.end());
      break;
    }
  }
  if (result.text == source.text)
    return core::RewriteOutcome(refused.value_or(Refuse("of no launch by itself it is known what it computes")));
  return core::RewriteOutcome(std::move(result));
}

Result<core::RewriteOutcome> Written(const core::RewriteRequest& request, const Schedule& schedule) {
  const core::Scheduling& scheduling = *request.scheduling;
  if (schedule.id == kEachLaunch) return ApplyToSegments(request.source, request.parameters, scheduling);
  if (scheduling.computation.stages.empty()) return Refuse("what the entry computes is not known");
  return ApplyTo(request.source, schedule, request.parameters, scheduling);
}

}  // namespace

Result<core::RewriteOutcome> Apply(const core::RewriteRequest& request) {
  const Schedule* schedule = FindSchedule(request.transform);
  if (schedule == nullptr) return Fail(ErrorCode::kUsage, fmt::format("no schedule \"{}\"", request.transform));
  WW_TRY(CheckParameters(*schedule, request.parameters));
  if (!request.scheduling) return Refuse("what the entry computes is not known");
  WW_ASSIGN(core::RewriteOutcome outcome, Written(request, *schedule));
  // An index of which a formula reads only some digits has names for all of them.
  if (auto* rewritten = std::get_if<core::Rewritten>(&outcome))
    rewritten->text = rewrite::FinishEdit(
        {.original = request.source, .edited = std::move(rewritten->text), .entry = request.scheduling->spec.entry});
  return outcome;
}

}  // namespace warpwright::schedule
