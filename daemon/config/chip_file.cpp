#include "config/chip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "config/yaml_reader.h"

namespace warpwright::config::embedded {
const std::map<std::string_view, std::string_view>& Chips();
}

namespace warpwright::config {

namespace {

struct Field {
  std::string_view key;
  std::variant<int core::Chip::*, double core::Chip::*> member;
  double low, high;
};

constexpr Field kFields[] = {
    {"multiprocessors", &core::Chip::multiprocessors, 1, 1000},
    {"clock_ghz", &core::Chip::clock_ghz, 0.1, 10},
    {"warp_schedulers", &core::Chip::warp_schedulers, 1, 16},
    {"max_warps", &core::Chip::max_warps, 8, 256},
    {"max_blocks", &core::Chip::max_blocks, 1, 256},
    {"registers", &core::Chip::registers, 1024, 1 << 20},
    {"register_allocation_unit", &core::Chip::register_allocation_unit, 32, 4096},
    {"shared_bytes", &core::Chip::shared_bytes, 16384, 1 << 20},
    {"shared_bytes_per_block_optin", &core::Chip::shared_bytes_per_block_optin, 16384, 1 << 20},
    {"shared_bytes_reserved_per_block", &core::Chip::shared_bytes_reserved_per_block, 0, 65536},
    {"shared_allocation_unit", &core::Chip::shared_allocation_unit, 1, 4096},
    {"l1_bytes", &core::Chip::l1_bytes, 16384, 1 << 22},
    {"l2_bytes", &core::Chip::l2_bytes, 1 << 20, 1e10},
    {"dram_bytes_per_second", &core::Chip::dram_bytes_per_second, 1e10, 1e14},
    {"l2_bytes_per_second", &core::Chip::l2_bytes_per_second, 1e10, 1e15},
    {"l2_write_bytes_per_second", &core::Chip::l2_write_bytes_per_second, 1e10, 1e15},
    {"l1_bytes_per_cycle", &core::Chip::l1_bytes_per_cycle, 16, 1024},
    {"l2_bytes_per_cycle", &core::Chip::l2_bytes_per_cycle, 8, 1024},
    {"atomics_per_cycle", &core::Chip::atomics_per_cycle, 0.01, 100},
    {"l2_atomics_per_cycle", &core::Chip::l2_atomics_per_cycle, 1, 1000},
    {"fp32_lanes", &core::Chip::fp32_lanes, 1, 1024},
    {"fp64_lanes", &core::Chip::fp64_lanes, 0.5, 1024},
    {"fp16_lanes", &core::Chip::fp16_lanes, 1, 4096},
    {"tensor_fma_per_cycle", &core::Chip::tensor_fma_per_cycle, 1, 65536},
    {"int_lanes", &core::Chip::int_lanes, 1, 1024},
    {"sfu_lanes", &core::Chip::sfu_lanes, 1, 1024},
    {"conversion_lanes", &core::Chip::conversion_lanes, 1, 1024},
    {"lsu_lanes", &core::Chip::lsu_lanes, 1, 1024},
    {"dram_latency_ns", &core::Chip::dram_latency_ns, 10, 10000},
    {"dram_queue_ns", &core::Chip::dram_queue_ns, 0, 10000},
    {"l2_latency_ns", &core::Chip::l2_latency_ns, 10, 10000},
    {"l1_latency_cycles", &core::Chip::l1_latency_cycles, 1, 1000},
    {"shared_latency_cycles", &core::Chip::shared_latency_cycles, 1, 1000},
    {"launch_overhead_us", &core::Chip::launch_overhead_us, 0.01, 1000},
    {"block_launch_cycles", &core::Chip::block_launch_cycles, 0, 100000},
};

ChipFigure ReadFigure(const YamlNode& node, const Field& field, Diagnostics& diagnostics) {
  YamlObject map(node, "a figure", {"value", "source", "estimate"}, diagnostics);
  ChipFigure figure;
  figure.key = field.key;
  if (!node.IsMap()) return figure;
  figure.value = map.Double("value", field.low, field.high);
  figure.source = map.String("source");
  figure.estimate = map.BoolOr("estimate", false);
  if (std::holds_alternative<int core::Chip::*>(field.member) && figure.value != std::floor(figure.value))
    diagnostics.Add(node, fmt::format("'{}' must be an integer", field.key));
  return figure;
}

bool IsArch(std::string_view arch) {
  return arch.size() >= 5 && arch.size() <= 7 && arch.starts_with("sm_") &&
         std::all_of(arch.begin() + 3, arch.end(), [](char c) { return (c >= '0' && c <= '9') || c == 'a'; });
}

struct ChipFile {
  core::Chip chip;
  std::vector<ChipFigure> figures;
};

Result<ChipFile> ParseChipFile(std::string_view text, std::string path) {
  WW_ASSIGN(YamlNode root, ParseYaml(text, std::move(path)));
  Diagnostics diagnostics;
  std::vector<std::string_view> keys = {"id", "name", "arch"};
  for (const Field& field : kFields) keys.push_back(field.key);
  YamlObject map(root, "a chip", keys, diagnostics);
  WW_TRY(root.IsMap() ? Status() : diagnostics.ToStatus());
  ChipFile file;
  file.chip.id = map.String("id");
  file.chip.name = map.String("name");
  file.chip.arch = map.String("arch");
  if (const YamlNode* arch = map.Find("arch"); arch && !IsArch(file.chip.arch))
    diagnostics.Add(*arch, "expected an arch such as sm_90");
  for (const Field& field : kFields) {
    const YamlNode* node = map.Require(field.key);
    if (!node) continue;
    ChipFigure figure = ReadFigure(*node, field, diagnostics);
    std::visit(Overload{[&](int core::Chip::* member) { file.chip.*member = static_cast<int>(figure.value); },
                        [&](double core::Chip::* member) { file.chip.*member = figure.value; }},
               field.member);
    file.figures.push_back(std::move(figure));
  }
  WW_TRY(diagnostics.ToStatus());
  if (file.chip.shared_bytes > file.chip.l1_bytes || file.chip.shared_bytes_per_block_optin > file.chip.shared_bytes)
    return Fail(root.ErrorHere("shared memory per block, shared memory and L1 must be in ascending order"));
  return file;
}

Result<ChipFile> LoadChipFile(std::string_view id) {
  const auto& files = embedded::Chips();
  const std::string name = std::string(id) + ".yml";
  auto found = files.find(name);
  if (found == files.end()) {
    const std::vector<std::string> ids = ChipIds();
    const std::vector<std::string_view> names(ids.begin(), ids.end());
    const auto nearest = NearestName(id, names);
    return Fail(
        ErrorCode::kUsage,
        fmt::format("unknown chip '{}'{}", id.substr(0, 64), nearest ? "; did you mean '" + *nearest + "'?" : ""),
        fmt::format("choose one of {}", fmt::join(ids, ", ")));
  }
  WW_ASSIGN(ChipFile file, ParseChipFile(found->second, "config/chips/" + name));
  if (file.chip.id != id)
    return Fail(ErrorCode::kConfig, fmt::format("config/chips/{} says it is '{}'", name, file.chip.id));
  return file;
}

}  // namespace

std::vector<std::string> ChipIds() {
  std::vector<std::string> ids;
  for (const auto& [name, text] : embedded::Chips())
    ids.emplace_back(name.substr(0, name.size() - std::string_view(".yml").size()));
  return ids;
}

std::string SimulatedDevices() {
  std::string text;
  const std::vector<std::string> ids = ChipIds();
  for (size_t i = 0; i < ids.size(); ++i)
    text += (i == 0 ? "" : i + 1 < ids.size() ? ", " : " or ") + ("sim:" + ids[i]);
  return text;
}

Result<core::Chip> ParseChip(std::string_view text, std::string path) {
  WW_ASSIGN(ChipFile file, ParseChipFile(text, std::move(path)));
  return std::move(file.chip);
}

Result<core::Chip> LoadChip(std::string_view id) {
  WW_ASSIGN(ChipFile file, LoadChipFile(id));
  return std::move(file.chip);
}

Result<std::vector<ChipFigure>> LoadChipFigures(std::string_view id) {
  WW_ASSIGN(ChipFile file, LoadChipFile(id));
  return std::move(file.figures);
}

}  // namespace warpwright::config
