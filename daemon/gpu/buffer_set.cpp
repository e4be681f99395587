#include "gpu/buffer_set.h"

#include <algorithm>

namespace warpwright::gpu {
namespace {

constexpr uint64_t kAlignment = 256;  // that of cuMemAlloc
uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

uint64_t BufferSet::BytesOf(const core::LaunchPlan& plan, const Layout& layout) {
  uint64_t bytes = RoundUp(layout.guard_bytes, kAlignment);
  for (const core::PlanBuffer& buffer : plan.buffers)
    bytes += RoundUp(buffer.bytes, kAlignment) + RoundUp(layout.guard_bytes, kAlignment) + kAlignment;
  return bytes;
}

Result<BufferSet> BufferSet::Allocate(Context& context, Tools& tools, const core::LaunchPlan& plan,
                                      const std::vector<core::BufferContent>& contents, const Layout& layout) {
  BufferSet set;
  set.tools_ = &tools;
  set.seed_ = layout.seed;
  std::vector<int64_t> offsets;
  size_t argument = 0;
  for (const core::PlanBuffer& buffer : plan.buffers) {
    int64_t offset = 0;
    if (buffer.kind == core::PlanBuffer::Kind::kArgument) {
      if (argument >= contents.size() || contents[argument].bytes.size() != buffer.bytes)
        return Fail(ErrorCode::kCorrupt, "a plan whose buffers are not those of the request");
      offset = contents[argument++].pointer_offset;
    }
    set.allocations_.push_back({buffer.name, 0, buffer.bytes});
    offsets.push_back(offset);
  }
  if (layout.exact != core::PageGuard::kNone) WW_TRY(set.AllocateExact(context, offsets, layout.exact));
  else WW_TRY(set.AllocateBanded(context, offsets, layout));
  for (const GuardBand& band : set.bands_) WW_TRY(tools.FillPattern(band.address, band.bytes, set.seed_));
  return set;
}

Status BufferSet::AllocateBanded(Context& context, const std::vector<int64_t>& offsets, const Layout& layout) {
  uint64_t total = layout.guard_bytes;
  std::vector<uint64_t> starts;
  for (size_t i = 0; i < allocations_.size(); ++i) {
    starts.push_back(RoundUp(total, kAlignment) + static_cast<uint64_t>(offsets[i]));
    total = starts.back() + allocations_[i].bytes + layout.guard_bytes;
  }
  WW_ASSIGN(arena_, DeviceMemory::Allocate(context, total));
  uint64_t at = 0;
  for (size_t i = 0; i <= allocations_.size(); ++i) {
    const uint64_t end = i < allocations_.size() ? starts[i] : total;
    if (end > at) bands_.push_back({arena_.address() + at, end - at, i > 0 ? i - 1 : allocations_.size(), i});
    if (i == allocations_.size()) break;
    allocations_[i].address = arena_.address() + starts[i];
    at = starts[i] + allocations_[i].bytes;
  }
  return {};
}

Status BufferSet::AllocateExact(Context& context, const std::vector<int64_t>& offsets, core::PageGuard where) {
  for (size_t i = 0; i < allocations_.size(); ++i) {
    Allocation& place = allocations_[i];
    const uint64_t room = RoundUp(place.bytes + static_cast<uint64_t>(offsets[i]), kAlignment);
    WW_ASSIGN(MappedMemory memory, MappedMemory::Map(context, std::max<uint64_t>(room, kAlignment)));
    const uint64_t begin = where == core::PageGuard::kEnds ? memory.bytes() - room : 0;
    place.address = memory.address() + begin + static_cast<uint64_t>(offsets[i]);
    const uint64_t before = place.address - memory.address(), behind = memory.bytes() - before - place.bytes;
    if (before > 0) bands_.push_back({memory.address(), before, allocations_.size(), i});
    if (behind > 0) bands_.push_back({place.address + place.bytes, behind, i, allocations_.size()});
    mapped_.push_back(std::move(memory));
  }
  return {};
}

Status BufferSet::Protect(const std::vector<core::BufferContent>& contents) {
  for (size_t i = 0; i < contents.size() && i < mapped_.size(); ++i)
    if (contents[i].read_only) WW_TRY(mapped_[i].Protect());
  return {};
}

Result<std::vector<core::GuardViolation>> BufferSet::CheckGuards() const {
  std::vector<core::GuardViolation> violations;
  for (const GuardBand& band : bands_) {
    WW_ASSIGN(const PatternMismatch damage, tools_->CheckPattern(band.address, band.bytes, seed_));
    if (damage.bytes == 0) continue;
    // The nearer neighbour is the more likely cause.
    const bool has_before = band.before < allocations_.size(), has_behind = band.behind < allocations_.size();
    const bool blame_before = has_before && (!has_behind || damage.first < band.bytes / 2);
    const Allocation& place = allocations_[blame_before ? band.before : band.behind];
    const auto first = static_cast<int64_t>(band.address + damage.first) - static_cast<int64_t>(place.address);
    violations.push_back({place.name, first, damage.bytes});
  }
  return violations;
}

}  // namespace warpwright::gpu
