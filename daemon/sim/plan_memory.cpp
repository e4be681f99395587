#include "sim/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "core/compiled.h"

namespace warpwright::sim {
namespace {

constexpr uint64_t kGuardStream = 1'000'000,
                   kWorkspaceStream = 2'000'000;  // random number stream, plus the buffer's index

constexpr uint64_t kLargestFilledWorkspace = 1u << 20;  // among buffers of repeated content

std::vector<std::byte> AllBytes() {
  std::vector<std::byte> values(256);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(i);
  return values;
}

void FillRandom(std::span<std::byte> bytes, uint64_t seed, uint64_t stream) {
  const base::CounterRandom random(seed, stream);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t bits = random.Bits(i / 8);
    std::memcpy(bytes.data() + i, &bits, std::min<size_t>(8, bytes.size() - i));
  }
}

}  // namespace

Result<PlanMemory> PlanMemory::Create(const core::LaunchPlan& plan, const std::vector<core::BufferContent>& contents,
                                      const Program& program, const Options& options) {
  PlanMemory memory(plan, program, options);
  if (options.scattered) memory.memory_.Scatter();
  const bool any_repeated = std::any_of(contents.begin(), contents.end(),
                                        [](const core::BufferContent& content) { return content.repeated_bytes > 0; });
  size_t argument = 0;
  for (const core::PlanBuffer& plan_buffer : plan.buffers) {
    const core::BufferContent* content = nullptr;
    if (plan_buffer.kind == core::PlanBuffer::Kind::kArgument) {
      if (argument >= contents.size() || contents[argument].Size() != plan_buffer.bytes)
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("the plan's buffer '{}' does not match the contents given", plan_buffer.name));
      content = &contents[argument++];
    }
    const bool sparse =
        content != nullptr ? content->repeated_bytes > 0 : any_repeated && plan_buffer.bytes > kLargestFilledWorkspace;
    WW_TRY(memory.Allocate(plan_buffer, content, sparse));
  }
  if (argument != contents.size()) return Fail(ErrorCode::kCorrupt, "more buffer contents than the plan has buffers");
  WW_TRY(memory.memory_.LoadModule(program));
  return memory;
}

Status PlanMemory::Allocate(const core::PlanBuffer& plan_buffer, const core::BufferContent* content, bool sparse) {
  Buffer buffer;
  buffer.bytes = plan_buffer.bytes;
  if (!sparse) buffer.guard = (options_.guard_bytes + 255) / 256 * 256;  // keeps the content's alignment
  AllocationOptions options;
  options.element_bytes = content ? content->element_bytes : 0;
  options.read_only = content && content->read_only;
  options.initialized = content && !content->uninitialized;
  options.sparse = buffer.sparse = sparse;
  if (sparse && options.initialized) options.content = {content->bytes.begin(), content->bytes.end()};
  options.misalignment = content ? static_cast<uint64_t>(std::clamp<int64_t>(content->pointer_offset, 0, 4096)) : 0;
  WW_ASSIGN(const uint64_t base, memory_.Allocate(plan_buffer.name, buffer.bytes + 2 * buffer.guard, options));
  buffer.address = base + buffer.guard;
  const std::span<std::byte> bytes = memory_.Bytes(buffer.address, buffer.bytes);
  const uint64_t index = buffers_.size();
  if (content && !sparse) std::copy(content->bytes.begin(), content->bytes.end(), bytes.begin());
  else if (!sparse) FillRandom(bytes, options_.seed, kWorkspaceStream + index);
  for (const uint64_t band : {base, buffer.address + buffer.bytes}) {
    FillRandom(memory_.Bytes(band, buffer.guard), options_.seed, kGuardStream + 2 * index + (band != base));
    if (buffer.guard > 0) memory_.MarkWritten(band, buffer.guard);
  }
  buffers_.push_back(buffer);
  return {};
}

Result<std::span<std::byte>> PlanMemory::Bytes(const core::DevicePointer& pointer, uint64_t bytes) const {
  const std::span<std::byte> span = memory_.Bytes(Address(pointer), bytes);
  if (span.size() != bytes) return Fail(ErrorCode::kCorrupt, "an operation of the plan leaves its buffer");
  return span;
}

void PlanMemory::MarkWritten(const core::DevicePointer& pointer, uint64_t bytes) {
  if (bytes > 0) memory_.MarkWritten(Address(pointer), bytes);
}

Result<std::optional<PlanMemory::Written>> PlanMemory::Apply(const core::PlanOp& op) {
  return std::visit(
      Overload{[&](const core::MemsetOp& o) { return Memset(o); }, [&](const core::CopyOp& o) { return Copy(o); },
               [&](const core::UploadOp& o) { return Upload(o); },
               [&](const core::SymbolUploadOp& o) { return UploadSymbol(o); },
               [&](const core::SymbolCopyOp& o) { return CopySymbol(o); },
               [](const core::KernelLaunch&) { return Result<std::optional<Written>>(std::nullopt); },
               [](const core::EventOp&) { return Result<std::optional<Written>>(std::nullopt); }},
      op);
}

