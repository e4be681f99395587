#include "judge/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>

#include "base/parallel.h"
#include "judge/error_shares.h"
#include "judge/mismatch_pattern.h"

namespace warpwright::judge {
namespace {

constexpr double kReadShare = 0.9;     // of the bytes that the original needed
constexpr double kFloorMargin = 0.95;  // of the roofline
constexpr double kCachesNoMore = 2;    // times the L2: smaller cases may stay in it

bool SameElement(const base::Bytes& a, const base::Bytes& b, size_t element, size_t size) {
  return core::IsSameElement(a.data(), b.data(), element, size);
}

uint64_t BytesOf(const core::KernelSpec& spec, const core::Case& c, bool inputs) {
  uint64_t sum = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const bool in = buffer->role == core::Role::kIn || buffer->role == core::Role::kInOut;
    const bool out = buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut;
    if (!(inputs ? in : out)) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) continue;
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : *shape) bytes *= static_cast<uint64_t>(extent);
    sum += bytes;
  }
  return sum;
}

// The sum over the plan; nothing if a launch has no such count.
std::optional<uint64_t> Sum(const std::vector<core::LaunchReport>& launches, uint64_t core::Counters::* field,
                            const char* name) {
  uint64_t sum = 0;
  for (const core::LaunchReport& launch : launches) {
    if (launch.unmeasured.contains(name)) return std::nullopt;
    sum += launch.counters.*field;
  }
  return sum;
}

using UseKind = core::CodeUseKind;
using core::NumberFormat;

// Which check a use is for.
enum class UseCheck : uint8_t { kPrecision, kNote, kOrder, kBuild, kHost, kShared };
UseCheck CheckOf(UseKind kind) {
  switch (kind) {
    case UseKind::kApproximate:
    case UseKind::kFlushed: return UseCheck::kNote;
    case UseKind::kBuild:
    case UseKind::kBuildText: return UseCheck::kBuild;
    case UseKind::kEntry:
    case UseKind::kHost:
    case UseKind::kReturned: return UseCheck::kHost;
    case UseKind::kUnorderedSums: return UseCheck::kOrder;
    case UseKind::kOutside:
    case UseKind::kShared: return UseCheck::kShared;
    case UseKind::kArithmetic:
    case UseKind::kProducts:
    case UseKind::kSums:
    case UseKind::kConversion: break;
  }
  return UseCheck::kPrecision;
}
bool IsFor(UseCheck check, const core::FoundUse& found) { return CheckOf(found.use.kind) == check; }

bool HasBuffer(const core::KernelSpec& spec, NumberFormat format, const std::set<core::Role>& roles) {
  return std::any_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && core::FormatOf(buffer->dtype) == format && roles.contains(buffer->role);
  });
}

// How many, and the first.
struct Elements {
  size_t count = 0, first = std::numeric_limits<size_t>::max();
  void Merge(const Elements& other) {
    count += other.count;
    first = std::min(first, other.first);
  }
};

struct SquareSums {
  double values = 0, errors = 0;
  void Merge(const SquareSums& other) {
    values += other.values;
    errors += other.errors;
  }
};

// Whether the original adds in that format: nothing that it adds otherwise could leave without a conversion, or its
// results are as far from the truth as such sums.
bool SumsIn(const TrialReference& reference, NumberFormat format) {
  const auto has = [&](UseKind kind) { return reference.uses.contains(core::CodeUse{kind, format, {}}); };
  if (has(UseKind::kArithmetic) && !has(UseKind::kConversion)) return true;
  return std::any_of(reference.references.begin(), reference.references.end(),
                     [&](const OutputReference& r) { return core::FormatOf(r.accumulation) == format; });
}

}  // namespace

core::WrongResult Wrong(core::Check check, const Trial& trial, std::string message,
                        std::optional<core::WrongSample> sample) {
  return {.check = check, .case_name = trial.Describe(), .message = std::move(message), .sample = std::move(sample)};
}

