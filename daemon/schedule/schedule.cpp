#include "schedule/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "rewrite/site.h"
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

ParameterValues Completed(const Schedule& schedule, const ParameterValues& given) {
  ParameterValues complete = given;
  for (const ScheduleParameter& parameter : schedule.parameters)
    complete.try_emplace(std::string(parameter.name), parameter.values.front());
  return complete;
}

// A form of some sizes only would be wrong at others, whoever calls with them.
std::optional<core::RewriteRefusal> RefuseNarrowForm(const core::Computation& computation) {
  for (const std::string& assumption : computation.assumptions)
    if (assumption.find(" = ") != std::string::npos || assumption.starts_with("not the same"))
      return Refuse("what it computes is only known at some sizes (" + assumption + ")");
  return std::nullopt;
}

bool NeedsWideOffsets(const Problem& problem) {
  return problem.entry.computes_wide ||
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

struct Choice {
  const Schedule& asked;
  const ParameterValues& parameters;
  bool used = false;                                 // for some group
  std::optional<core::RewriteRefusal> refused = {};  // why not for the first one
};

CodeOutcome EmitFor(const Problem& problem, const Group& group, Choice& choice) {
  CodeOutcome outcome = choice.asked.emit(problem, group, Completed(choice.asked, choice.parameters));
  if (std::holds_alternative<Code>(outcome)) {
    choice.used = true;
    return outcome;
  }
  if (!choice.refused) choice.refused = std::get<core::RewriteRefusal>(outcome);
  for (const Schedule& schedule : Schedules()) {
    if (schedule.id == choice.asked.id) continue;
    CodeOutcome other = schedule.emit(problem, group, Completed(schedule, {}));
    if (std::holds_alternative<Code>(other)) return other;
  }
  return outcome;
}

CodeOutcome EmitGroups(const Problem& problem, const std::vector<Group>& groups, Choice choice) {
  if (const auto hazard = FindHazard(problem.form, groups)) return *hazard;
  Code all;
  for (const Group& group : groups) {
    CodeOutcome outcome = EmitFor(problem, group, choice);
    if (auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) return *refusal;
    Code& code = std::get<Code>(outcome);
    for (const std::string& helper : code.helpers)
      if (std::find(all.helpers.begin(), all.helpers.end(), helper) == all.helpers.end()) all.helpers.push_back(helper);
    all.kernels += (all.kernels.empty() ? "" : "\n") + code.kernels;
    all.launch += code.launch;
    all.notes.insert(all.notes.end(), code.notes.begin(), code.notes.end());
  }
  if (!choice.used) return choice.refused.value_or(Refuse("nothing is computed"));
  return all;
}

// As few kernels as schedules can make of it.
CodeOutcome EmitAll(const Problem& problem, const Schedule& asked, const ParameterValues& parameters) {
  std::optional<CodeOutcome> first;
  size_t before = 0;
  for (const Joining joining : {Joining::kShapes, Joining::kParts, Joining::kNeeded}) {
    const std::vector<Group> groups = GroupsOf(problem.form, joining);
    if (groups.size() == before) continue;
    before = groups.size();
    CodeOutcome outcome = EmitGroups(problem, groups, {asked, parameters});
    if (std::holds_alternative<Code>(outcome)) return outcome;
    first = std::move(outcome);
  }
  return first.value_or(Refuse("nothing is computed"));
}

}  // namespace

const std::vector<Schedule>& Schedules() {
  static const std::vector<Schedule> schedules = {TensorTilesSchedule(), TilesSchedule(),     ScanSchedule(),
                                                  ScatterSchedule(),     RowsSchedule(),      ColumnsSchedule(),
                                                  SplitSchedule(),       TransposeSchedule(), MapSchedule()};
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

Padding PaddingOf(const ParameterValues& parameters) {
  return parameters.at(std::string(kPadding.name)) == kPadding.values.front() ? Padding::kLeftOut : Padding::kZero;
}

core::RewriteRefusal Refuse(std::string reason, int line) { return core::RewriteRefusal{std::move(reason), line}; }

Result<core::RewriteOutcome> Apply(const core::RewriteRequest& request) {
  const Schedule* schedule = FindSchedule(request.transform);
  if (schedule == nullptr) return Fail(ErrorCode::kUsage, fmt::format("no schedule \"{}\"", request.transform));
  WW_TRY(CheckParameters(*schedule, request.parameters));
  if (!request.scheduling) return Refuse("what the entry computes is not known");
  WW_TRY(core::Validate(request.scheduling->computation));
  if (const auto refusal = RefuseNarrowForm(request.scheduling->computation)) return *refusal;

  WW_ASSIGN(const source::Ast ast, source::Ast::Parse(request.source));
  auto entry = ReadEntry(ast, request.scheduling->spec);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&entry)) return *refusal;
  Problem problem;
  problem.entry = std::move(std::get<Entry>(entry));
  problem.input = *request.scheduling;
  problem.form = Fused(problem.input.computation);
  problem.structure = core::StructureOf(problem.form);
  problem.in_double = ComputesInDouble(problem);
  problem.wide = NeedsWideOffsets(problem);
  const Obsolete obsolete = FindObsolete(ast, problem.entry);
  std::set<std::string> given;
  problem.fresh_name = [&](const std::string& base) {
    std::string name = base;
    const auto taken = [&] {
      return given.contains(name) || (!obsolete.names.contains(name) && rewrite::MentionsIdentifier(ast, name));
    };
    for (int i = 2; taken(); ++i) name = base + std::to_string(i);
    given.insert(name);
    return name;
  };
  std::map<std::string, std::string> shared;
  problem.shared_name = [&](const std::string& base) {
    const auto found = shared.find(base);
    return found != shared.end() ? found->second : shared[base] = problem.fresh_name(base);
  };
  CodeOutcome code = EmitAll(problem, *schedule, request.parameters);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&code)) return *refusal;
  return Splice(ast, problem.entry, obsolete, std::get<Code>(code));
}

}  // namespace warpwright::schedule