Result<std::optional<PlanMemory::Written>> PlanMemory::Memset(const core::MemsetOp& op) {
  WW_ASSIGN(const std::span<std::byte> span, Bytes(op.destination, op.bytes));
  const Buffer& buffer = buffers_[op.destination.buffer];
  if (buffer.sparse && op.bytes > kLargestFilledWorkspace) {
    if (op.destination.offset != 0 || op.bytes != buffer.bytes || op.unit != 1)
      return Fail(ErrorCode::kUnsupported, "a memset of a part of a buffer that is too large to be held");
    static const std::vector<std::byte> values = AllBytes();
    memory_.SetContent(buffer.address, {values.data() + (op.value & 0xff), 1});
    return Written{Address(op.destination), 0, op.bytes};
  }
  for (uint64_t i = 0; i < op.bytes; ++i) span[i] = static_cast<std::byte>(op.value >> (8 * (i % op.unit)));
  MarkWritten(op.destination, op.bytes);
  return Written{Address(op.destination), op.bytes, op.bytes};
}

Result<std::optional<PlanMemory::Written>> PlanMemory::Copy(const core::CopyOp& op) {
  WW_ASSIGN(const std::span<std::byte> to, Bytes(op.destination, op.bytes));
  WW_ASSIGN(const std::span<std::byte> from, Bytes(op.source, op.bytes));
  if (!buffers_[op.source.buffer].sparse || op.bytes <= kLargestFilledWorkspace)
    memory_.NoteRead(Address(op.source), op.bytes);
  std::memmove(to.data(), from.data(), op.bytes);
  memory_.CopyWritten(Address(op.destination), Address(op.source), op.bytes);
  return Written{Address(op.destination), op.bytes, 2 * op.bytes};
}

Result<std::optional<PlanMemory::Written>> PlanMemory::Upload(const core::UploadOp& op) {
  WW_ASSIGN(const std::span<std::byte> span, Bytes(op.destination, op.bytes.size()));
  std::copy(op.bytes.begin(), op.bytes.end(), span.begin());
  MarkWritten(op.destination, op.bytes.size());
  return Written{Address(op.destination), op.bytes.size(), op.bytes.size()};
}

std::optional<uint64_t> PlanMemory::VariableAddress(const std::string& symbol, uint64_t offset) const {
  const auto& variables = program_->variables();
  for (uint32_t i = 0; i < variables.size(); ++i)
    if (core::NamesVariable(variables[i].name, symbol)) return memory_.variable_address(i) + offset;
  return std::nullopt;
}

Status PlanMemory::CheckVariable(const std::string& symbol, uint64_t offset, uint64_t bytes, const char* what) const {
  for (const ModuleVariable& variable : program_->variables())
    if (core::NamesVariable(variable.name, symbol) && (offset > variable.bytes || bytes > variable.bytes - offset))
      return Fail(ErrorCode::kCorrupt, fmt::format("{} leaves the variable '{}'", what, symbol));
  return {};
}

Result<std::optional<PlanMemory::Written>> PlanMemory::UploadSymbol(const core::SymbolUploadOp& op) {
  WW_TRY(CheckVariable(op.symbol, op.offset, op.bytes.size(), "an upload"));
  if (const auto address = VariableAddress(op.symbol, op.offset); address && !op.bytes.empty()) {
    const std::span<std::byte> span = memory_.Bytes(*address, op.bytes.size());
    std::copy(op.bytes.begin(), op.bytes.end(), span.begin());
    memory_.MarkWritten(*address, op.bytes.size());
  }
  return std::nullopt;
}

std::optional<core::Fault> PlanMemory::CopiesNothing(const core::PlanOp& op) const {
  const auto* copy = std::get_if<core::SymbolCopyOp>(&op);
  if (copy == nullptr || copy->to_symbol || VariableAddress(copy->symbol, 0)) return std::nullopt;
  core::Fault fault;
  fault.kind = core::Fault::Kind::kNotSimulated;
  fault.message = core::CopiesFromDropped(copy->symbol);
  return fault;
}

Result<std::optional<PlanMemory::Written>> PlanMemory::CopySymbol(const core::SymbolCopyOp& op) {
  WW_TRY(CheckVariable(op.symbol, op.offset, op.bytes, "a copy"));
  WW_ASSIGN(const std::span<std::byte> buffer, Bytes(op.buffer, op.bytes));
  const std::optional<uint64_t> address = VariableAddress(op.symbol, op.offset);
  if (!address || op.bytes == 0) return std::nullopt;
  const std::span<std::byte> variable = memory_.Bytes(*address, op.bytes);
  const uint64_t of_buffer = Address(op.buffer);
  const uint64_t to = op.to_symbol ? *address : of_buffer, from = op.to_symbol ? of_buffer : *address;
  memory_.NoteRead(from, op.bytes);
  if (op.to_symbol) std::copy(buffer.begin(), buffer.end(), variable.begin());
  else std::copy(variable.begin(), variable.end(), buffer.begin());
  memory_.CopyWritten(to, from, op.bytes);
  return Written{to, op.bytes, 2 * op.bytes};
}