Failure CheckSideEffects(const core::KernelSpec& spec, const Trial& trial,
                         const std::vector<core::BufferContent>& inputs, const core::Executed& run) {
  if (!run.guards.empty()) {
    const core::GuardViolation& broken = run.guards.front();
    size_t size = 0;
    for (const auto& input : inputs)
      if (input.name == broken.buffer) size = input.bytes.size();
    return Wrong(core::Check::kGuardBands, trial,
                 fmt::format("{} bytes outside {} were written, first at byte {} of a buffer of {}", broken.bytes,
                             broken.buffer, broken.offset, size));
  }
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    if (buffer->role != core::Role::kIn || run.buffers[i] == inputs[i].bytes) continue;
    const auto changed = std::mismatch(run.buffers[i].begin(), run.buffers[i].end(), inputs[i].bytes.begin()).first -
                         run.buffers[i].begin();
    return Wrong(core::Check::kInputHash, trial,
                 fmt::format("the input {} was changed, first at element {}", argument.name,
                             static_cast<size_t>(changed) / core::SizeOf(buffer->dtype)));
  }
  return std::nullopt;
}

Failure CheckUnwritten(const Trial& trial, const TrialReference& reference, const core::Executed& first,
                       const std::vector<core::BufferContent>& complemented, const core::Executed& second) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype),
                 count = first.buffers[i].size() / size;
    if (!reference.inputs[i].uninitialized) continue;  // inout: its old content is a result
    const auto& spared = reference.references[o].unwritten;
    const auto is_unwritten = [&](size_t e) {
      return SameElement(first.buffers[i], reference.inputs[i].bytes, e, size) &&
             SameElement(second.buffers[i], complemented[i].bytes, e, size) && (spared.empty() || !spared[e]);
    };
    size_t unwritten = 0, example = count;
    std::mutex mutex;
    base::ParallelFor(count, [&](size_t begin, size_t end) {
      size_t here = 0, earliest = count;
      for (size_t e = begin; e < end; ++e)
        if (is_unwritten(e) && here++ == 0) earliest = e;
      const std::lock_guard lock(mutex);
      unwritten += here;
      example = std::min(example, earliest);
    });
    if (unwritten == 0) continue;
    MismatchPattern pattern(reference.layouts[o].shape);
    for (size_t e = example; e < count; ++e)
      if (is_unwritten(e)) pattern.AddPlace(e);
    core::WrongSample sample{.wrong = unwritten, .elements = count, .pattern = pattern.Describe(count)};
    std::string message = fmt::format("{} is not written ({} of {} elements",
                                      ElementName(reference.layouts[o], example), unwritten, count);
    if (unwritten > 1 && !sample.pattern.empty()) message += ": " + sample.pattern;
    return Wrong(core::Check::kUnwrittenOutput, trial, message + ")", std::move(sample));
  }
  return std::nullopt;
}

Failure CheckPoison(const Trial& trial, const TrialReference& reference, const core::Executed& run) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype),
                 count = run.buffers[i].size() / size;
    const OutputReference& original = reference.references[o];
    if (!reference.inputs[i].uninitialized || !original.unwritten.empty() || original.bytes.size() != count * size)
      continue;
    const Elements found =
        base::ParallelSum<Elements>(count, base::kParallelChunk, [&](size_t begin, size_t end, Elements& part) {
          for (size_t e = begin; e < end; ++e)
            if (SameElement(run.buffers[i], reference.inputs[i].bytes, e, size) &&
                !SameElement(run.buffers[i], original.bytes, e, size))
              part.Merge({1, e});
        });
    const size_t poisoned = found.count, first = found.first;
    const size_t by_chance = size >= sizeof(float) ? 0 : std::min(count - std::min<size_t>(count, 1), 16 + count / 100);
    if (poisoned > by_chance)
      return Wrong(trial.check, trial,
                   fmt::format("{} is not written ({} of {} elements)", ElementName(reference.layouts[o], first),
                               poisoned, count));
  }
  return std::nullopt;
}

