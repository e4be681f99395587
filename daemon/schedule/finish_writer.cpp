#include "schedule/finish_writer.h"

#include <fmt/format.h>

#include "schedule/expression_code.h"
#include "schedule/late_stores.h"

namespace warpwright::schedule {
namespace {
constexpr int kFinishThreads = 256;
}

FinishWriter::FinishWriter(const Problem& problem, const RowPlan& plan, const Partials& storage,
                           std::vector<std::pair<std::string, Accumulator>> results)
    : problem_(problem), plan_(plan), storage_(storage), results_(std::move(results)), names_(problem) {}

std::optional<core::RewriteRefusal> FinishWriter::Write(const Group& values, const std::string& number_of_parts,
                                                        Code& code) {
  const bool rows = !plan_.row_dimensions.empty();
  const std::string name = KernelName(problem_, "finish");
  std::set<std::string> more;
  for (const auto& extent : plan_.rows)
    for (const std::string& size : extent.Variables()) more.insert(size);
  KernelArguments arguments = ArgumentsOf(problem_, values, more);
  if (storage_.argument) {
    arguments.parameters.push_back(fmt::format("const {}* __restrict__ {}", problem_.real(), storage_.name));
    arguments.values.push_back(storage_.name);
  }
  const std::string parts = names_.Take("parts");
  arguments.parameters.push_back("int " + parts);
  arguments.values.push_back(number_of_parts);
  Lines body(1);
  const std::string row = rows ? WriteRow(body) : "";
  const Team team = rows ? Team::kWarp : Team::kBlock;
  WriteSums(team, row, parts, body, code.helpers);
  WriteValues(body);
  if (refusal_) return refusal_;
  // The formula's names for sums are those of the variables that now hold them.
  std::map<std::string, std::string> variables;
  for (const auto& [stage, accumulator] : results_) variables[stage] = accumulator.value;
  Lines kernel;
  kernel.AddAll(FormulaComment(problem_, values, variables));
  kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({})", kFinishThreads), name, arguments.parameters));
  kernel.Append(body);
  kernel.Add("}");
  code.kernels += "\n" + kernel.text();
  const std::string total = rows ? TotalText(problem_, plan_.row_dimensions) : "1";
  code.launch += Launch(problem_, name, rows ? CeilDivided(total, "8") : "1",
                        rows ? "dim3(32, 8)" : std::to_string(kFinishThreads), arguments.values) +
                 "\n";
  return std::nullopt;
}

std::string FinishWriter::WriteRow(Lines& body) {
  const std::string row = names_.TakeOf({"row", "row_index"});
  dimensions_ = plan_.row_dimensions;
  if (dimensions_.size() == 1) dimensions_[0].name = row;
  else NameDimensions(dimensions_, names_);
  const std::string type = problem_.wide ? "long long" : "int";
  body.Add(fmt::format("const {} {} = blockIdx.x * blockDim.y + threadIdx.y;", type, row));
  body.Add(fmt::format("if ({} >= {}) return;", row, TotalText(problem_, dimensions_)));
  if (dimensions_.size() > 1) WriteCoordinates(dimensions_, type, row, names_, body);
  return row;
}

void FinishWriter::WriteSums(Team team, const std::string& row, const std::string& parts, Lines& body,
                             std::vector<std::string>& helpers) {
  for (auto& [stage, accumulator] : results_) {
    accumulator.value = names_.TakeOf({accumulator.value});
    for (const std::string& line : Declared(problem_, accumulator)) body.Add(line);
  }
  const std::string part = names_.TakeOf({"part", "p"});
  body.Open(fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += {2})", part, parts,
                        team == Team::kWarp ? "32" : "blockDim.x"));
  size_t number = 0;
  for (const auto& [stage, accumulator] : results_) {
    std::string at =
        number == 0 ? part : fmt::format("{}{} + {}", number == 1 ? "" : fmt::format("{} * ", number), parts, part);
    if (!row.empty())
      at = fmt::format("{} * {} + {}", Parenthesized(at), Parenthesized(TotalText(problem_, dimensions_)), row);
    for (const std::string& line : Updated(problem_, accumulator, fmt::format("{}[{}]", storage_.name, at), ""))
      body.Add(line);
    ++number;
  }
  body.Close();
  for (const auto& [stage, accumulator] : results_) body.Add(Combined(problem_, accumulator, team, helpers));
}

void FinishWriter::WriteValues(Lines& body) {
  body.Open("if (threadIdx.x == 0)");
  const auto variables = VariableNames(dimensions_);
  LateStores stores(problem_, names_, plan_.values.size() > 1);
  for (size_t m : plan_.values) {
    const core::Stage& stage = plan_.members[m].stage;
    Scope scope{variables, [&](const core::TensorRead& read) -> std::optional<std::string> {
                  for (const auto& [name, accumulator] : results_)
                    if (read.stage && read.tensor == name) return accumulator.value;
                  return std::nullopt;
                }};
    stores.Open(body, stage, ConditionText(stage.domain, variables));
    ExpressionCode code(problem_, stage, scope, names_, body);
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    const std::string value = Stored(problem_, stage.dtype, code.TypeOf(root), code.Root());
    std::vector<std::string> at;
    for (const auto& position : StoredAt(stage)) at.push_back(PositionText(position, variables));
    stores.Set(body, fmt::format("{}[{}]", stage.name, OffsetText(problem_, ShapeOf(problem_, stage.name), at)), value);
    stores.Close(body);
    if (code.refusal()) refusal_ = code.refusal();
  }
  stores.Write(body);
  body.Close();
}

}  // namespace warpwright::schedule