Result<std::vector<std::byte>> PlanMemory::Parameters(const core::KernelLaunch& launch, const KernelInfo& info) const {
  if (launch.parameters.size() != info.parameters.size())
    return Fail(ErrorCode::kCorrupt, fmt::format("'{}' takes {} parameters, the plan gives {}", launch.kernel,
                                                 info.parameters.size(), launch.parameters.size()));
  std::vector<std::byte> block(info.parameter_bytes);
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    std::vector<std::byte> bytes = launch.parameters[i].bytes;
    const ParameterInfo& place = info.parameters[i];
    if (bytes.size() != place.bytes || place.offset + place.bytes > block.size())
      return Fail(ErrorCode::kCorrupt, fmt::format("parameter {} of '{}' has {} bytes, the plan gives {}", i,
                                                   launch.kernel, place.bytes, bytes.size()));
    for (const auto& [offset, pointer] : launch.parameters[i].pointers) {
      if (pointer.buffer >= buffers_.size() || offset + 8 > bytes.size())
        return Fail(ErrorCode::kCorrupt, "a pointer of the plan is out of range");
      const uint64_t address = Address(pointer);
      std::memcpy(bytes.data() + offset, &address, 8);
    }
    std::copy(bytes.begin(), bytes.end(), block.begin() + place.offset);
  }
  return block;
}

void PlanMemory::ResetArguments(const std::vector<core::BufferContent>& contents) {
  size_t argument = 0;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (plan_->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
    const core::BufferContent& content = contents[argument++];
    const Buffer& buffer = buffers_[i];
    std::copy(content.bytes.begin(), content.bytes.end(), memory_.Bytes(buffer.address, buffer.bytes).begin());
    const Allocation* allocation = memory_.Find(buffer.address);
    if (content.uninitialized && allocation && allocation->written)
      std::memset(allocation->written + buffer.guard, 0, buffer.bytes);
  }
}

void PlanMemory::Settle() {
  for (const Buffer& buffer : buffers_) {
    const Allocation* allocation = memory_.Find(buffer.address);
    if (!allocation || !allocation->written) continue;
    if (buffer.sparse) {
      static constexpr std::byte kZero{0};
      if (allocation->content.empty()) memory_.SetContent(buffer.address, {&kZero, 1});
      continue;
    }
    for (uint64_t i = 0; i < allocation->bytes; ++i) {
      if (allocation->written[i] || (allocation->found && allocation->found[i] != Allocation::kNothing)) continue;
      allocation->data[i] = std::byte{0};
      allocation->written[i] = 0xff;
    }
  }
}

std::vector<core::WrittenPart> PlanMemory::Parts(const std::vector<core::BufferContent>& contents,
                                                 uint64_t most) const {
  std::vector<core::WrittenPart> parts;
  uint32_t argument = 0;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (plan_->buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
    const uint32_t index = argument++;
    const Allocation* allocation = memory_.Find(buffers_[i].address);
    if (!buffers_[i].sparse || allocation == nullptr || contents[index].read_only) continue;
    for (const core::ByteRange& range : Memory::Values(*allocation, most)) {
      const std::byte* data = allocation->data;
      parts.push_back({index, range.begin, std::vector<std::byte>(data + range.begin, data + range.end)});
    }
  }
  return parts;
}

std::vector<core::GuardViolation> PlanMemory::ViolatedGuards() const {
  std::vector<core::GuardViolation> violations;
  for (size_t index = 0; index < buffers_.size(); ++index) {
    const Buffer& buffer = buffers_[index];
    std::vector<std::byte> expected(buffer.guard);
    for (const bool behind : {false, true}) {
      if (buffer.guard == 0) continue;
      FillRandom(expected, options_.seed, kGuardStream + 2 * index + behind);
      const std::span<std::byte> band =
          memory_.Bytes(behind ? buffer.address + buffer.bytes : buffer.address - buffer.guard, buffer.guard);
      core::GuardViolation violation;
      for (uint64_t i = 0; i < buffer.guard; ++i) {
        if (band[i] == expected[i]) continue;
        const int64_t offset = behind ? static_cast<int64_t>(buffer.bytes + i)
                                      : static_cast<int64_t>(i) - static_cast<int64_t>(buffer.guard);
        if (violation.bytes++ == 0) violation.offset = offset;
      }
      if (violation.bytes == 0) continue;
      violation.buffer = plan_->buffers[index].name;
      violations.push_back(std::move(violation));
    }
  }
  return violations;
}

}  // namespace warpwright::sim