std::optional<std::string> DifferentOutput(const TrialReference& reference, const std::vector<base::Bytes>& first,
                                           const std::vector<base::Bytes>& second) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype);
    const auto& spared = reference.references[o].unwritten;
    if (spared.empty() && first[i] == second[i]) continue;
    for (size_t e = 0; e < first[i].size() / size; ++e)
      if (!SameElement(first[i], second[i], e, size) && (spared.empty() || !spared[e]))
        return ElementName(reference.layouts[o], e) + " differs";
  }
  return std::nullopt;
}

Failure CheckPrecision(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run) {
  using core::Role;
  static const std::set<Role> kRead = {Role::kIn, Role::kInOut}, kWritten = {Role::kOut, Role::kInOut},
                              kAny = {Role::kIn, Role::kOut, Role::kInOut, Role::kScratch};
  constexpr int kMostOthers = 3;
  const auto described = [](const core::CodeUse& use) {
    return (use.kind == UseKind::kConversion ? "conversions " : "") + core::Text(use);
  };
  std::optional<core::Refused> refused;
  int others = 0;  // named beside the first, so that whoever mends it need not find them one by one
  for (const core::FoundUse& found : run.uses) {
    const core::CodeUse& use = found.use;
    if (!IsFor(UseCheck::kPrecision, found) || reference.uses.contains(use)) continue;
    const auto has_buffer = [&](const std::set<Role>& roles) {
      return use.format && HasBuffer(spec, *use.format, roles);
    };
    const bool tf32 = use.format == NumberFormat::kTF32;
    if (spec.allow.contains(core::Allow::kReducedPrecision) || (tf32 && spec.allow.contains(core::Allow::kTf32)))
      continue;
    if (use.kind == UseKind::kProducts && has_buffer(kRead)) continue;
    // As the original sums: how far such sums may be off is known.
    if (use.kind == UseKind::kSums && use.format && SumsIn(reference, *use.format)) continue;
    // What adds in its output's own format, by matrix fragments for one, converts nothing; a sum in f32 has to.
    if (use.kind == UseKind::kConversion && has_buffer(kWritten)) continue;
    // If no buffer is f64, library functions use it for single steps, and the conversion back is no evidence.
    if (use.kind == UseKind::kConversion && use.format == NumberFormat::kF32 &&
        !HasBuffer(spec, NumberFormat::kF64, kAny))
      continue;
    if (refused) {
      if (++others <= kMostOthers) refused->reason += fmt::format("; also {} (line {})", described(use), found.line);
      continue;
    }
    refused = core::Refused{
        core::Check::kPtxRules,
        fmt::format("it has {} ('{}'), which the original has not: that needs `allow: [{}]` in the manifest",
                    described(use), found.instruction,
                    core::Name(tf32 ? core::Allow::kTf32 : core::Allow::kReducedPrecision)),
        found.file.empty() ? spec.file : found.file, found.line};
  }
  return refused ? Failure(std::move(*refused)) : std::nullopt;
}

// A run or two may give the same bits, where few blocks add, and the order may begin to matter at other sizes.
Failure CheckOrder(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run) {
  if (spec.allow.contains(core::Allow::kNondeterministic)) return std::nullopt;
  const bool alone = std::all_of(run.launches.begin(), run.launches.end(),
                                 [](const core::LaunchReport& launch) { return launch.blocks_total <= 1; });
  if (alone) return std::nullopt;
  const auto find = [](const core::CodeUses& uses) {
    return std::find_if(uses.begin(), uses.end(), [](const auto& found) { return IsFor(UseCheck::kOrder, found); });
  };
  const auto found = find(run.uses);
  if (found == run.uses.end() || find(reference.uses) != reference.uses.end()) return std::nullopt;
  return core::Refused{
      core::Check::kDeterminism,
      fmt::format("it has {} ('{}'): atomic additions in any order, which the original has not: that "
                  "needs `allow: [{}]` in the manifest",
                  core::Text(found->use), found->instruction, core::Name(core::Allow::kNondeterministic)),
      found->file.empty() ? spec.file : found->file, found->line};
}

