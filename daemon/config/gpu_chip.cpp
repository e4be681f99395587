#include "config/gpu_chip.h"

#include <fmt/format.h>

#include <cctype>

#include "config/chip_file.h"

namespace warpwright::config {
namespace {

// The share of the data sheet's DRAM bandwidth that a copy reaches on the chip that was measured
// (config/chips/h200.yml: 4.27 of 4.8).
constexpr double kAttainableBandwidth = 0.89;

std::string IdOf(const std::string& name) {
  std::string id;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!id.empty() && id.back() != '-') id += '-';
  }
  while (id.ends_with('-')) id.pop_back();
  return id;
}

}  // namespace

Result<core::Chip> ChipOf(const core::GpuFacts& gpu) {
  std::vector<core::Chip> chips;
  for (const std::string& id : ChipIds()) {
    WW_ASSIGN(core::Chip chip, LoadChip(id));
    chips.push_back(std::move(chip));
  }
  return ChipOf(gpu, chips);
}

Result<core::Chip> ChipOf(const core::GpuFacts& gpu, const std::vector<core::Chip>& chips) {
  const std::string arch = fmt::format("sm_{}{}", gpu.compute_major, gpu.compute_minor);
  const core::Chip *named = nullptr, *same_arch = nullptr;
  for (const core::Chip& chip : chips) {
    if (chip.arch != arch) continue;
    if (same_arch == nullptr) same_arch = &chip;
    if (gpu.name.starts_with(chip.name) && (named == nullptr || chip.name.size() > named->name.size())) named = &chip;
  }
  if (named != nullptr) return *named;
  if (same_arch == nullptr)
    return Fail(ErrorCode::kEnvironment, fmt::format("there is no data for {} ({})", gpu.name, arch),
                "add a file to config/chips");
  core::Chip chip = *same_arch;
  const double share = static_cast<double>(gpu.multiprocessors) / chip.multiprocessors;
  chip.id = IdOf(gpu.name);
  chip.name = gpu.name;
  chip.multiprocessors = gpu.multiprocessors;
  chip.clock_ghz = gpu.clock_khz * 1e-6;
  chip.l2_bytes = gpu.l2_bytes;
  chip.l2_bytes_per_second *= share;
  chip.l2_write_bytes_per_second *= share;
  const double double_rate = 2 * gpu.memory_clock_khz * 1e3 * gpu.bus_width_bits / 8;
  if (double_rate > 0) chip.dram_bytes_per_second = double_rate * kAttainableBandwidth;
  return chip;
}

}  // namespace warpwright::config
