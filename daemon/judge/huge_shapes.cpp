#include "judge/huge_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "base/random.h"
#include "core/run_notes.h"
#include "core/typed_values.h"
#include "judge/plain_difference.h"
#include "judge/shapes.h"

namespace warpwright::judge {
namespace {

// A prime number of pages: an offset that lost its upper bits reads something else, and the simulator maps the same
// ones over and over.
constexpr uint64_t kTileElements = 241 * 1024;
constexpr uint64_t kInstructions = 20'000'000, kFactorOfCandidate = 4, kInstructionsAsWritten = 160'000'000;
// Of sizes beyond 16 bits, one of whose blocks may go through all of them.
constexpr uint64_t kInstructionsBeyondShorts = 8'000'000'000;
constexpr uint64_t kHugeStream = 81;

// Anywhere in the file: of its kernels, helpers and constants any may be part of an index.
bool MentionsWideIntegers(const std::string& text) {
  static const std::regex kWide(R"(\b(size_t|ptrdiff_t|long|u?int64_t|u?intptr_t)\b)");
  return std::regex_search(text, kWide);
}

core::ExecuteOptions Sample(uint64_t instructions) {
  core::ExecuteOptions options;
  options.sample_instructions = options.instruction_limit = instructions;
  options.spread = true;
  return options;
}

bool IsUntested(const core::Verdict& verdict) {
  const auto* faulted = std::get_if<core::Faulted>(&verdict);
  return faulted != nullptr && (faulted->fault.kind == core::Fault::Kind::kNotSimulated ||
                                faulted->fault.kind == core::Fault::Kind::kInstructionLimit);
}

// What an index that overflowed leads to: nowhere, or into another buffer.
bool IsAccessElsewhere(const core::Verdict& verdict) {
  const auto* faulted = std::get_if<core::Faulted>(&verdict);
  return faulted != nullptr && (faulted->fault.kind == core::Fault::Kind::kOutOfBounds ||
                                faulted->fault.kind == core::Fault::Kind::kUninitializedRead);
}

// The elements that both have written, one behind the other.
struct Common {
  std::vector<std::byte> original, candidate;
  std::vector<uint64_t> index;  // of each in the buffer
};
Common CommonElements(const std::vector<core::WrittenPart>& original, const std::vector<core::WrittenPart>& candidate,
                      uint32_t buffer, size_t size) {
  Common common;
  auto mine = candidate.begin();
  for (const core::WrittenPart& part : original) {
    if (part.buffer != buffer) continue;
    const uint64_t end = part.offset + part.bytes.size();
    while (mine != candidate.end() &&
           (mine->buffer < buffer || (mine->buffer == buffer && mine->offset + mine->bytes.size() <= part.offset)))
      ++mine;
    for (auto other = mine; other != candidate.end() && other->buffer == buffer && other->offset < end; ++other) {
      const uint64_t from = (std::max(part.offset, other->offset) + size - 1) / size * size,
                     to = std::min(end, other->offset + other->bytes.size()) / size * size;
      for (uint64_t at = from; at < to; at += size) {
        const std::byte *theirs = part.bytes.data() + (at - part.offset),
                        *ours = other->bytes.data() + (at - other->offset);
        common.original.insert(common.original.end(), theirs, theirs + size);
        common.candidate.insert(common.candidate.end(), ours, ours + size);
        common.index.push_back(at / size);
      }
    }
  }
  return common;
}

// The same of buffers that are held whole, where what a sample does not write is as it was, or zero.
Common CommonElements(const base::Bytes& original, const base::Bytes& candidate, const base::Bytes& before,
                      size_t size) {
  const std::vector<std::byte> zero(size);
  const auto is_written = [&](const base::Bytes& bytes, size_t e) {
    return !core::IsSameElement(bytes.data(), before.data(), e, size) &&
           std::memcmp(bytes.data() + e * size, zero.data(), size) != 0;
  };
  Common common;
  for (size_t e = 0; e < original.size() / size; ++e) {
    if (!is_written(original, e) || !is_written(candidate, e)) continue;
    common.original.insert(common.original.end(), original.data() + e * size, original.data() + (e + 1) * size);
    common.candidate.insert(common.candidate.end(), candidate.data() + e * size, candidate.data() + (e + 1) * size);
    common.index.push_back(e);
  }
  return common;
}

double OutputElements(const core::KernelSpec& spec, const core::Case& c) {
  double elements = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn || buffer->role == core::Role::kScratch) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) continue;
    double count = 1;
    for (const int64_t extent : *shape) count *= static_cast<double>(extent);
    elements += count;
  }
  return elements;
}