Failure CheckBuildDependence(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run) {
  if (spec.allow.contains(core::Allow::kBuildDependent)) return std::nullopt;
  for (const core::FoundUse& found : run.uses) {
    if (!IsFor(UseCheck::kBuild, found) || reference.uses.contains(found.use)) continue;
    const bool is_text = found.use.kind == UseKind::kBuildText;
    return core::Refused{core::Check::kBuildDependent,
                         fmt::format("{} '{}', which the original has not: other builds may do something else, which "
                                     "needs `allow: [{}]` in the manifest",
                                     is_text ? "it has text that is not compiled here:" : "it depends on",
                                     found.instruction, core::Name(core::Allow::kBuildDependent)),
                         found.file.empty() ? spec.file : found.file, found.line};
  }
  return std::nullopt;
}

// What the original's other functions use that the entry does not, a candidate for the entry does not touch, and if a
// version of the file does, it is another change's. Names that are new may be found where others were before.
Failure CheckSharedCode(const core::KernelSpec& spec, const std::set<std::string>& judged_beside,
                        const TrialReference& reference, const core::Executed& run) {
  const auto name_of = [](const core::FoundUse& found) {
    return found.use.detail.substr(0, found.use.detail.rfind(' '));
  };
  std::set<std::string> shared, outside;
  for (const core::FoundUse& found : reference.uses)
    if (IsFor(UseCheck::kShared, found)) (found.use.kind == UseKind::kShared ? shared : outside).insert(name_of(found));
  for (const core::FoundUse& found : run.uses) {
    if (!IsFor(UseCheck::kShared, found)) continue;
    const auto has = [&](UseKind kind) {
      return reference.uses.contains(core::CodeUse{.kind = kind, .format = {}, .detail = found.use.detail});
    };
    if (has(UseKind::kShared) || has(UseKind::kOutside)) continue;
    const std::string name = name_of(found);
    const bool is_new = !shared.contains(name) && !outside.contains(name);
    if (found.use.kind == UseKind::kOutside && !shared.contains(name)) continue;
    std::string others;
    for (size_t at = 0; at <= found.instruction.size();) {
      const size_t end = std::min(found.instruction.find(',', at), found.instruction.size());
      const std::string user = found.instruction.substr(at, end - at);
      if (!judged_beside.contains(user)) others += (others.empty() ? "" : ", ") + user;
      at = end + 1;
    }
    if (others.empty()) continue;
    return core::Refused{core::Check::kSplice,
                         fmt::format("it {} {}, which is used outside of {} too, by {}: what that computes then was "
                                     "not judged; give the entry a version of its own",
                                     is_new ? "adds" : "changes", name, spec.entry, others),
                         found.file.empty() ? spec.file : found.file, found.line};
  }
  return std::nullopt;
}

Failure CheckHostCode(const core::KernelSpec& spec, const TrialReference& reference, const core::Executed& run) {
  const auto refuse = [&](std::string why, const core::FoundUse& where) {
    return core::Refused{core::Check::kHostCode, std::move(why), where.file.empty() ? spec.file : where.file,
                         where.line};
  };
  for (const core::FoundUse& where : reference.uses)
    if (where.use.kind == UseKind::kEntry && !run.uses.contains(where.use))
      return refuse(fmt::format("other files no longer find {} as they did: its name, linkage or parameters changed",
                                where.instruction),
                    where);
  for (const core::FoundUse& where : run.uses) {
    if (!IsFor(UseCheck::kHost, where) || reference.uses.contains(where.use)) continue;
    if (where.use.kind == UseKind::kEntry)
      return refuse(fmt::format("it defines {} beside the entry: callers may get another function", where.instruction),
                    where);
    if (where.use.kind == UseKind::kReturned)
      return refuse(fmt::format("it returns another value than the original (bytes {})", where.instruction), where);
    return refuse(fmt::format("its host code uses {}, which the original does not: host code may compute, print and "
                              "call the CUDA runtime",
                              where.instruction),
                  where);
  }
  return std::nullopt;
}

