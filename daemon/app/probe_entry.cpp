#include "app/probe_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/draft_manifest.h"
#include "app/extent_fit.h"

namespace warpwright::app {
namespace {

constexpr char kDevice[] = "sim:h200";
// Buffers are larger than what they hold, so that shapes show instead of faults; if not large enough, larger.
constexpr uint64_t kCapacities[] = {4u << 20, 64u << 20, 512u << 20};
constexpr uint64_t kMaxTotal = 2ull << 30;
constexpr uint64_t kSampleInstructions = 20'000'000;
constexpr size_t kRunsOfProfile = 5, kNeededRuns = 4;
constexpr double kAnyScalar = 0.5;
constexpr int64_t kLargeIndex = 100;  // beyond the sizes of the first run, and within an i8

// Ways to choose sizes. What suits one launcher (any size at all) makes another refuse (tiles) or find nothing to do
// (more taps than elements).
struct Profile {
  size_t tail = 0;       // how many arguments, from the last, are taps, strides and paddings
  int64_t multiple = 1;  // of the others
};
// Of the arguments in the tail by position from its end, and run.
constexpr int64_t kTail[][kRunsOfProfile] = {
    {1, 1, 2, 1, 2}, {1, 2, 1, 2, 3}, {3, 4, 5, 3, 4}, {4, 3, 2, 5, 3}, {5, 3, 4, 2, 6}};
constexpr std::array<int64_t, 26> kPrimes = {7,  11, 13, 17, 19, 23, 29, 31, 37, 41,  43,  47,  53,
                                             59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109};
constexpr std::array<int64_t, 12> kSmallPrimes = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

std::vector<Profile> Profiles(size_t names) {
  std::vector<Profile> profiles;
  if (names == 0) return {{}};
  const size_t longest = std::min<size_t>(names - 1, std::size(kTail));
  // Entries with many integers are windows more often than products of as many sizes.
  if (names >= 5)
    for (size_t tail = longest; tail > 0; --tail) profiles.push_back({tail, 1});
  profiles.push_back({0, 1});
  if (names < 5)
    for (size_t tail = 1; tail <= longest; ++tail) profiles.push_back({tail, 1});
  for (const int64_t multiple : {32, 128}) profiles.push_back({0, multiple});
  for (size_t tail = 1; tail <= std::min<size_t>(longest, 2); ++tail) profiles.push_back({tail, 32});
  return profiles;
}

std::map<std::string, int64_t> SizesOf(const std::vector<std::string>& names, const Profile& profile, size_t run) {
  std::map<std::string, int64_t> sizes;
  const size_t heads = names.size() - profile.tail;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i >= heads) {
      sizes[names[i]] = kTail[names.size() - 1 - i][run];
    } else if (profile.multiple > 1) {
      sizes[names[i]] = profile.multiple * kSmallPrimes[(i + run * 2) % std::max<size_t>(heads + 2, 6)];
    } else {
      sizes[names[i]] = kPrimes[(i + run * 3) % std::max<size_t>(heads + 3, 8)];
    }
  }
  return sizes;
}

int64_t EndOf(const core::BufferExtent& extent) {
  return static_cast<int64_t>(std::max(extent.read_end, extent.written_end));
}

class EntryProbe {
 public:
  EntryProbe(const core::SourceRef& source, const core::EntryInfo& entry, core::Evaluator& worker)
      : source_(source), worker_(worker) {
    spec_.name = spec_.entry = entry.name;
    spec_.file = source.file;
    for (const core::ParameterInfo& parameter : entry.parameters) {
      if (IsStream(parameter)) continue;
      core::Argument argument{parameter.name, {}, 0};
      if (parameter.is_pointer)
        argument.kind =
            core::BufferArgument{.dtype = *parameter.dtype, .shape = {}, .role = core::Role::kInOut, .init = {}};
      else argument.kind = core::ScalarArgument{*parameter.dtype, {}};
      if (!parameter.is_pointer && !core::IsFloat(*parameter.dtype)) names_.push_back(parameter.name);
      spec_.args.push_back(std::move(argument));
    }
  }
  Result<ProbeOutcome> Run();

 private:
  struct Touched {
    std::map<std::string, int64_t> sizes;
    std::map<std::string, core::BufferExtent> extents;
    bool sampled = false;
  };
  // None: refused, faulted, or nothing was written; why_ says which.
  Result<std::optional<Touched>> Touch(const std::map<std::string, int64_t>& sizes, int64_t content);
  Result<core::ExecuteOutcome> Execute(const std::map<std::string, int64_t>& sizes, int64_t content, uint64_t capacity);
  Result<bool> RunProfiles();
  Status FindIndices();
  Result<bool> ReachesFurther(int64_t content);
  std::optional<std::vector<std::string>> Shape(const core::Argument& argument) const;
  std::vector<ExtentSample> Samples(const core::Argument& argument, size_t first, size_t last) const;
  bool Covers(const std::vector<std::string>& shape, const std::vector<ExtentSample>& samples) const;