bool WasCutShort(const core::Executed& run) {
  return std::find(run.notes.begin(), run.notes.end(), core::kCutShort) != run.notes.end();
}

// The first and one past the last byte that a sample wrote.
core::ByteRange ReachOf(const std::vector<core::WrittenPart>& parts, uint32_t buffer) {
  core::ByteRange reach{UINT64_MAX, 0};
  for (const core::WrittenPart& part : parts) {
    if (part.buffer != buffer) continue;
    reach.begin = std::min(reach.begin, part.offset);
    reach.end = std::max(reach.end, part.offset + part.bytes.size());
  }
  return reach;
}

// The first and the last blocks are among both samples, and with them, in whatever order a version divides its work,
// the neighbourhood of both ends of the buffer.
bool LeavesEndOut(const core::ByteRange& original, const core::ByteRange& candidate, uint64_t bytes) {
  const uint64_t near = bytes / 64, far = bytes / 8;
  return (original.end + near >= bytes && candidate.end + far < bytes) ||
         (original.begin <= near && candidate.begin > far);
}

}  // namespace

std::string HugeShapes::Device() const { return state_.on_simulator() ? state_.device : state_.options.simulator; }

Result<RunOutcome> HugeShapes::Execute(const core::SourceRef& source, core::Evaluator& evaluator,
                                       const core::Case& shape, const std::vector<core::BufferContent>& inputs,
                                       core::ExecuteOptions options) const {
  RunConfiguration setting{
      .source = &source, .spec = &state_.spec, .c = &shape, .device = Device(), .options = options};
  setting.options.lines = &source == &candidate_ && lines_;
  return RunKernel(evaluator, setting, inputs);
}

std::optional<Mismatch> HugeShapes::Compare(const core::Case& shape, const std::vector<core::BufferContent>& inputs,
                                            const core::Executed& original, const core::Executed& candidate) const {
  if (original.launches.size() > 1 || candidate.launches.size() > 1) return std::nullopt;
  const auto adds = [](const core::LaunchReport& launch) { return launch.counters.atomic_requests > 0; };
  if (std::any_of(original.launches.begin(), original.launches.end(), adds)) return std::nullopt;
  if (state_.spec.allow.contains(core::Allow::kNondeterministic)) return std::nullopt;
  if (WasCutShort(original) || WasCutShort(candidate)) return std::nullopt;  // what is there need not be final
  uint32_t index = 0;
  for (const core::Argument& argument : state_.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const uint32_t i = index++;
    if (buffer->role != core::Role::kOut) continue;
    const bool in_parts = inputs[i].repeated_bytes > 0;
    const size_t size = core::SizeOf(buffer->dtype);
    const core::ByteRange reach = ReachOf(candidate.parts, i);
    if (in_parts && LeavesEndOut(ReachOf(original.parts, i), reach, inputs[i].repeated_bytes)) {
      const std::string written =
          reach.end == 0 ? "nothing" : fmt::format("elements {} to {}", reach.begin / size, reach.end / size);
      return Mismatch{.output = argument.name,
                      .message = fmt::format("the first and the last blocks write {} of {}'s {} elements", written,
                                             argument.name, inputs[i].repeated_bytes / size)};
    }
    const Common common = in_parts ? CommonElements(original.parts, candidate.parts, i, size)
                                   : CommonElements(original.buffers[i], candidate.buffers[i], inputs[i].bytes, size);
    if (common.index.empty() || !ArePlainlyOther(buffer->dtype, common.original, common.candidate)) continue;
    const OutputLayout layout{.name = argument.name,
                              .dtype = buffer->dtype,
                              .shape = {static_cast<int64_t>(common.index.size())},
                              .accumulation = EstimateAccumulation(state_.spec, shape, argument),
                              .kept = KeptRounding(state_.spec)};
    const OutputReference reference{.bytes = std::vector(common.original)};
    const Comparator comparator(layout, reference, state_.leniency, state_.TightenOf(argument.name));
    auto mismatch = comparator.Check(common.candidate);
    if (!mismatch) continue;
    const uint64_t at = mismatch->index < common.index.size() ? common.index[mismatch->index] : common.index.front();
    mismatch->message = fmt::format(
        "of the elements that a sample of the blocks writes, those of {} are others from "
        "element {} on: {}",
        argument.name, at, mismatch->message);
    return mismatch;
  }
  return std::nullopt;
}