std::vector<std::string> PrecisionNotes(const TrialReference& reference, const core::Executed& run) {
  std::vector<std::string> notes;
  TruthSource truth = TruthSource::kNone;
  for (const OutputReference& r : reference.references) truth = std::max(truth, r.source);
  for (const core::FoundUse& found : run.uses)
    if (IsFor(UseCheck::kNote, found) && !reference.uses.contains(found.use))
      notes.push_back(
          fmt::format("precision: {} at line {} ('{}'), which the original has not; its errors are within {}",
                      core::Text(found.use), found.line, found.instruction,
                      truth != TruthSource::kNone
                          ? fmt::format("the budget against the {}", Name(truth))
                          : std::string("the tolerance against the original (there is no float64 shadow)")));
  return notes;
}

Failure CheckBytesRead(const core::KernelSpec& spec, const core::Case& c, const core::CaseMeasurement& original,
                       const core::CaseMeasurement& candidate) {
  if (original.sampled || candidate.sampled || candidate.launches.empty()) return std::nullopt;
  const auto fetched = Sum(original.launches, &core::Counters::l2_read_bytes, "l2_read_bytes");
  const auto read = Sum(candidate.launches, &core::Counters::l2_read_bytes, "l2_read_bytes");
  if (!fetched || !read) return std::nullopt;
  // For what it fetched more than once, DRAM traffic is the better figure.
  const uint64_t dram = Sum(original.launches, &core::Counters::dram_read_bytes, "dram_read_bytes").value_or(*fetched);
  const auto needed = static_cast<double>(std::min({*fetched, dram, BytesOf(spec, c, true)}));
  if (static_cast<double>(*read) >= kReadShare * needed) return std::nullopt;
  return core::WrongResult{.check = core::Check::kBytesRead,
                           .case_name = c.name,
                           .message = fmt::format("it reads {} bytes where the original needs {:.0f}: its result "
                                                  "cannot depend on all of the inputs",
                                                  *read, needed)};
}

bool ReadsLess(const core::Executed& original, const core::Executed& candidate) {
  if (original.extents.empty() || candidate.extents.size() != original.extents.size()) return true;
  if (original.sampled || candidate.sampled) return true;
  for (size_t b = 0; b < original.extents.size(); ++b)
    if (original.extents[b].reads_initial && static_cast<double>(candidate.extents[b].read_bytes) <
                                                 kReadShare * static_cast<double>(original.extents[b].read_bytes))
      return true;
  return false;
}

Failure CheckRooflineFloor(const core::Chip& chip, const core::KernelSpec& spec, const core::Case& c,
                           const core::CaseMeasurement& original, double candidate_us) {
  const auto read = Sum(original.launches, &core::Counters::dram_read_bytes, "dram_read_bytes");
  const auto written = Sum(original.launches, &core::Counters::dram_write_bytes, "dram_write_bytes");
  if (!read || !written || original.sampled || !(chip.dram_bytes_per_second > 0)) return std::nullopt;
  const auto in = static_cast<double>(std::min(*read, BytesOf(spec, c, true)));
  const auto out = static_cast<double>(std::min(*written, BytesOf(spec, c, false)));
  if (in + out <= kCachesNoMore * chip.l2_bytes) return std::nullopt;
  const double bytes = in + std::max(0.0, out - chip.l2_bytes);
  const double floor_us = bytes / chip.dram_bytes_per_second * 1e6;
  if (candidate_us >= kFloorMargin * floor_us) return std::nullopt;
  return core::Refused{
      core::Check::kRooflineFloor,
      fmt::format("case {}: {:.1f} us is less than the {:.1f} us in which {} can move the {:.0f} MB that it must",
                  c.name, candidate_us, floor_us, chip.name, bytes * 1e-6),
      spec.file, 0};
}

