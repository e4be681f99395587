#include "schedule/own_names.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/computation_walk.h"
#include "schedule/kernel_text.h"

namespace warpwright::schedule {
namespace {

// The same problem, of arguments that have other names.
class Renaming {
 public:
  explicit Renaming(std::map<std::string, std::string> names) : names_(std::move(names)) {}

  Problem Of(Problem problem) const {
    for (EntryParameter& parameter : problem.entry.parameters) Change(parameter.name);
    for (core::Argument& argument : problem.input.spec.args) {
      Change(argument.name);
      if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) Change(buffer->shape);
    }
    for (core::ScheduledCase& each : problem.input.cases) {
      std::map<std::string, int64_t> sizes;
      for (const auto& [name, value] : each.sizes) sizes[Name(name)] = value;
      each.sizes = std::move(sizes);
    }
    std::map<std::string, int64_t> divisors;
    for (const auto& [name, divisor] : problem.divisors) divisors[Name(name)] = divisor;
    problem.divisors = std::move(divisors);
    Change(problem.form);
    problem.structure = core::StructureOf(problem.form);
    return problem;
  }

 private:
  std::string Name(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }
  void Change(std::string& name) const { name = Name(name); }
  void Change(core::Size& size) const {
    std::string text = size.text();
    for (const auto& [from, to] : names_) text = WithWord(std::move(text), from, to);
    if (text != size.text()) size = core::Size::Parse(text).value_or(size);
  }
  void Change(std::vector<core::Size>& sizes) const {
    for (core::Size& size : sizes) Change(size);
  }
  void Change(core::Stage& stage) const {
    Change(stage.name);
    core::ForEachSize(stage, [&](core::Size& size) { Change(size); });
    for (core::Node& node : stage.nodes) {
      if (auto* scalar = std::get_if<core::ScalarRead>(&node)) Change(scalar->name);
      if (auto* read = std::get_if<core::TensorRead>(&node)) Change(read->tensor);
    }
  }
  void Change(core::Computation& form) const {
    for (core::TensorArgument& tensor : form.tensors) Change(tensor.name), Change(tensor.shape);
    for (auto* names : {&form.sizes, &form.scalars})
      for (std::string& name : *names) Change(name);
    for (core::Stage& stage : form.stages) Change(stage);
  }

  const std::map<std::string, std::string> names_;
};

}  // namespace

CodeOutcome WithOwnNames(const Problem& problem, std::span<const char* const> locals,
                         const std::function<CodeOutcome(const Problem&)>& emit) {
  Names free(problem);
  for (const char* const name : locals) free.Take(name);
  std::map<std::string, std::string> names, back;
  for (const EntryParameter& parameter : problem.entry.parameters) {
    if (std::find(locals.begin(), locals.end(), parameter.name) == locals.end()) continue;
    const std::string other = free.Take(parameter.name + "_given");
    names[parameter.name] = other, back[other] = parameter.name;
  }
  if (names.empty()) return emit(problem);
  CodeOutcome outcome = emit(Renaming(names).Of(problem));
  auto* code = std::get_if<Code>(&outcome);
  if (code == nullptr) return outcome;
  for (const auto& [other, name] : back) {
    code->launch = WithWord(std::move(code->launch), other, name);
    for (std::string& condition : code->conditions) condition = WithWord(std::move(condition), other, name);
  }
  return outcome;
}

}  // namespace warpwright::schedule