// Signed overflow is undefined: where the original's own indices overflow, its usual build may work by luck (a compiler
// that adds up a pointer instead), and the candidate's, of the same arithmetic, may not. Where the original was cut
// short, nobody saw what it accesses in the rest of its loops; a text that counts nothing in 64 bits overflows there.
Result<bool> HugeShapes::MayBeTheOriginals(const core::Case& shape, const std::vector<core::BufferContent>& inputs,
                                           const core::Executed& original) const {
  if (WasCutShort(original)) return !MentionsWideIntegers(state_.original.text);
  core::ExecuteOptions options = Sample(kInstructionsAsWritten);
  options.as_written = true;
  WW_ASSIGN(const RunOutcome again, Execute(state_.original, trusted_, shape, inputs, options));
  const auto* verdict = std::get_if<core::Verdict>(&again);
  return verdict != nullptr && IsAccessElsewhere(*verdict);
}

Result<std::optional<Failure>> HugeShapes::TryShape(const core::Case& shape, uint64_t seed, uint64_t instructions,
                                                    std::optional<core::Verdict>& why) {
  using Tried = std::optional<Failure>;
  const auto inputs = MakeRepeatedInputs(state_.spec, shape, seed, state_.options.repository, kTileElements);
  if (!inputs) return Tried();  // the manifest does not allow it, or its inputs are files
  core::ExecuteOptions counted = Sample(instructions);
  counted.counters = true;  // whether its blocks add up results
  const auto original = Execute(state_.original, trusted_, shape, *inputs, counted);
  if (!original) return Tried();
  if (const auto* verdict = std::get_if<core::Verdict>(&*original)) {
    why = *verdict;
    return Tried();
  }
  const auto ran = Execute(candidate_, evaluator_, shape, *inputs, Sample(kFactorOfCandidate * instructions));
  if (!ran) {
    if (ran.error().code != ErrorCode::kUnsupported && ran.error().code != ErrorCode::kEnvironment)
      return Fail(ran.error());
    notes_.push_back(fmt::format("odd-shape: not tested with {}: {}", shape.name, ran.error().message));
    return Tried(Failure());
  }
  if (const auto* verdict = std::get_if<core::Verdict>(&*ran)) {
    if (IsUntested(*verdict)) return Tried(Failure());
    if (IsAccessElsewhere(*verdict)) {
      WW_ASSIGN(const bool own, MayBeTheOriginals(shape, *inputs, std::get<core::Executed>(*original)));
      if (own) {
        notes_.push_back(
            fmt::format("odd-shape: not tested with {}: the original's own indices overflow there, or its loops "
                        "are too long to be followed",
                        shape.name));
        return Tried();
      }
    }
    core::Verdict failed = *verdict;
    if (auto* refused = std::get_if<core::Refused>(&failed))
      refused->reason += fmt::format(" (with {}, which the original handles)", shape.name);
    return Tried(Failure(std::move(failed)));
  }
  const core::Executed& run = std::get<core::Executed>(*ran);
  const Trial trial{.check = core::Check::kOddShape, .c = shape, .seed = seed};
  ran_.push_back(run.lines);
  if (auto mismatch = Compare(shape, *inputs, std::get<core::Executed>(*original), run))
    return Tried(Failure(Wrong(core::Check::kOddShape, trial, mismatch->message, mismatch->sample)));
  return Tried(Failure());
}

