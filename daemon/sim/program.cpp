#include "sim/program.h"

#include <map>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/cfg.h"
#include "sim/exec/dispatch.h"
#include "sim/if_convert.h"
#include "sim/instruction.h"
#include "sim/lower.h"
#include "sim/ptx_parser.h"
#include "sim/slots.h"
#include "sim/warpgroup_registers.h"

namespace warpwright::sim {
namespace {

constexpr size_t kTextLimit = 32 << 20;

// Headers of the CUDA toolkit: a user wants the line that called them.
bool IsToolkitHeader(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (std::string_view prefix : {"cuda_", "device_", "math_functions", "sm_", "vector_", "cooperative_groups", "crt_"})
    if (name.starts_with(prefix) && (name.ends_with(".h") || name.ends_with(".hpp"))) return true;
  return path.find("/cuda/include/") != std::string_view::npos ||
         path.find("cooperative_groups/") != std::string_view::npos ||
         (path.find("/cuda-") != std::string_view::npos && path.find("/include/") != std::string_view::npos);
}

// Every .loc becomes the innermost location outside the toolkit; equal ones are merged.
void ResolveLocations(const PtxModule& module, ProgramCode& code, std::vector<uint32_t>& index) {
  std::map<uint32_t, std::string_view> files;
  for (const auto& [number, name] : module.files) files.emplace(number, name);
  auto file_of = [&](uint32_t number) {
    auto known = files.find(number);
    return known == files.end() ? std::string_view() : known->second;
  };
  std::map<std::pair<uint32_t, int>, uint32_t> known;
  code.locations.emplace_back();
  index.assign(module.locations.size(), 0);
  for (uint32_t i = 1; i < module.locations.size(); ++i) {
    uint32_t at = i;
    for (int depth = 0; depth < 64; ++depth) {
      const PtxLocation& here = module.locations[at];
      if (here.caller == 0 || !IsToolkitHeader(file_of(here.file))) break;
      at = here.caller;
    }
    const PtxLocation& place = module.locations[at];
    auto [entry, inserted] = known.try_emplace({place.file, place.line}, static_cast<uint32_t>(code.locations.size()));
    if (inserted) code.locations.push_back({std::string(file_of(place.file)), place.line});
    index[i] = entry->second;
  }
}

Status AddVariables(const PtxModule& module, ProgramCode& code, std::vector<uint32_t>& variable_index) {
  variable_index.assign(module.variables.size(), kNoOperand);
  std::map<std::string_view, uint32_t> by_name;
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    const PtxVariable& v = module.variables[i];
    if (v.space != Space::kGlobal && v.space != Space::kConst) continue;
    variable_index[i] = static_cast<uint32_t>(code.variables.size());
    by_name[v.name] = variable_index[i];
    ModuleVariable variable;
    variable.name = std::string(v.name);
    variable.constant = v.space == Space::kConst;
    variable.bytes = v.bytes;
    variable.alignment = v.alignment;
    variable.initial = v.initial;
    code.variables.push_back(std::move(variable));
  }
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    if (variable_index[i] == kNoOperand) continue;
    for (const auto& reference : module.variables[i].references) {
      auto target = by_name.find(reference.name);
      if (target == by_name.end())
        return Fail(
            ErrorCode::kUnsupported,
            fmt::format("variable {} is initialised with the address of {}, which is not a variable in global memory",
                        module.variables[i].name, reference.name));
      code.variables[variable_index[i]].pointers.push_back({reference.offset, target->second, reference.addend});
    }
  }
  return {};
}

Result<KernelCode> MakeKernel(Lowered lowered, const std::vector<uint32_t>& location_index, ProgramCode& program) {
  KernelCode kernel;
  WW_TRY(BuildBlocks(lowered, kernel.blocks));
  if (lowered.has_warpgroup_products) CheckWarpgroupRegisters(lowered, kernel.blocks, program);
  WW_TRY(AllocateSlots(lowered, kernel.blocks, kernel));
  kernel.info = std::move(lowered.info);
  kernel.sites = lowered.sites;
  kernel.shared_minimum_width = lowered.shared_minimum_width;
  kernel.has_fences = lowered.has_fences;
  kernel.has_strong_shared = lowered.has_strong_shared;
  kernel.has_async_copies = lowered.has_async_copies;
  kernel.has_warpgroup_products = lowered.has_warpgroup_products;
  kernel.shared_names = std::move(lowered.shared_names);
  kernel.code = std::move(lowered.code);
  for (uint32_t i = 0; i < kernel.code.size(); ++i) {
    Instruction& in = kernel.code[i];
    in.index = i;
    in.line = location_index[in.line];
    if (!BindHandlers(in)) {
      in.text = static_cast<uint32_t>(program.texts.size());
      program.texts.push_back(
          fmt::format("not simulated: a form of instruction {} that the executor lacks", static_cast<int>(in.op)));
      in.op = Op::kUnsupported;
      BindHandlers(in);
    }
  }
  return kernel;
}

Result<Program> Decode(std::string_view ptx, const DecodeOptions& options) {
  if (ptx.size() > kTextLimit) return Fail(ErrorCode::kUnsupported, "PTX of more than 32 MiB");
  WW_ASSIGN(const PtxModule module, ParsePtx(ptx));
  auto code = std::make_shared<ProgramCode>();
  std::vector<uint32_t> location_index, variable_index;
  ResolveLocations(module, *code, location_index);
  WW_TRY(AddVariables(module, *code, variable_index));
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const PtxFunction& function = module.functions[i];
    if (!function.entry || !function.has_body) continue;
    Lowering lowering(module, variable_index, code->texts);
    WW_ASSIGN(Lowered lowered, lowering.Lower(i));
    if (const auto converted = options.converted.find(lowered.info.symbol); converted != options.converted.end())
      WW_TRY(IfConvert(lowered, converted->second));
    WW_ASSIGN(KernelCode kernel, MakeKernel(std::move(lowered), location_index, *code));
    code->infos.push_back(kernel.info);
    code->kernels.push_back(std::move(kernel));
  }
  return Program(std::move(code));
}

}  // namespace

Program::Program(std::shared_ptr<const ProgramCode> code) : code_(std::move(code)) {}
const std::vector<KernelInfo>& Program::kernels() const { return code_->infos; }
const std::vector<ModuleVariable>& Program::variables() const { return code_->variables; }

const KernelInfo* Program::Find(std::string_view symbol) const {
  for (const KernelInfo& info : code_->infos)
    if (info.symbol == symbol) return &info;
  return nullptr;
}

bool Program::UsesGlobalAtomics(std::string_view symbol) const {
  const KernelInfo* info = Find(symbol);
  return info && info->uses_global_atomics;
}

Result<Program> DecodePtx(std::string_view ptx, const DecodeOptions& options) {
  try {
    return Decode(ptx, options);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kUnsupported, "decoding the PTX needs too much memory");
  } catch (const std::length_error&) {
    return Fail(ErrorCode::kUnsupported, "decoding the PTX needs too much memory");
  }
}

}  // namespace warpwright::sim
