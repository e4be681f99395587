#include "agents/feature_extractor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/computation_digest.h"

namespace warpwright::agents {
namespace {

constexpr size_t kHotLines = 3;

const core::CaseMeasurement* CostliestCase(const core::Measured& measured) {
  const core::CaseMeasurement* costliest = nullptr;
  for (const auto& c : measured.cases)
    if (!c.launches.empty() && (costliest == nullptr || c.weight * c.time_us > costliest->weight * costliest->time_us))
      costliest = &c;
  return costliest;
}

const core::KernelInfo* FindKernel(const core::Inspection& inspection, const std::string& name) {
  for (const auto& kernel : inspection.kernels)
    if (kernel.name == name) return &kernel;
  // Launch plans may name a kernel without its anonymous or enclosing namespace.
  const auto tail = [](const std::string& qualified) {
    const size_t colon = qualified.rfind("::");
    return colon == std::string::npos ? qualified : qualified.substr(colon + 2);
  };
  for (const auto& kernel : inspection.kernels)
    if (tail(kernel.name) == tail(name)) return &kernel;
  return nullptr;
}

// "ns::softmax<float, 4>" -> "ns::softmax".
std::string WithoutTemplateArguments(const std::string& kernel) {
  const size_t open = kernel.find('<');
  return open == std::string::npos ? kernel : kernel.substr(0, open);
}

std::string DominantDType(const core::KernelSpec& spec, const core::Case& c) {
  double largest = -1;
  std::string dtype = "f32";
  for (const auto& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, c);
    double bytes = static_cast<double>(core::SizeOf(buffer->dtype));
    if (shape)
      for (const int64_t extent : *shape) bytes *= static_cast<double>(extent);
    if (bytes > largest) {
      largest = bytes;
      dtype = std::string(core::Name(buffer->dtype));
    }
  }
  return dtype;
}

std::string DescribeStalls(const core::LineCounters& line) {
  const auto worst = std::max_element(line.stalls.begin(), line.stalls.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (worst == line.stalls.end() || line.samples == 0) return {};
  return fmt::format(", {:.0f} % of them {}",
                     100.0 * static_cast<double>(worst->second) / static_cast<double>(line.samples), worst->first);
}

std::vector<std::string> DescribeHotLines(const core::LaunchReport& launch) {
  std::vector<std::string> lines;
  for (const HotLine& line : HotLinesOf(launch))
    lines.push_back(fmt::format("{}:{}: {}", line.file, line.line, line.figures));
  return lines;
}

core::SizeValues SizesOf(const core::Case& c) {
  core::SizeValues sizes;
  for (const auto& [name, value] : c.scalars)
    if (const auto* whole = std::get_if<int64_t>(&value)) sizes[name] = *whole;
  return sizes;
}

// Of one kernel, where the plan launches several: by the lines of the original on which its stages are computed. None:
// the form does not tell, as for a kernel that a transformation made.
std::optional<core::OperationClass> ClassOfKernel(const Form& form, const core::CaseMeasurement& measurement,
                                                  const std::string& kernel) {
  const core::ComputationStructure structure = core::StructureOf(form.computation);
  std::set<std::string> launched, files;
  for (const auto& launch : measurement.launches) launched.insert(WithoutTemplateArguments(launch.kernel));
  if (launched.size() == 1) return structure.operation;
  const core::KernelInfo* found = nullptr;
  for (const auto& candidate : form.kernels) {
    files.insert(candidate.file);
    if (candidate.name == kernel) found = &candidate;
  }
  if (found == nullptr || files.size() > 1) return std::nullopt;  // lines do not say of which file they are
  return core::ClassOfLines(form.computation, structure, found->line, found->end_line);
}

void AddForm(const core::Chip& chip, const core::Case& c, const Form& form, ExtractedFeatures& features) {
  auto facts = core::FactsAt(form.computation, SizesOf(c));
  if (!facts) return;
  features.roofline = core::FormulaRoofline(chip, *facts, features.counted_roofline);
  features.formula = std::move(*facts);
}

}  // namespace

Form FormOf(core::Computation computation, const core::Inspection& original) {
  Form form{.computation = std::move(computation), .digest = {}, .kernels = original.kernels};
  if (auto normal = core::Normalize(form.computation)) form.digest = std::move(normal->digest);
  return form;
}

std::vector<HotLine> HotLinesOf(const core::LaunchReport& launch) {
  uint64_t instructions = 0, sectors = 0, samples = 0;
  for (const auto& line : launch.lines) {
    instructions += line.warp_instructions;
    sectors += line.global_sectors;
    samples += line.samples;
  }
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  std::vector<HotLine> lines;
  for (const auto& line : launch.lines) {
    if (lines.size() == kHotLines) break;
    lines.push_back(
        {line.file, line.line,
         samples > 0
             ? fmt::format("{:.0f} % of the samples{}", percent(line.samples, samples), DescribeStalls(line))
             : fmt::format("{:.0f} % of the warp instructions, {:.0f} % of the global sectors",
                           percent(line.warp_instructions, instructions), percent(line.global_sectors, sectors))});
  }
  return lines;
}

Result<ExtractedFeatures> ExtractFeaturesOf(const core::KernelSpec& spec, const core::Chip& chip,
                                            const core::Inspection& inspection, const core::Measured& measured,
                                            const KnownOriginal& original) {
  const core::CaseMeasurement* measurement = CostliestCase(measured);
  if (measurement == nullptr) return Fail(ErrorCode::kUnsupported, spec.name + ": no launch was measured");
  const auto found = std::find_if(spec.cases.begin(), spec.cases.end(),
                                  [&](const core::Case& c) { return c.name == measurement->case_name; });
  if (found == spec.cases.end()) return Fail(ErrorCode::kCorrupt, "unknown case " + measurement->case_name);

  const core::LaunchReport& hottest = *std::max_element(
      measurement->launches.begin(), measurement->launches.end(),
      [](const core::LaunchReport& a, const core::LaunchReport& b) { return a.time.total_us < b.time.total_us; });
  const std::string name = WithoutTemplateArguments(hottest.kernel);
  core::KernelInfo unknown;
  unknown.name = name;
  const core::KernelInfo* in_source = FindKernel(inspection, name);
  const core::KernelInfo& kernel = in_source != nullptr ? *in_source : unknown;

  ExtractedFeatures features;
  features.case_name = measurement->case_name;
  if (original.counted_roofline != nullptr) {
    features.counted_roofline = *original.counted_roofline;
  } else {
    core::Counters total;
    for (const auto& launch : measurement->launches) total.Add(launch.counters);
    features.counted_roofline = core::ComputeRoofline(chip, core::MinimumBytes(spec, *found), total);
  }
  features.roofline = features.counted_roofline;
  if (original.form != nullptr) AddForm(chip, *found, *original.form, features);
  features.evidence = core::MakeEvidence(chip, kernel, *measurement, features.roofline);
  features.evidence.Set("formula_known", 0);  // AddFormula knows better
  if (original.form != nullptr) {
    const auto by_form = ClassOfKernel(*original.form, *measurement, kernel.name);
    const core::OperationClass operation = by_form.value_or(kernel.features.operation);
    if (features.formula) core::AddFormula(*features.formula, operation, features.evidence);
    else features.evidence.SetOperation(operation);
    features.evidence.form = original.form->digest;
  }
  features.evidence.dtype = DominantDType(spec, *found);
  features.evidence.modelled = measured.modelled;
  features.kernel = kernel.name;
  features.hot_lines = DescribeHotLines(hottest);
  return features;
}

}  // namespace warpwright::agents
