#include "gpu/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace warpwright::gpu {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// The variable that a declaration such as ".visible .global .align 4 .b8 name[16] = {...}" declares.
std::string_view DeclaredName(std::string_view statement) {
  statement = statement.substr(0, statement.find_first_of("=["));
  while (!statement.empty() && kBlanks.find(statement.back()) != std::string_view::npos) statement.remove_suffix(1);
  const size_t blank = statement.find_last_of(kBlanks);
  return blank == std::string_view::npos ? statement : statement.substr(blank + 1);
}

bool HasDirective(std::string_view statement, std::string_view directive) {
  statement = statement.substr(0, statement.find_first_of("=["));
  for (size_t at = statement.find(directive); at != std::string_view::npos; at = statement.find(directive, at + 1)) {
    const size_t end = at + directive.size();
    if (end == statement.size() || kBlanks.find(statement[end]) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

PtxVariables FindPtxVariables(const std::string& ptx) {
  PtxVariables variables;
  int depth = 0;
  std::string statement;
  bool initializer = false;  // braces after "=" belong to the declaration
  for (size_t i = 0; i < ptx.size(); ++i) {
    const char c = ptx[i];
    if (c == '/' && i + 1 < ptx.size() && ptx[i + 1] == '/') {
      i = std::min(ptx.find('\n', i), ptx.size());
      statement += ' ';
    } else if (c == '"') {
      i = std::min(ptx.find('"', i + 1), ptx.size());
    } else if (c == '{') {
      if (depth == 0) initializer = statement.find('=') != std::string::npos;
      ++depth;
    } else if (c == '}') {
      --depth;
      if (depth == 0 && !initializer) statement.clear();  // a function's body ended
    } else if (depth > 0) {
      continue;
    } else if (c == ';') {
      if (HasDirective(statement, ".global")) variables.global.emplace_back(DeclaredName(statement));
      else if (HasDirective(statement, ".const")) variables.constant.emplace_back(DeclaredName(statement));
      statement.clear();
    } else {
      statement += c;
    }
  }
  return variables;
}

Result<std::variant<core::Fault, LoadedModule>> LoadedModule::Load(Context& context,
                                                                   const core::CompiledModule& module) {
  using Outcome = std::variant<core::Fault, LoadedModule>;
  const CudaDriver& driver = context.driver();
  LoadedModule loaded;
  loaded.context_ = &context;
  loaded.compiled_ = &module;
  const CUresult result = driver.ModuleLoadData(&loaded.module_, module.cubin.data());
  if (result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_INVALID_SOURCE ||
      result == CUDA_ERROR_SHARED_OBJECT_INIT_FAILED || result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    core::Fault fault;
    fault.kind = core::Fault::Kind::kResourceLimit;
    fault.message = "the driver does not load the module: " + driver.Describe(result);
    return Outcome(std::move(fault));
  }
  WW_ASSIGN(auto fault, context.Judge(result, "cuModuleLoadData"));
  if (fault) return Outcome(std::move(*fault));
  for (const core::KernelResources& kernel : module.kernels) {
    CUfunction function = nullptr;
    WW_TRY(driver.Check(driver.ModuleGetFunction(&function, loaded.module_, kernel.symbol.c_str()),
                        "cuModuleGetFunction"));
    loaded.functions_[kernel.kernel] = function;
  }
  const PtxVariables declared = FindPtxVariables(module.ptx);
  const auto add = [&](const std::vector<std::string>& names, std::vector<ModuleVariable>& to) -> Status {
    for (const std::string& name : names) {
      ModuleVariable variable{name, 0, 0};
      size_t bytes = 0;
      const CUresult found = driver.ModuleGetGlobal(&variable.address, &bytes, loaded.module_, name.c_str());
      if (found == CUDA_ERROR_NOT_FOUND) continue;  // the assembler removed it
      WW_TRY(driver.Check(found, "cuModuleGetGlobal"));
      if (bytes == 0) continue;
      variable.bytes = bytes;
      to.push_back(std::move(variable));
    }
    return {};
  };
  WW_TRY(add(declared.global, loaded.variables_));
  WW_TRY(add(declared.constant, loaded.constants_));
  for (const auto& variable : loaded.variables_) loaded.variable_bytes_ += variable.bytes;
  uint64_t all = loaded.variable_bytes_, at = 0;
  for (const auto& variable : loaded.constants_) all += variable.bytes;
  if (all > 0) {
    WW_ASSIGN(loaded.snapshot_, DeviceMemory::Allocate(context, all));
    for (const auto* list : {&loaded.variables_, &loaded.constants_})
      for (const auto& variable : *list) {
        WW_TRY(driver.Check(
            driver.MemcpyDtoDAsync(loaded.snapshot_.address() + at, variable.address, variable.bytes, nullptr),
            "cuMemcpyDtoDAsync"));
        at += variable.bytes;
      }
    WW_TRY(driver.Check(driver.StreamSynchronize(nullptr), "cuStreamSynchronize"));
  }
  return Outcome(std::move(loaded));
}

LoadedModule::LoadedModule(LoadedModule&& other) noexcept
    : context_(other.context_),
      compiled_(other.compiled_),
      module_(std::exchange(other.module_, nullptr)),
      functions_(std::move(other.functions_)),
      variables_(std::move(other.variables_)),
      constants_(std::move(other.constants_)),
      snapshot_(std::move(other.snapshot_)),
      variable_bytes_(other.variable_bytes_) {}

LoadedModule::~LoadedModule() {
  if (module_ != nullptr && !context_->lost()) context_->driver().ModuleUnload(module_);
}

Result<CUfunction> LoadedModule::Function(const std::string& kernel) const {
  const auto found = functions_.find(kernel);
  if (found == functions_.end())
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the plan launches '{}', which is not in the compiled module", kernel));
  return found->second;
}

const ModuleVariable* LoadedModule::Symbol(const std::string& source_form) const {
  for (const auto* list : {&constants_, &variables_})
    for (const auto& variable : *list)
      if (core::NamesVariable(variable.symbol, source_form)) return &variable;
  return nullptr;
}

bool LoadedModule::IsConstant(const std::string& source_form) const {
  return std::any_of(constants_.begin(), constants_.end(),
                     [&](const ModuleVariable& variable) { return core::NamesVariable(variable.symbol, source_form); });
}

Status LoadedModule::Restore(CUstream stream) {
  uint64_t at = 0;
  for (const auto* list : {&variables_, &constants_})
    for (const auto& variable : *list) {
      WW_TRY(context_->driver().Check(
          context_->driver().MemcpyDtoDAsync(variable.address, snapshot_.address() + at, variable.bytes, stream),
          "cuMemcpyDtoDAsync"));
      at += variable.bytes;
    }
  return {};
}

Result<std::vector<std::byte>> LoadedModule::Content(CUstream stream) const {
  std::vector<std::byte> content(variable_bytes_);
  uint64_t at = 0;
  for (const auto& variable : variables_) {
    WW_TRY(context_->driver().Check(
        context_->driver().MemcpyDtoHAsync(content.data() + at, variable.address, variable.bytes, stream),
        "cuMemcpyDtoHAsync"));
    at += variable.bytes;
  }
  WW_TRY(context_->driver().Check(context_->driver().StreamSynchronize(stream), "cuStreamSynchronize"));
  return content;
}

std::vector<std::string> LoadedModule::Different(const std::vector<std::byte>& a,
                                                 const std::vector<std::byte>& b) const {
  std::vector<std::string> names;
  uint64_t at = 0;
  for (const auto& variable : variables_) {
    if (std::memcmp(a.data() + at, b.data() + at, variable.bytes) != 0) names.push_back(variable.symbol);
    at += variable.bytes;
  }
  return names;
}

}  // namespace warpwright::gpu