  const core::SourceRef& source_;
  core::Evaluator& worker_;
  core::KernelSpec spec_;
  std::vector<std::string> names_;  // integer arguments
  std::vector<Touched> runs_;
  std::vector<size_t> begins_;    // of each profile in runs_
  std::set<std::string> tables_;  // buffers of which only the rows that indices name were seen
  bool indexes_ = false;
  std::optional<std::string> index_bound_;
  std::string why_ = "it was not run";
};

Result<core::ExecuteOutcome> EntryProbe::Execute(const std::map<std::string, int64_t>& sizes, int64_t content,
                                                 uint64_t capacity) {
  core::ExecuteRequest request{.source = source_, .spec = spec_, .case_name = "init", .device = kDevice};
  request.options.keep_outputs = false;
  request.options.extents = true;
  request.options.sample_instructions = kSampleInstructions;
  const auto shared = std::make_shared<std::vector<std::byte>>(capacity);
  for (core::Argument& argument : request.spec.args) {
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
      const auto elements = static_cast<int64_t>(capacity / core::SizeOf(buffer->dtype));
      buffer->shape = {core::Expression::Constant(elements)};
      base::Bytes bytes(shared, *shared);
      if (content != 0 && !core::IsFloat(buffer->dtype)) {
        std::vector<std::byte> filled(capacity);
        for (int64_t i = 0; i < elements; ++i)
          core::StoreFromDouble(buffer->dtype, filled.data(), static_cast<size_t>(i), static_cast<double>(content));
        bytes = std::move(filled);
      }
      request.buffers.push_back({.name = argument.name, .bytes = std::move(bytes)});
    } else {
      const auto size = sizes.find(argument.name);
      request.scalars[argument.name] =
          size == sizes.end() ? core::ScalarValue(kAnyScalar) : core::ScalarValue(size->second);
    }
  }
  return worker_.Execute(request);
}

Result<std::optional<EntryProbe::Touched>> EntryProbe::Touch(const std::map<std::string, int64_t>& sizes,
                                                             int64_t content) {
  const auto buffers = static_cast<uint64_t>(std::count_if(spec_.args.begin(), spec_.args.end(), [](const auto& a) {
    return std::holds_alternative<core::BufferArgument>(a.kind);
  }));
  for (const uint64_t capacity : kCapacities) {
    if (capacity * buffers > kMaxTotal) break;
    WW_ASSIGN(const core::ExecuteOutcome outcome, Execute(sizes, content, capacity));
    if (const auto* executed = std::get_if<core::Executed>(&outcome)) {
      Touched touched{sizes, {}, executed->sampled};
      bool wrote = false;
      for (const core::BufferExtent& extent : executed->extents) {
        wrote |= extent.written_end > 0;
        touched.extents[extent.buffer] = extent;
      }
      if (wrote) return std::optional(std::move(touched));
      why_ = "it writes to none of its buffers";
      return std::nullopt;
    }
    bool larger = false;
    why_ = std::visit(Overload{[](const core::CompileFailed&) { return std::string("it does not compile"); },
                               [](const core::Refused& r) { return r.reason; },
                               [&](const core::Faulted& f) {
                                 larger = f.fault.kind == core::Fault::Kind::kOutOfBounds;
                                 return f.fault.message;
                               },
                               [](const core::Executed&) { return std::string(); }},
                      outcome);
    if (!larger) return std::nullopt;
  }
  return std::nullopt;
}

// Whether enough runs succeeded.
Result<bool> EntryProbe::RunProfiles() {
  size_t profiles = 0;
  for (const Profile& profile : Profiles(names_.size())) {
    const size_t begin = runs_.size();
    for (size_t run = 0; run < (names_.empty() ? 1 : kRunsOfProfile); ++run) {
      WW_ASSIGN(std::optional<Touched> touched, Touch(SizesOf(names_, profile, run), 0));
      if (touched) runs_.push_back(std::move(*touched));
      else if (run == 0) break;
    }
    if (names_.empty()) return !runs_.empty();
    if (runs_.size() - begin < kNeededRuns) {
      runs_.resize(begin);
      continue;
    }
    begins_.push_back(begin);
    if (++profiles == 2) break;
  }
  begins_.push_back(runs_.size());
  return profiles > 0;
}

// With this value in all integer buffers, compared with zero. A run that fails went somewhere.
Result<bool> EntryProbe::ReachesFurther(int64_t content) {
  WW_ASSIGN(const std::optional<Touched> other, Touch(runs_[0].sizes, content));
  if (!other) return true;
  for (const auto& [name, extent] : runs_[0].extents)
    if (!tables_.contains(name) && EndOf(other->extents.at(name)) != EndOf(extent)) return true;
  return false;
}

