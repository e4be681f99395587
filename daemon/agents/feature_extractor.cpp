#include "agents/feature_extractor.h"

#include <fmt/format.h>

#include <algorithm>

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
  uint64_t instructions = 0, sectors = 0, samples = 0;
  for (const auto& line : launch.lines) {
    instructions += line.warp_instructions;
    sectors += line.global_sectors;
    samples += line.samples;
  }
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  std::vector<std::string> lines;
  for (const auto& line : launch.lines) {
    if (lines.size() == kHotLines) break;
    if (samples > 0) {
      lines.push_back(fmt::format("{}:{}: {:.0f} % of the samples{}", line.file, line.line,
                                  percent(line.samples, samples), DescribeStalls(line)));
      continue;
    }
    lines.push_back(fmt::format("{}:{}: {:.0f} % of the warp instructions, {:.0f} % of the global sectors", line.file,
                                line.line, percent(line.warp_instructions, instructions),
                                percent(line.global_sectors, sectors)));
  }
  return lines;
}

}  // namespace

Result<ExtractedFeatures> ExtractFeaturesOf(const core::KernelSpec& spec, const core::Chip& chip,
                                            const core::Inspection& inspection, const core::Measured& measured,
                                            const core::Roofline* roofline) {
  const core::CaseMeasurement* measurement = CostliestCase(measured);
  if (measurement == nullptr) return Fail(ErrorCode::kUnsupported, spec.name + ": no launch was measured");
  const auto found = std::find_if(spec.cases.begin(), spec.cases.end(),
                                  [&](const core::Case& c) { return c.name == measurement->case_name; });
  if (found == spec.cases.end()) return Fail(ErrorCode::kCorrupt, "unknown case " + measurement->case_name);

  const core::LaunchReport& hottest = *std::max_element(
      measurement->launches.begin(), measurement->launches.end(),
      [](const core::LaunchReport& a, const core::LaunchReport& b) { return a.time.total_us < b.time.total_us; });
  const std::string name = WithoutTemplateArguments(hottest.kernel);
  const core::KernelInfo* kernel = FindKernel(inspection, name);

  ExtractedFeatures features;
  features.case_name = measurement->case_name;
  if (roofline != nullptr) {
    features.roofline = *roofline;
  } else {
    core::Counters total;
    for (const auto& launch : measurement->launches) total.Add(launch.counters);
    features.roofline = core::ComputeRoofline(chip, core::MinimumBytes(spec, *found), total);
  }
  core::KernelInfo unknown;
  unknown.name = name;
  features.evidence = core::MakeEvidence(chip, kernel != nullptr ? *kernel : unknown, *measurement, features.roofline);
  features.evidence.dtype = DominantDType(spec, *found);
  features.evidence.modelled = measured.modelled;
  features.kernel = kernel != nullptr ? kernel->name : name;
  features.hot_lines = DescribeHotLines(hottest);
  return features;
}

}  // namespace warpwright::agents
