#include "sim/stream_conflicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/stream_order.h"

namespace warpwright::sim {
namespace {

// The first byte that is in both.
std::optional<uint64_t> Common(const Touched::Ranges& a, const Touched::Ranges& b) {
  auto mine = a.begin();
  for (auto other = b.begin(); mine != a.end() && other != b.end();) {
    const uint64_t begin = std::max(mine->begin, other->begin), end = std::min(mine->end, other->end);
    if (begin < end) return begin;
    if (mine->end < other->end) ++mine;
    else ++other;
  }
  return std::nullopt;
}

// Atomic operations may come in any order.
std::optional<uint64_t> Conflict(const Touched& a, const Touched& b) {
  const Touched::Ranges* pairs[][2] = {{&a.written, &b.written},   {&a.written, &b.read},   {&a.read, &b.written},
                                       {&a.written, &b.exchanged}, {&a.exchanged, &b.read}, {&a.exchanged, &b.written},
                                       {&a.read, &b.exchanged}};
  for (const auto& [mine, other] : pairs)
    if (const auto at = Common(*mine, *other)) return at;
  return std::nullopt;
}

}  // namespace

StreamConflicts::StreamConflicts(const PlanMemory& memory)
    : ops_(memory.plan().ops), memory_(memory), before_(core::AlwaysBefore(memory.plan())), touched_(ops_.size()) {
  for (size_t i = 0; i < ops_.size(); ++i)
    any_ |= std::count(before_[i].begin(), before_[i].begin() + static_cast<std::ptrdiff_t>(i), false) > 0;
}

std::string StreamConflicts::Describe(size_t index) const {
  const core::PlanOp& op = ops_[index];
  if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) return launch->kernel;
  return std::holds_alternative<core::MemsetOp>(op) ? "a memset" : "a copy";
}

std::string StreamConflicts::ElementAt(uint64_t address) const {
  const auto& buffers = memory_.buffers();
  for (size_t i = 0; i < buffers.size(); ++i)
    if (address >= buffers[i].address && address < buffers[i].address + buffers[i].bytes)
      return fmt::format("byte {} of {}", address - buffers[i].address, memory_.plan().buffers[i].name);
  return "a variable of the module";
}

std::optional<core::Fault> StreamConflicts::Note(size_t index, Touched touched) {
  touched_[index] = std::move(touched);
  for (size_t other = 0; other < index; ++other) {
    if (before_[index][other]) continue;
    const auto at = Conflict(touched_[index], touched_[other]);
    if (!at) continue;
    core::Fault fault;
    fault.kind = core::Fault::Kind::kNotVisible;
    fault.message = fmt::format("{} and {} run on streams that nothing orders, and both touch {}, one of them writing",
                                Describe(other), Describe(index), ElementAt(*at));
    if (const auto* launch = std::get_if<core::KernelLaunch>(&ops_[index])) {
      fault.kernel = launch->kernel;
      fault.file = launch->file;
      fault.line = launch->line;
    }
    return fault;
  }
  return std::nullopt;
}

std::optional<core::Fault> StreamConflicts::Note(size_t index) {
  Touched touched;
  const core::PlanOp& op = ops_[index];
  const auto add = [&](Touched::Ranges& ranges, const core::DevicePointer& pointer, uint64_t bytes) {
    Touched::Add(ranges, memory_.Address(pointer), bytes);
  };
  const auto add_symbol = [&](Touched::Ranges& ranges, const std::string& symbol, uint64_t offset, uint64_t bytes) {
    if (const auto address = memory_.VariableAddress(symbol, offset)) Touched::Add(ranges, *address, bytes);
  };
  if (const auto* memset = std::get_if<core::MemsetOp>(&op)) add(touched.written, memset->destination, memset->bytes);
  if (const auto* upload = std::get_if<core::UploadOp>(&op))
    add(touched.written, upload->destination, upload->bytes.size());
  if (const auto* copy = std::get_if<core::CopyOp>(&op)) {
    add(touched.written, copy->destination, copy->bytes);
    add(touched.read, copy->source, copy->bytes);
  }
  if (const auto* upload = std::get_if<core::SymbolUploadOp>(&op))
    add_symbol(touched.written, upload->symbol, upload->offset, upload->bytes.size());
  if (const auto* copy = std::get_if<core::SymbolCopyOp>(&op)) {
    add(copy->to_symbol ? touched.read : touched.written, copy->buffer, copy->bytes);
    add_symbol(copy->to_symbol ? touched.written : touched.read, copy->symbol, copy->offset, copy->bytes);
  }
  return Note(index, std::move(touched));
}

}  // namespace warpwright::sim