// Are the integer buffers indices? Of the first row that a zero names, a one names the next: then the buffer is a table
// whose rows nothing counts. An index into what else is reached as a whole shows at a value beyond its size.
Status EntryProbe::FindIndices() {
  const bool integers = std::any_of(spec_.args.begin(), spec_.args.end(), [&](const core::Argument& a) {
    const auto* b = std::get_if<core::BufferArgument>(&a.kind);
    return b != nullptr && !core::IsFloat(b->dtype) && runs_[0].extents.at(a.name).reads_initial;
  });
  if (!integers) return {};
  WW_ASSIGN(const std::optional<Touched> one, Touch(runs_[0].sizes, 1));
  if (!one) return {};
  for (const auto& [name, extent] : runs_[0].extents)
    if (EndOf(one->extents.at(name)) != EndOf(extent)) tables_.insert(name);
  WW_ASSIGN(const bool further, ReachesFurther(kLargeIndex));
  indexes_ = further || !tables_.empty();
  if (!further) return {};
  for (const std::string& name : names_) {
    WW_ASSIGN(const bool at, ReachesFurther(runs_[0].sizes.at(name)));
    if (!at) continue;
    WW_ASSIGN(const bool below, ReachesFurther(runs_[0].sizes.at(name) - 1));
    if (!below) index_bound_ = name;
  }
  return {};
}

std::vector<ExtentSample> EntryProbe::Samples(const core::Argument& argument, size_t first, size_t last) const {
  const auto width = static_cast<int64_t>(core::SizeOf(std::get<core::BufferArgument>(argument.kind).dtype));
  std::vector<ExtentSample> samples;
  for (size_t r = first; r < last; ++r) {
    const core::BufferExtent& extent = runs_[r].extents.at(argument.name);
    samples.push_back({runs_[r].sizes, (EndOf(extent) + width - 1) / width});
  }
  return samples;
}

bool EntryProbe::Covers(const std::vector<std::string>& shape, const std::vector<ExtentSample>& samples) const {
  return std::all_of(samples.begin(), samples.end(), [&](const ExtentSample& sample) {
    int64_t elements = 1;
    for (const std::string& text : shape) {
      const auto extent = core::Expression::Parse(text);
      const auto value = extent ? extent->Evaluate(sample.sizes) : Result<int64_t>(0);
      elements *= value.value_or(0);
    }
    return elements >= sample.elements;
  });
}

// From all runs if one product explains them all; else from one profile's, if that is never too small.
std::optional<std::vector<std::string>> EntryProbe::Shape(const core::Argument& argument) const {
  const std::vector<ExtentSample> all = Samples(argument, 0, runs_.size());
  if (auto shape = FitShape(names_, all)) return shape;
  for (size_t p = 0; p + 1 < begins_.size(); ++p)
    if (auto shape = FitShape(names_, Samples(argument, begins_[p], begins_[p + 1])); shape && Covers(*shape, all))
      return shape;
  return std::nullopt;
}

core::Role RoleOf(const core::BufferExtent& extent) {
  if (extent.written_end == 0) return core::Role::kIn;
  return extent.reads_initial ? core::Role::kInOut : core::Role::kOut;
}

Result<ProbeOutcome> EntryProbe::Run() {
  WW_ASSIGN(const bool enough, RunProfiles());
  if (!enough) return ProbeOutcome(NotProbed{why_});
  WW_TRY(FindIndices());
  ProbedEntry probed{.small = runs_[0].sizes, .indexes = indexes_, .index_bound = index_bound_};
  for (const Touched& run : runs_) probed.partial |= run.sampled;
  for (const core::Argument& argument : spec_.args) {
    if (!std::holds_alternative<core::BufferArgument>(argument.kind)) continue;
    ProbedBuffer& buffer = probed.buffers[argument.name];
    const core::BufferExtent& extent = runs_[0].extents.at(argument.name);
    if (EndOf(extent) == 0) continue;
    buffer.role = RoleOf(extent);
    const bool is_table = tables_.contains(argument.name);
    if (!is_table) buffer.shape = Shape(argument);
    if (buffer.shape)
      for (const std::string& text : *buffer.shape)
        for (const std::string& name : core::Expression::Parse(text)->Variables()) probed.sizes.insert(name);
    std::string at;
    for (const auto& [name, value] : runs_[0].sizes) at += fmt::format("{}{}={}", at.empty() ? "" : ", ", name, value);
    buffer.seen = is_table ? "depends on the values of an integer buffer"
                           : fmt::format("has {} elements or more at {}", Samples(argument, 0, 1)[0].elements, at);
  }
  return ProbeOutcome(std::move(probed));
}

}  // namespace

Result<ProbeOutcome> ProbeEntry(const core::SourceRef& source, const core::EntryInfo& entry, core::Evaluator& worker) {
  if (entry.kind != core::EntryInfo::Kind::kLauncher) return ProbeOutcome(NotProbed{"it has no launcher"});
  for (const core::ParameterInfo& parameter : entry.parameters)
    if (!IsStream(parameter) && !parameter.dtype)
      return ProbeOutcome(NotProbed{fmt::format("'{}' has the type {}", parameter.name, parameter.type)});
  return EntryProbe(source, entry, worker).Run();
}

}  // namespace warpwright::app
