#include "worker/recordings.h"

#include <fmt/format.h>

#include <chrono>

#include "base/hash.h"

namespace warpwright::worker {
namespace {

constexpr size_t kMostPlans = 512, kMostUnderWay = 4;
constexpr size_t kHostReadableBytes = 4096;  // inputs up to this size may be read by the launcher on the host

std::vector<source::RecordBuffer> RecordBuffers(const std::vector<core::BufferContent>& contents) {
  std::vector<source::RecordBuffer> buffers;
  for (const auto& content : contents) {
    source::RecordBuffer buffer{.name = content.name,
                                .bytes = content.Size(),
                                .pointer_offset = content.pointer_offset,
                                .same_as = content.same_as,
                                .absent = content.absent};
    if (content.read_only && content.Size() <= kHostReadableBytes) buffer.content = content.bytes.Copy();
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

void AddExpressions(base::Hasher& hasher, const std::vector<core::Expression>& expressions) {
  hasher.Add(std::to_string(expressions.size()));
  for (const auto& expression : expressions) hasher.Add(expression.text());
}

// Everything that RecordPlan depends on, but for what inputs hold.
std::string PlanKey(const source::Slices& slices, const core::KernelSpec& spec,
                    const std::map<std::string, core::ScalarValue>& scalars,
                    const std::vector<source::RecordBuffer>& buffers, const core::Chip& chip) {
  base::Hasher hasher;
  hasher.Add(slices.Digest()).Add(slices.entry).Add(chip.id);
  for (const auto& argument : spec.args) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    hasher.Add(argument.name).Add(scalar != nullptr ? core::Name(scalar->dtype) : "buffer");
  }
  if (const auto& launch = spec.launch) {
    AddExpressions(hasher, launch->grid);
    AddExpressions(hasher, launch->block);
    hasher.Add(launch->shared_bytes ? launch->shared_bytes->text() : "");
  }
  for (const auto& [name, value] : scalars)
    hasher.Add(name)
        .Add(std::visit([](auto v) { return fmt::format("{}", v); }, value))
        .Add(std::to_string(value.index()));
  for (const auto& buffer : buffers)
    hasher.Add(buffer.name)
        .Add(std::to_string(buffer.bytes))
        .Add(std::to_string(buffer.pointer_offset))
        .Add(buffer.absent    ? "absent"
             : buffer.same_as ? std::to_string(*buffer.same_as)
                              : "")
        .Add(buffer.content.empty() ? "" : "readable");
  return hasher.Finish();
}

// With it.
std::string PlanKeyOf(const std::string& plan_key, const std::vector<source::RecordBuffer>& buffers) {
  base::Hasher hasher;
  hasher.Add(plan_key);
  for (const auto& buffer : buffers) hasher.Add(std::span<const std::byte>(buffer.content));
  return hasher.Finish();
}

}  // namespace

std::string RecordingKey(const RecordedCall& call) {
  const auto buffers = RecordBuffers(call.buffers);
  return PlanKeyOf(PlanKey(*call.slices, call.spec, call.scalars, buffers, call.chip), buffers);
}

source::RecordRequest Recordings::RequestFor(const RecordedCall& call) const {
  source::RecordRequest request;
  request.spec = &call.spec;
  request.scalars = call.scalars;
  request.buffers = RecordBuffers(call.buffers);
  request.chip = call.chip;
  request.cache = cache_;
  return request;
}

Recordings::Outcome Recordings::Remember(const std::string& of_any, const std::string& of_these, Outcome outcome) {
  if (!outcome) return outcome;
  if (plans_.size() > kMostPlans) plans_.clear();
  const auto* recorded = std::get_if<source::Recorded>(&*outcome);
  const bool any = recorded != nullptr && !recorded->read_inputs;
  return plans_.emplace(any ? of_any : of_these, std::move(*outcome)).first->second;
}

Result<source::RecordOutcome> Recordings::Of(const RecordedCall& call, const std::function<void()>& announce) {
  const auto buffers = RecordBuffers(call.buffers);
  // Most launchers read no input: one recording then is that of all contents.
  const std::string of_any = PlanKey(*call.slices, call.spec, call.scalars, buffers, call.chip);
  const std::string of_these = PlanKeyOf(of_any, buffers);
  for (const std::string& key : {of_any, of_these})
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  announce();
  if (auto begun = under_way_.extract(of_these); !begun.empty())
    return Remember(of_any, of_these, begun.mapped().get());
  return Remember(of_any, of_these, source::RecordPlan(*call.slices, RequestFor(call)));
}

void Recordings::Begin(const RecordedCall& call) {
  const auto buffers = RecordBuffers(call.buffers);
  const std::string of_any = PlanKey(*call.slices, call.spec, call.scalars, buffers, call.chip);
  const std::string key = PlanKeyOf(of_any, buffers);
  if (plans_.contains(of_any) || plans_.contains(key) || under_way_.contains(key)) return;
  // Where they become too many, nobody asked for what is done and still here: the task went another way.
  if (under_way_.size() >= kMostUnderWay)
    std::erase_if(under_way_, [](const auto& item) {
      return item.second.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
  if (under_way_.size() >= kMostUnderWay) return;
  under_way_.emplace(key, std::async(std::launch::async,
                                     [slices = call.slices, spec = call.spec, request = RequestFor(call)]() mutable {
                                       request.spec = &spec;
                                       return source::RecordPlan(*slices, request);
                                     }));
}

}  // namespace warpwright::worker
