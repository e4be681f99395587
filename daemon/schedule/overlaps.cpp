#include "schedule/overlaps.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::schedule {

std::vector<std::string> ApartConditions(const Problem& problem, const std::set<std::string>& outputs,
                                         const std::set<std::string>& inputs) {
  const auto& arguments = problem.input.spec.args;
  const auto is_scratch = [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && buffer->role == core::Role::kScratch;
  };
  const bool own_buffer = std::any_of(arguments.begin(), arguments.end(), is_scratch);
  std::vector<std::string> conditions;
  for (const std::string& output : outputs) {
    const core::Argument* argument = problem.input.spec.Find(output);
    if (argument != nullptr && is_scratch(*argument)) continue;  // no caller passes it twice
    for (const std::string& input : inputs) {
      const core::Argument* read_from = problem.input.spec.Find(input);
      if (read_from != nullptr && is_scratch(*read_from)) continue;
      const core::TensorArgument *to = problem.form.FindTensor(output), *from = problem.form.FindTensor(input);
      const EntryParameter *result = problem.entry.Find(output), *read = problem.entry.Find(input);
      const bool alike = to && from && to->dtype == from->dtype && to->shape.size() == from->shape.size();
      if (!own_buffer || output == input || !alike || !result || !read) continue;
      const bool other_types = result->cast || read->cast;
      conditions.push_back(
          fmt::format("{} != {}", other_types ? fmt::format("static_cast<const void*>({})", output) : output, input));
    }
  }
  return conditions;
}

std::vector<std::string> ApartConditions(const Problem& problem, const Group& group,
                                         const std::vector<size_t>& readers) {
  std::set<std::string> outputs, inputs;
  for (const size_t i : group.stages)
    if (problem.stage(i).output) outputs.insert(problem.stage(i).name);
  for (const size_t i : readers)
    for (const core::Node& node : problem.stage(i).nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&node); read && !read->stage) inputs.insert(read->tensor);
  return ApartConditions(problem, outputs, inputs);
}

}  // namespace warpwright::schedule