Result<Failure> HugeShapes::Try(const core::Case& c, uint64_t secret, const std::vector<double>& named) {
  if (Device().empty()) return Failure();
  const base::CounterRandom seeds(secret, kHugeStream);
  uint64_t index = 0;
  bool tried = false;
  std::optional<core::Verdict> why;
  for (const HugeShape& huge : HugeShapesOf(state_.spec, c, secret, named))
    for (const core::Case& shape : huge.largest_first) {
      WW_ASSIGN(const std::optional<Failure> failure, TryShape(shape, seeds.Bits(index++), kInstructions, why));
      if (!failure) continue;  // a smaller one
      tried = true;
      if (*failure) return *failure;
      break;
    }
  if (!tried && why)
    notes_.push_back("odd-shape: not tested with more than 2^31 elements: the original itself: " +
                     core::VerdictMessage(*why));
  WW_ASSIGN(Failure failure, TryBeyondShorts(c, secret));
  if (!failure) {
    WW_ASSIGN(failure, TryOtherDevices(secret));
  }
  return failure;
}

Result<Failure> HugeShapes::TryOtherDevices(uint64_t secret) {
  if (!state_.on_simulator()) return Failure();  // what is declared for it alone is small, and is run whole
  const base::CounterRandom seeds(secret, kHugeStream + 2);
  uint64_t index = 0;
  std::optional<core::Verdict> why;
  for (const core::Case& declared : state_.spec.cases) {
    if (declared.on.contains(core::DeviceKind::kSim)) continue;
    WW_ASSIGN(const std::optional<Failure> failure, TryShape(declared, seeds.Bits(index++), kInstructions, why));
    if (failure && *failure) return *failure;
  }
  return Failure();
}

// Thread instructions of one of the original's blocks, of which there are as many more as there are results; nothing
// where it launches several kernels, whose results a sample does not tell.
std::optional<double> HugeShapes::InstructionsOfBlock(const core::Case& shape, const ShapeWork& work) const {
  const auto* original = std::get_if<core::Measured>(&state_.baseline->original);
  if (original == nullptr) return std::nullopt;
  for (const core::CaseMeasurement& measured : original->cases)
    for (const core::Case& c : state_.spec.cases) {
      if (c.name != measured.case_name) continue;
      if (measured.launches.size() != 1) return std::nullopt;
      const double blocks = static_cast<double>(measured.launches.front().blocks_total) *
                            OutputElements(state_.spec, shape) / std::max(1.0, OutputElements(state_.spec, c));
      return work.InstructionsAt(shape).value_or(0) / std::max(1.0, blocks);
    }
  return std::nullopt;
}

// Those that are tried whole (GeneratedShapes::Long) are left out.
Result<Failure> HugeShapes::TryBeyondShorts(const core::Case& c, uint64_t secret) {
  constexpr double kBlocks = 10;  // of a sample (sim/launch_runner.h)
  ShapeWork work(state_.spec, state_.oracle.form());
  for (const VerifiedCase& verified : state_.verified) work.AddMeasured(*verified.c, verified.instructions);
  const base::CounterRandom seeds(secret, kHugeStream + 1);
  uint64_t index = 0;
  std::optional<core::Verdict> why;
  for (const core::Case& shape : ShapesBeyondShorts(state_.spec, c, secret)) {
    const uint64_t seed = seeds.Bits(index++);
    if (work.InstructionsAt(shape).value_or(0) <= static_cast<double>(state_.options.max_long_instructions)) continue;
    const auto of_block = InstructionsOfBlock(shape, work);
    if (!of_block || kBlocks * *of_block > static_cast<double>(kInstructionsBeyondShorts)) continue;
    WW_ASSIGN(const std::optional<Failure> failure, TryShape(shape, seed, kInstructionsBeyondShorts, why));
    if (failure && *failure) return *failure;
  }
  return Failure();
}

void HugeShapes::Tell(Judge::State& state, AddedCode& added) const {
  for (const std::string& note : notes_) state.Note(note);
  for (const std::vector<core::LineUse>& lines : ran_) added.Saw(lines, AddedCode::Sizes::kOther);
}

}  // namespace warpwright::judge
