#include "sim/extent_shadow.h"

#include <algorithm>
#include <bit>

#include "sim/exec/address.h"
#include "sim/exec/async_copy.h"
#include "sim/instruction.h"

namespace warpwright::sim {

ExtentShadow::ExtentShadow(const core::LaunchPlan& plan, const PlanMemory& memory) : memory_(memory) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].kind != core::PlanBuffer::Kind::kArgument) continue;
    const PlanMemory::Buffer& placed = memory.buffers()[i];
    Buffer buffer{.address = placed.address, .bytes = placed.bytes};
    buffer.extent.buffer = plan.buffers[i].name;
    buffer.read.assign(placed.bytes, false);
    buffer.written.assign(placed.bytes, false);
    by_address_.push_back(buffers_.size());
    buffers_.push_back(std::move(buffer));
  }
  std::sort(by_address_.begin(), by_address_.end(),
            [&](size_t a, size_t b) { return buffers_[a].address < buffers_[b].address; });
}

// Accesses that are not inside one argument are a workspace's, a variable's, or about to be a fault.
ExtentShadow::Buffer* ExtentShadow::Find(uint64_t address, uint64_t bytes) {
  const auto holds = [&](const Buffer& b) {
    return address >= b.address && address - b.address <= b.bytes && bytes <= b.bytes - (address - b.address);
  };
  if (last_ != nullptr && holds(*last_)) return last_;
  const auto after = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                      [&](uint64_t a, size_t i) { return a < buffers_[i].address; });
  if (after == by_address_.begin()) return nullptr;
  Buffer& found = buffers_[*(after - 1)];
  return holds(found) ? last_ = &found : nullptr;
}

void ExtentShadow::Read(uint64_t address, uint64_t bytes) {
  Buffer* buffer = Find(address, bytes);
  if (buffer == nullptr) return;
  const uint64_t first = address - buffer->address;
  for (uint64_t b = first; b < first + bytes; ++b) {
    if (!buffer->written[b]) buffer->extent.reads_initial = true;
    if (!buffer->read[b]) ++buffer->extent.read_bytes;
    buffer->read[b] = true;
  }
  buffer->extent.read_end = std::max(buffer->extent.read_end, first + bytes);
}

void ExtentShadow::Write(uint64_t address, uint64_t bytes) {
  Buffer* buffer = Find(address, bytes);
  if (buffer == nullptr) return;
  const uint64_t first = address - buffer->address;
  for (uint64_t b = first; b < first + bytes; ++b) {
    if (!buffer->written[b]) ++buffer->extent.written_bytes;
    buffer->written[b] = true;
  }
  buffer->extent.written_end = std::max(buffer->extent.written_end, first + bytes);
}

void ExtentShadow::Before(const Context& c, const Instruction& in, uint32_t lanes) {
  if (in.op == Op::kAsyncCopy) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if (const uint32_t bytes = SourceBytes(c, in, lane); bytes > 0) Read(AddressOf(c, in, 1, lane).address, bytes);
    }
    return;
  }
  const bool stores = in.op == Op::kStore, updates = in.op == Op::kAtomic || in.op == Op::kReduction;
  if (in.op != Op::kLoad && !stores && !updates) return;
  const uint64_t bytes = static_cast<uint64_t>(ByteSize(in.type)) * in.vector;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const AccessAddress at = AddressOf(c, in, stores ? 0 : in.defs, static_cast<uint32_t>(std::countr_zero(m)));
    if (at.space != Space::kGlobal) continue;
    if (!stores) Read(at.address, bytes);
    if (stores || updates) Write(at.address, bytes);
  }
}

void ExtentShadow::Apply(const core::PlanOp& op) {
  std::visit(
      Overload{[&](const core::MemsetOp& o) { Write(memory_.Address(o.destination), o.bytes); },
               [&](const core::UploadOp& o) { Write(memory_.Address(o.destination), o.bytes.size()); },
               [&](const core::CopyOp& o) {
                 Read(memory_.Address(o.source), o.bytes);
                 Write(memory_.Address(o.destination), o.bytes);
               },
               [&](const core::SymbolCopyOp& o) {
                 o.to_symbol ? Read(memory_.Address(o.buffer), o.bytes) : Write(memory_.Address(o.buffer), o.bytes);
               },
               [](const core::SymbolUploadOp&) {}, [](const core::KernelLaunch&) {}, [](const core::EventOp&) {}},
      op);
}

std::vector<core::BufferExtent> ExtentShadow::Extents() const {
  std::vector<core::BufferExtent> extents;
  for (const Buffer& buffer : buffers_) extents.push_back(buffer.extent);
  return extents;
}

}  // namespace warpwright::sim
