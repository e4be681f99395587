#include "core/counters.h"

#include <cmath>

namespace warpwright::core {
namespace {

constexpr int kClasses = static_cast<int>(InstructionClass::kCount);
constexpr std::string_view kClassNames[kClasses] = {
    "fp32",          "fp64",        "fp16",         "integer",     "sfu",          "conversion", "move",
    "control",       "global_load", "global_store", "shared_load", "shared_store", "local_load", "local_store",
    "constant_load", "atomic",      "warp",         "tensor",      "barrier",      "other"};

struct FieldName {
  std::string_view name;
  uint64_t Counters::* field;
};
constexpr FieldName kFields[] = {
    {"warp_instructions", &Counters::warp_instructions},
    {"thread_instructions", &Counters::thread_instructions},
    {"flops_fp64", &Counters::flops_fp64},
    {"flops_fp32", &Counters::flops_fp32},
    {"flops_fp16", &Counters::flops_fp16},
    {"flops_tensor", &Counters::flops_tensor},
    {"global_load_requests", &Counters::global_load_requests},
    {"global_load_sectors", &Counters::global_load_sectors},
    {"global_load_bytes", &Counters::global_load_bytes},
    {"global_store_requests", &Counters::global_store_requests},
    {"global_store_sectors", &Counters::global_store_sectors},
    {"global_store_bytes", &Counters::global_store_bytes},
    {"atomic_requests", &Counters::atomic_requests},
    {"atomic_sectors", &Counters::atomic_sectors},
    {"l1_hit_sectors", &Counters::l1_hit_sectors},
    {"l1_miss_sectors", &Counters::l1_miss_sectors},
    {"l2_read_bytes", &Counters::l2_read_bytes},
    {"l2_write_bytes", &Counters::l2_write_bytes},
    {"l2_hit_sectors", &Counters::l2_hit_sectors},
    {"l2_miss_sectors", &Counters::l2_miss_sectors},
    {"dram_read_bytes", &Counters::dram_read_bytes},
    {"dram_write_bytes", &Counters::dram_write_bytes},
    {"shared_requests", &Counters::shared_requests},
    {"shared_wavefronts", &Counters::shared_wavefronts},
    {"shared_bank_conflicts", &Counters::shared_bank_conflicts},
    {"local_load_bytes", &Counters::local_load_bytes},
    {"local_store_bytes", &Counters::local_store_bytes},
    {"branches", &Counters::branches},
    {"divergent_branches", &Counters::divergent_branches},
    {"barriers", &Counters::barriers},
    {"warps", &Counters::warps},
    {"blocks", &Counters::blocks},
};
// "warp_instructions_fp32" and so on.
const std::vector<std::string>& ClassFieldNames() {
  static const auto names = [] {
    std::vector<std::string> list;
    for (const auto name : kClassNames) list.push_back("warp_instructions_" + std::string(name));
    return list;
  }();
  return names;
}

uint64_t Scaled(uint64_t value, double factor) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(value) * factor));
}

}  // namespace

std::string_view Name(InstructionClass c) { return kClassNames[static_cast<int>(c)]; }

void Counters::Add(const Counters& other) {
  for (const auto& [name, field] : kFields) this->*field += other.*field;
  for (int i = 0; i < kClasses; ++i) warp_instructions_by_class[i] += other.warp_instructions_by_class[i];
}

void Counters::Scale(double factor) {
  for (const auto& [name, field] : kFields) this->*field = Scaled(this->*field, factor);
  for (auto& value : warp_instructions_by_class) value = Scaled(value, factor);
}

std::vector<NamedCounter> Fields(const Counters& counters) {
  std::vector<NamedCounter> fields;
  for (const auto& [name, field] : kFields) fields.push_back({name, counters.*field});
  for (int i = 0; i < kClasses; ++i) fields.push_back({ClassFieldNames()[i], counters.warp_instructions_by_class[i]});
  return fields;
}

bool SetField(Counters& counters, std::string_view name, uint64_t value) {
  for (const auto& [field_name, field] : kFields)
    if (field_name == name) {
      counters.*field = value;
      return true;
    }
  for (int i = 0; i < kClasses; ++i)
    if (ClassFieldNames()[i] == name) {
      counters.warp_instructions_by_class[i] = value;
      return true;
    }
  return false;
}

}  // namespace warpwright::core