Failure CheckHostTime(const core::KernelSpec& spec, const core::CaseMeasurement& original,
                      const core::CaseMeasurement& candidate) {
  constexpr double kUncertainUs = 5;  // of short times beside other work
  const double before = candidate.timing ? candidate.timing->original_us : original.time_us;
  const double gain = std::max(0.0, before - candidate.time_us), more = candidate.host_us - original.host_us;
  if (more <= gain + kUncertainUs) return std::nullopt;
  return core::Refused{core::Check::kHostTime,
                       fmt::format("case {}: its host code takes {:.1f} us of the processor per call, the original's "
                                   "{:.1f}; on the device it gains {:.1f}",
                                   candidate.case_name, candidate.host_us, original.host_us, gain),
                       spec.file, 0};
}

std::set<double> ComparedAnew(const Trial& trial, const TrialReference& reference, const core::Executed& run) {
  std::set<double> known(reference.compared.begin(), reference.compared.end());
  for (const auto& [name, size] : core::IntegerScalars(trial.c)) known.insert(static_cast<double>(size));
  std::set<double> fresh;
  for (const double number : run.compared)
    if (!known.contains(number)) fresh.insert(number);
  return fresh;
}

std::optional<std::string> FindIdle(const TrialReference& reference, const std::vector<core::BufferContent>& inputs,
                                    const core::Executed& run) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype),
                 count = run.buffers[i].size() / size;
    const std::string& name = reference.layouts[o].name;
    if (!inputs[i].uninitialized) continue;
    if (run.sampled) {
      if (std::all_of(run.buffers[i].begin(), run.buffers[i].end(), [](std::byte b) { return b == std::byte{0}; }))
        return fmt::format("nothing in {} is written by the blocks that were run", name);
      continue;
    }
    if (!reference.references[o].unwritten.empty()) continue;
    size_t unwritten = 0;
    for (size_t e = 0; e < count; ++e) unwritten += SameElement(run.buffers[i], inputs[i].bytes, e, size);
    if (unwritten > 16 + count / 100)  // one in 256 bytes equals its poison by chance
      return fmt::format("{} of {} elements of {} are not written", unwritten, count, name);
  }
  return std::nullopt;
}

void CompleteSample(const TrialReference& reference, core::Executed& run) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype);
    const base::Bytes& original = reference.references[o].bytes;
    if (!reference.inputs[i].uninitialized) {  // what remains of its old content is not known
      run.buffers[i] = original;
      continue;
    }
    std::vector<std::byte> bytes = run.buffers[i].Copy();
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    for (size_t at = 0; at + size <= bytes.size(); at += size)
      if (std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + size), is_zero))
        std::copy_n(original.begin() + at, size, bytes.begin() + static_cast<std::ptrdiff_t>(at));
    run.buffers[i] = std::move(bytes);
  }
}

double RelativeDifference(const TrialReference& reference, const std::vector<base::Bytes>& buffers) {
  double worst = 0;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const core::DType dtype = reference.layouts[o].dtype;
    const base::Bytes& original = reference.references[o].bytes;
    const auto& actual = buffers[reference.outputs[o]];
    if (!core::IsFloat(dtype) || original == actual) continue;
    const SquareSums sums = base::ParallelSum<SquareSums>(
        original.size() / core::SizeOf(dtype), base::kParallelChunk, [&](size_t begin, size_t end, SquareSums& part) {
          ForEachBlock(begin, end, [&](size_t first, size_t count) {
            Block as, bs;
            core::LoadAsDoubles(dtype, original.data(), first, std::span(as).first(count));
            core::LoadAsDoubles(dtype, actual.data(), first, std::span(bs).first(count));
            for (size_t k = 0; k < count; ++k) {
              const double a = as[k], b = bs[k];
              if (!std::isfinite(a) || !std::isfinite(b)) continue;
              part.values += a * a;
              part.errors += (a - b) * (a - b);
            }
          });
        });
    if (sums.errors > 0) worst = std::max(worst, sums.values > 0 ? std::sqrt(sums.errors / sums.values) : INFINITY);
  }
  return worst;
}

}  // namespace warpwright::judge
