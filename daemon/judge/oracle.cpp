#include "judge/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/page_reuse.h"
#include "base/parallel.h"
#include "core/typed_values.h"
#include "judge/run_checks.h"
#include "judge/state_check.h"

namespace warpwright::judge {
namespace {

// A shadow that is farther from the original than this multiple of the table's tolerance computes something else.
constexpr double kShadowDistance = 64;
// Of trials that no other candidate will have: the latest, which may be asked for again with more to be known.
constexpr size_t kKeptForOneCandidate = 3;
constexpr size_t kMostConditioned = 1 << 24;  // elements of an output of which a sample is known

std::vector<const core::Argument*> BufferArguments(const core::KernelSpec& spec) {
  std::vector<const core::Argument*> arguments;
  for (const core::Argument& argument : spec.args)
    if (std::holds_alternative<core::BufferArgument>(argument.kind)) arguments.push_back(&argument);
  return arguments;
}

base::UninitializedVector<double> ToDoubles(core::DType dtype, std::span<const std::byte> bytes) {
  base::UninitializedVector<double> values(bytes.size() / core::SizeOf(dtype));
  base::ParallelFor(values.size(), [&](size_t begin, size_t end) {
    core::LoadAsDoubles(dtype, bytes.data(), begin, std::span(values).subspan(begin, end - begin));
  });
  return values;
}

struct Squares {
  double sum = 0;
  size_t finite = 0;
  void Merge(const Squares& other) {
    sum += other.sum;
    finite += other.finite;
  }
};
double Rms(core::DType dtype, const base::Bytes& bytes) {
  const Squares squares = base::ParallelSum<Squares>(bytes.size() / core::SizeOf(dtype), base::kParallelChunk,
                                                     [&](size_t begin, size_t end, Squares& part) {
                                                       for (size_t i = begin; i < end; ++i) {
                                                         const double v = core::LoadAsDouble(dtype, bytes.data(), i);
                                                         if (!std::isfinite(v)) continue;
                                                         part.sum += v * v;
                                                         ++part.finite;
                                                       }
                                                     });
  return squares.finite == 0 ? 0 : std::sqrt(squares.sum / static_cast<double>(squares.finite));
}

// Whether the original's runs on two poisons, or its shadow, show any of these.
struct Found {
  bool unwritten = false, differs = false, wider = false, disagrees = false;
  void Merge(const Found& other) {
    unwritten = unwritten || other.unwritten;
    differs = differs || other.differs;
    wider = wider || other.wider;
    disagrees = disagrees || other.disagrees;
  }
};

std::string SizesOf(const core::Case& c) {
  std::string text;
  for (const auto& [name, size] : core::IntegerScalars(c)) text += fmt::format("{}={},", name, size);
  return text;
}

// Inputs that changed although the manifest calls them `in`; broken guard bands.
std::string FindOriginalDefect(const core::KernelSpec& spec, const std::vector<core::BufferContent>& inputs,
                               const core::Executed& run) {
  if (!run.guards.empty())
    return fmt::format("the original writes outside {} (at byte {})", run.guards.front().buffer,
                       run.guards.front().offset);
  const auto arguments = BufferArguments(spec);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::get<core::BufferArgument>(arguments[i]->kind).role == core::Role::kIn && run.buffers[i] != inputs[i].bytes)
      return fmt::format("the original writes {}, which the manifest calls an input; give it `role: inout`",
                         arguments[i]->name);
  return {};
}

// Refers to both.
OriginalRun RunOf(const Trial& trial, const TrialReference& reference) {
  return {.c = trial.c,
          .seed = trial.seed,
          .inputs = reference.inputs,
          .layouts = reference.layouts,
          .uses = reference.uses};
}

}  // namespace

uint64_t TrialReference::Bytes() const {
  uint64_t sum = 0;
  for (const auto& buffer : inputs) sum += buffer.bytes.size();
  for (const auto& r : references)
    sum += r.bytes.size() + 8 * (r.truth.stored().size() + 3 * r.bound.stored().size() + r.conditioning.size()) +
           r.unwritten.size() / 8;
  return sum;
}

Result<RunOutcome> RunKernel(core::Evaluator& evaluator, const RunConfiguration& setting,
                             const std::vector<core::BufferContent>& buffers) {
  core::ExecuteRequest request;
  request.source = *setting.source;
  request.spec = *setting.spec;
  request.case_name = setting.c->name;
  request.scalars = setting.c->scalars;
  request.buffers = buffers;
  request.device = setting.device;
  request.options = setting.options;
  request.upcoming = setting.upcoming;
  if (setting.beside != nullptr) request.beside = *setting.beside;
  WW_ASSIGN(core::ExecuteOutcome outcome, evaluator.Execute(request));
  return std::visit(
      Overload{
          [&](core::CompileFailed& failed) -> Result<RunOutcome> {
            return RunOutcome(core::Verdict(std::move(failed)));
          },
          [&](core::Refused& refused) -> Result<RunOutcome> { return RunOutcome(core::Verdict(std::move(refused))); },
          [&](core::Faulted& faulted) -> Result<RunOutcome> {
            if (faulted.case_name.empty()) faulted.case_name = setting.c->name;
            return RunOutcome(core::Verdict(std::move(faulted)));
          },
          [&](core::Executed& executed) -> Result<RunOutcome> {
            if (setting.options.keep_outputs) {
              bool fits = executed.buffers.size() == buffers.size();
              if (executed.differing_runs > 0) fits = fits && executed.other_buffers.size() == buffers.size();
              for (size_t i = 0; fits && i < buffers.size(); ++i)
                fits = executed.buffers[i].size() == (buffers[i].repeated_bytes > 0 ? 0 : buffers[i].bytes.size()) &&
                       (executed.differing_runs == 0 || executed.other_buffers[i].size() == buffers[i].bytes.size());
              if (!fits)
                return Fail(ErrorCode::kCorrupt, "the worker returned buffers of other sizes than it was sent");
            }
            return RunOutcome(std::move(executed));
          }},
      outcome);
}

uint64_t OracleCacheBytes() { return std::clamp<uint64_t>(base::PhysicalMemoryBytes() / 4, 512u << 20, 16ull << 30); }

Oracle::Oracle(const core::KernelSpec& spec, core::SourceRef original, core::Evaluator& trusted,
               OracleSettings settings)
    : spec_(spec), original_(std::move(original)), trusted_(trusted), settings_(std::move(settings)) {}

const Shadow* Oracle::TheShadow() {
  if (!std::exchange(shadow_asked_, true)) {
    if (auto shadow = MakeShadow(spec_, original_, trusted_)) shadow_ = std::move(*shadow);
    else shadow_note_ = shadow.error().message;
  }
  return shadow_ ? &*shadow_ : nullptr;
}

FormTruth* Oracle::TheForm() {
  if (!std::exchange(form_asked_, true) && settings_.lift) {
    const auto outcome = settings_.lift();
    auto form = outcome ? FormTruth::Create(spec_, *outcome, settings_.form_limits) : Fail(outcome.error());
    if (form) form_ = std::move(*form);
    else form_note_ = form.error().message;
  }
  return form_ ? &*form_ : nullptr;
}

std::string Oracle::DescribeTruth() {
  Settle();
  if (TheForm() != nullptr && form_proven_) return std::string(Name(TruthSource::kForm));
  const std::string form = form_note_.empty() ? "" : "; the form: " + form_note_;
  if (TheShadow() != nullptr) return std::string(Name(TruthSource::kShadow)) + form;
  return "none: " + shadow_note_ + form;
}

RunConfiguration Oracle::Setting(const Trial& trial) const {
  RunConfiguration setting{.source = &original_, .spec = &spec_, .c = &trial.c, .device = settings_.device};
  setting.options.guard_bytes = settings_.guard_bytes;
  setting.options.seed = trial.seed;
  if (trial.original_instructions > 0) setting.options.instruction_limit = trial.original_instructions;
  return setting;
}

Result<OracleResult> Oracle::Query(const Trial& trial, Depth depth) {
  Settle();
  return QueryNow(trial, depth);
}

void Oracle::Prefetch(std::span<const Trial> later) {
  Settle();
  if (!settings_.prefetches || later.empty()) return;
  later = later.first(std::min<size_t>(later.size(), 1 + kMostUpcoming));
  // What comes of it is in the cache, or fails again when it is asked for.
  prefetch_ = std::async(std::launch::async, [this, trials = std::vector(later.begin(), later.end())] {
    (void)QueryNow(trials.front(), Depth::kBytes, std::span(trials).subspan(1));
  });
}

Result<OracleResult> Oracle::QueryNow(const Trial& trial, Depth depth, std::span<const Trial> later) {
  const std::string key = trial.Key();
  if (const OracleResult* known = Find(key)) return Deepened(trial, *known, depth);
  WW_ASSIGN(std::vector<core::BufferContent> inputs,
            MakeInputs(spec_, trial.c, trial.variant, trial.seed, settings_.repository, trial.named));
  WW_ASSIGN(OracleResult answer, Compute(trial, std::move(inputs), true, later));
  Remember(key, answer, for_one_candidate_);
  return Deepened(trial, answer, depth);
}

const OracleResult* Oracle::Find(const std::string& key) {
  const auto found =
      std::find_if(cache_.begin(), cache_.end(), [&](const Cached& cached) { return cached.key == key; });
  if (found == cache_.end()) return nullptr;
  cache_.splice(cache_.begin(), cache_, found);
  return &cache_.front().answer;
}

Result<OracleResult> Oracle::QueryWithContents(const Trial& trial, std::vector<core::BufferContent> contents,
                                               const std::string& name, Depth depth) {
  Settle();
  if (name.empty()) {
    WW_ASSIGN(const OracleResult answer, Compute(trial, std::move(contents), false));
    return Deepened(trial, answer, depth);
  }
  const std::string key = trial.Key() + "/" + name;
  if (const OracleResult* known = Find(key)) {
    const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(known);
    const auto same = [](const core::BufferContent& a, const core::BufferContent& b) {
      return a.uninitialized || a.bytes == b.bytes;
    };
    if (reference == nullptr ||
        std::equal(contents.begin(), contents.end(), (*reference)->inputs.begin(), (*reference)->inputs.end(), same))
      return Deepened(trial, *known, depth);
  }
  WW_ASSIGN(OracleResult answer, Compute(trial, std::move(contents), false));
  std::erase_if(cache_, [&](const Cached& cached) { return cached.key == key; });
  Remember(key, answer, for_one_candidate_);
  return Deepened(trial, answer, depth);
}

Result<OracleResult> Oracle::Deepened(const Trial& trial, const OracleResult& known, Depth depth) {
  const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(&known);
  if (reference == nullptr) return known;
  WW_ASSIGN(auto deepened, DeepenNow(trial, *reference, depth));
  return OracleResult(std::move(deepened));
}

Result<std::shared_ptr<const TrialReference>> Oracle::Deepen(const Trial& trial,
                                                             const std::shared_ptr<const TrialReference>& known,
                                                             Depth depth) {
  Settle();
  return DeepenNow(trial, known, depth);
}

Result<std::shared_ptr<const TrialReference>> Oracle::DeepenNow(const Trial& trial,
                                                                const std::shared_ptr<const TrialReference>& known,
                                                                Depth depth) {
  if (known->depth >= depth || LacksTruth(trial)) return known;
  auto deeper = std::make_shared<TrialReference>(*known);
  if (known->depth < Depth::kTruth) {
    WW_TRY(AddTruth(trial, *deeper));
    MarkExact(trial, *deeper);
    const bool exact =
        std::all_of(deeper->references.begin(), deeper->references.end(), [](const auto& r) { return r.exact; });
    if (!exact) WW_TRY(AddConditioning(trial, *deeper));
  }
  if (depth == Depth::kBounds && !deeper->form) WW_TRY(AddBounds(trial, *deeper));
  if (depth >= Depth::kHonest && (known->depth < Depth::kHonest || !known->form) && deeper->form && form_)
    form_->AddHonestRuns(deeper->references, RunOf(trial, *deeper), *deeper->form);
  deeper->depth = depth;
  std::shared_ptr<const TrialReference> answer = std::move(deeper);
  const auto cached = std::find_if(cache_.begin(), cache_.end(), [&](const Cached& entry) {
    const auto* held = std::get_if<std::shared_ptr<const TrialReference>>(&entry.answer);
    return held != nullptr && *held == known;
  });
  if (cached != cache_.end()) {
    std::string key = std::move(cached->key);
    const bool for_one_candidate = cached->for_one_candidate;
    cache_.erase(cached);
    Remember(std::move(key), answer, for_one_candidate);
  }
  return answer;
}

// None: there are too few of them to be halved.
static std::optional<std::pair<core::OutputElements, core::OutputElements>> Halves(const core::OutputElements& whole) {
  constexpr size_t kLeast = 64;
  std::pair<core::OutputElements, core::OutputElements> halves;
  size_t most = 0;
  for (const auto& [name, elements] : whole) {
    const auto middle = elements.begin() + static_cast<ptrdiff_t>(elements.size() / 2);
    most = std::max(most, elements.size());
    halves.first[name].assign(elements.begin(), middle);
    halves.second[name].assign(middle, elements.end());
  }
  return most < kLeast ? std::nullopt : std::optional(std::move(halves));
}

std::shared_ptr<const TrialReference> Oracle::WithElements(const Trial& trial, const TrialReference& known,
                                                           const core::OutputElements& elements) {
  Settle();
  if (!form_ || !known.form || known.form->extent != FormTruth::Extent::kSampled) return nullptr;
  auto more = std::make_shared<TrialReference>(known);
  const OriginalRun run = RunOf(trial, *more);
  // What is too much at once may do in parts, whose elements share what is computed for all of them.
  constexpr int kMostParts = 16;
  std::vector<core::OutputElements> parts = {elements};
  for (int evaluated = 0; !parts.empty(); ++evaluated) {
    if (evaluated == kMostParts) return nullptr;
    const core::OutputElements part = std::move(parts.back());
    parts.pop_back();
    const auto added = form_->AddElements(more->references, run, *more->form, part);
    if (added == FormTruth::Added::kNone) return nullptr;
    if (added == FormTruth::Added::kAll) continue;
    auto halves = Halves(part);
    if (!halves) return nullptr;
    parts.push_back(std::move(halves->first));
    parts.push_back(std::move(halves->second));
  }
  return more;
}

Result<bool> Oracle::AddFormTo(const Trial& trial, TrialReference& made) {
  Settle();
  if (TheForm() == nullptr) return false;
  WW_ASSIGN(const auto declined, AddForm(trial, made, FormTruth::Extent::kWhole));
  if (declined) return false;
  form_->AddHonestRuns(made.references, RunOf(trial, made), *made.form);
  return true;
}

Result<std::shared_ptr<const std::vector<core::BufferContent>>> Oracle::InputsOf(const Trial& trial) {
  Settle();
  constexpr size_t kKept = 8;
  const std::string key = trial.Key();
  if (const OracleResult* known = Find(key))
    if (const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(known))
      return std::shared_ptr<const std::vector<core::BufferContent>>(*reference, &(*reference)->inputs);
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const auto& kept) { return kept.first == key; });
  if (found != inputs_.end()) return found->second;
  WW_ASSIGN(std::vector<core::BufferContent> inputs,
            MakeInputs(spec_, trial.c, trial.variant, trial.seed, settings_.repository, trial.named));
  inputs_.emplace_front(key, std::make_shared<const std::vector<core::BufferContent>>(std::move(inputs)));
  uint64_t bytes = 0;
  size_t count = 0;
  std::erase_if(inputs_, [&](const auto& kept) {
    for (const core::BufferContent& buffer : *kept.second) bytes += buffer.bytes.size();
    ++count;
    return count > kKept || (count > 1 && bytes > settings_.cache_bytes / 4);
  });
  return inputs_.front().second;
}

Result<RunOutcome> Oracle::RunAgain(const Trial& trial, const TrialReference& reference, core::ExecuteOptions options) {
  Settle();
  RunConfiguration setting = Setting(trial);
  options.guard_bytes = setting.options.guard_bytes;
  options.seed = trial.seed;
  options.instruction_limit = setting.options.instruction_limit;
  setting.options = options;
  ++runs_;
  return RunKernel(trusted_, setting, reference.inputs);
}

void Oracle::Remember(std::string key, OracleResult answer, bool for_one_candidate) {
  const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
  const uint64_t bytes = reference != nullptr ? (*reference)->Bytes() : 0;
  cache_.push_front({std::move(key), std::move(answer), bytes, for_one_candidate});
  uint64_t total = 0;
  size_t for_one = 0;
  for (auto it = cache_.begin(); it != cache_.end();) {
    total += it->bytes;
    for_one += it->for_one_candidate ? 1 : 0;
    const bool drops = total > settings_.cache_bytes || (it->for_one_candidate && for_one > kKeptForOneCandidate);
    it = drops && it != cache_.begin() ? cache_.erase(it) : std::next(it);
  }
}

Result<OracleResult> Oracle::Compute(const Trial& trial, std::vector<core::BufferContent> inputs, bool made,
                                     std::span<const Trial> later) {
  auto reference = std::make_shared<TrialReference>();
  reference->inputs = PlacedFor(spec_, trial, std::move(inputs));
  const auto arguments = BufferArguments(spec_);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& buffer = std::get<core::BufferArgument>(arguments[i]->kind);
    if (buffer.role != core::Role::kOut && buffer.role != core::Role::kInOut) continue;
    WW_ASSIGN(std::vector<int64_t> shape, core::ShapeOf(*arguments[i], trial.c));
    reference->outputs.push_back(i);
    reference->layouts.push_back({.name = arguments[i]->name,
                                  .dtype = buffer.dtype,
                                  .shape = std::move(shape),
                                  .accumulation = EstimateAccumulation(spec_, trial.c, *arguments[i]),
                                  .kept = KeptRounding(spec_)});
  }
  WW_ASSIGN(std::optional<core::Verdict> failure, RunOriginal(trial, *reference, later));
  if (failure) return OracleResult(std::move(*failure));
  for (size_t o = 0; o < reference->outputs.size(); ++o) {
    double& typical = typical_rms_[reference->layouts[o].name];
    // Not with other scalars: a root of so small an order is as large as it likes.
    if (trial.variant == InputVariant::kBase && trial.check != core::Check::kOtherScalars && made)
      typical = std::max(typical, Rms(reference->layouts[o].dtype, reference->references[o].bytes));
    reference->references[o].typical_rms = HasInfiniteScalar(trial) ? 0 : typical;
    if (reference->uses.contains(core::CodeUse{core::CodeUseKind::kUnorderedSums, core::NumberFormat::kF32, {}}))
      reference->references[o].flushed = reference->layouts[o].accumulation * core::SmallestNormal(core::DType::kF32);
    reference->references[o].own_inputs = trial.variant == InputVariant::kBase;
    reference->references[o].structured =
        trial.variant == InputVariant::kConstant || trial.variant == InputVariant::kTies ||
        trial.variant == InputVariant::kSorted || trial.variant == InputVariant::kZeroRuns ||
        trial.variant == InputVariant::kEqualRows;
  }
  return OracleResult(std::shared_ptr<const TrialReference>(std::move(reference)));
}

// Runs with one or two poisons; fills bytes, unwritten, deterministic and health.
Result<std::optional<core::Verdict>> Oracle::RunOriginal(const Trial& trial, TrialReference& reference,
                                                         std::span<const Trial> later) {
  RunConfiguration setting = Setting(trial);
  setting.upcoming = UpcomingCalls(spec_, later);
  ++runs_;
  WW_ASSIGN(RunOutcome first_outcome, RunKernel(trusted_, setting, reference.inputs));
  if (auto* verdict = std::get_if<core::Verdict>(&first_outcome))
    return std::optional<core::Verdict>(std::move(*verdict));
  core::Executed& first = std::get<core::Executed>(first_outcome);
  reference.health = FindOriginalDefect(spec_, reference.inputs, first);
  if (auto state = FindState(first)) reference.changed_globals = {std::move(*state)};
  reference.numbers = first.numbers;
  reference.compared = first.compared;
  reference.uses = first.uses;
  reference.references.resize(reference.outputs.size());

  std::string shape;
  for (const auto& layout : reference.layouts) shape += fmt::format("[{}]", fmt::join(layout.shape, ","));
  for (const core::BufferContent& input : reference.inputs) shape += input.bytes.empty() ? "-" : "";
  const auto known = writes_everything_.find(shape);
  if (known == writes_everything_.end() || !known->second) {
    std::vector<core::BufferContent> complemented = reference.inputs;
    ComplementPoison(spec_, trial.seed, complemented);
    setting.options.seed = ~trial.seed;
    ++runs_;
    WW_ASSIGN(RunOutcome second_outcome, RunKernel(trusted_, setting, complemented));
    if (auto* verdict = std::get_if<core::Verdict>(&second_outcome))
      return std::optional<core::Verdict>(std::move(*verdict));
    const core::Executed& second = std::get<core::Executed>(second_outcome);
    bool everything = true;
    for (size_t o = 0; o < reference.outputs.size(); ++o) {
      const size_t i = reference.outputs[o], size = core::SizeOf(reference.layouts[o].dtype);
      const bool poisoned = reference.inputs[i].uninitialized;
      std::vector<bool> unwritten(first.buffers[i].size() / size, false);
      const Found found =
          base::ParallelSum<Found>(unwritten.size(), base::kParallelChunk, [&](size_t begin, size_t end, Found& part) {
            for (size_t e = begin; e < end; ++e) {
              const auto same = [&](const base::Bytes& a, const base::Bytes& b) {
                return core::IsSameElement(a.data(), b.data(), e, size);
              };
              // Chunks are whole words of the bit vector, so that no two threads share a word.
              unwritten[e] = poisoned && same(first.buffers[i], reference.inputs[i].bytes) &&
                             same(second.buffers[i], complemented[i].bytes);
              part.unwritten = part.unwritten || unwritten[e];
              part.differs = part.differs || (!unwritten[e] && !same(first.buffers[i], second.buffers[i]));
            }
          });
      const bool any = found.unwritten;
      if (found.differs) reference.deterministic = false;
      everything = everything && !any;
      if (any) reference.references[o].unwritten = std::move(unwritten);
    }
    writes_everything_[shape] = everything;
  }
  for (size_t o = 0; o < reference.outputs.size(); ++o)
    reference.references[o].bytes = std::move(first.buffers[reference.outputs[o]]);
  return std::optional<core::Verdict>();
}

// One vector of doubles per output; nothing if the shadow does not run.
Result<std::optional<Oracle::OutputValues>> Oracle::RunShadow(const Trial& trial, const TrialReference& reference,
                                                              bool perturbed) {
  std::vector<core::BufferContent> buffers = ShadowInputs(spec_, trial.seed, reference.inputs);
  if (perturbed) PerturbInputs(shadow_->spec, 0x1.0p-23, trial.seed, buffers);
  // Floating scalars as the original receives them.
  core::Case c = trial.c;
  for (const core::Argument& argument : spec_.args) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    const auto found = c.scalars.find(argument.name);
    if (scalar == nullptr || !core::IsFloat(scalar->dtype) || found == c.scalars.end()) continue;
    const std::vector<std::byte> bytes = core::ScalarBytes(*scalar, found->second);
    found->second = core::LoadAsDouble(scalar->dtype, bytes.data(), 0);
  }
  RunConfiguration setting = Setting(trial);
  setting.source = &shadow_->source;
  setting.spec = &shadow_->spec;
  setting.c = &c;
  ++runs_;
  WW_ASSIGN(RunOutcome outcome, RunKernel(trusted_, setting, buffers));
  if (const auto* verdict = std::get_if<core::Verdict>(&outcome)) {
    shadow_note_ = "the float64 shadow does not run: " + core::VerdictMessage(*verdict);
    return std::optional<OutputValues>();
  }
  const core::Executed& run = std::get<core::Executed>(outcome);
  OutputValues values;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const core::DType dtype =
        core::IsFloat(reference.layouts[o].dtype) ? core::DType::kF64 : reference.layouts[o].dtype;
    values.push_back(ToDoubles(dtype, run.buffers[reference.outputs[o]]));
  }
  return std::optional(std::move(values));
}

bool Oracle::ShadowAgrees(const TrialReference& reference, const OutputValues& truth) const {
  Found all;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const OutputLayout& layout = reference.layouts[o];
    const auto& unwritten = reference.references[o].unwritten;
    const OutputReference plain{.bytes = reference.references[o].bytes, .unwritten = unwritten};
    const Comparator comparator(layout, plain, {}, 1 / kShadowDistance);
    all.Merge(
        base::ParallelSum<Found>(truth[o].size(), base::kParallelChunk, [&](size_t begin, size_t end, Found& part) {
          for (size_t i = begin; i < end && !part.disagrees; ++i) {
            if (!unwritten.empty() && unwritten[i]) continue;
            const double original = core::LoadAsDouble(layout.dtype, reference.references[o].bytes.data(), i),
                         t = truth[o][i];
            if (!std::isfinite(original)) continue;
            if (!core::IsFloat(layout.dtype)) {
              part.disagrees = original != t;
              continue;
            }
            part.disagrees = !(std::fabs(original - t) <= comparator.ToleranceAt(i));
            part.differs = part.differs || original != t;
            std::byte narrowed[8];
            core::StoreFromDouble(layout.dtype, narrowed, 0, t);
            part.wider = part.wider || core::LoadAsDouble(layout.dtype, narrowed, 0) != t;
          }
        }));
    if (all.disagrees) return false;
  }
  return all.wider || !all.differs;  // rounded values that differ from the original's mean that the shadow is not valid
}

Result<std::optional<FormTruth::Declined>> Oracle::AddForm(const Trial& trial, TrialReference& reference,
                                                           FormTruth::Extent extent) {
  const std::string sizes = fmt::format("{} {}", static_cast<int>(extent), SizesOf(trial.c));
  // To find out how much a sample takes may take as long as what it may take.
  if (const auto known = too_much_.find(sizes); known != too_much_.end())
    return std::optional(FormTruth::Declined{known->second, true});
  WW_ASSIGN(auto outcome, TheForm()->AddTo(reference.references, RunOf(trial, reference), extent));
  if (const auto* use = std::get_if<FormTruth::Use>(&outcome)) {
    reference.form = *use;
    form_proven_ = true;
    return std::optional<FormTruth::Declined>();
  }
  auto declined = std::optional(std::get<FormTruth::Declined>(std::move(outcome)));
  if (declined->too_much) too_much_[sizes] = declined->reason;
  if (!declined->too_much && !form_proven_) {  // on the first trial already: it is not what the original computes
    form_note_ = declined->reason;
    form_.reset();
  } else if (!declined->too_much) {
    notes_.push_back(fmt::format("truth: not from the form with {}: {}", trial.Describe(), declined->reason));
  }
  return declined;
}

// Whether there is one that agrees.
Result<bool> Oracle::AddShadow(const Trial& trial, TrialReference& reference) {
  if (TheShadow() == nullptr) return false;
  WW_ASSIGN(auto truth, RunShadow(trial, reference, false));
  const bool agrees = truth && ShadowAgrees(reference, *truth);
  if (agrees) {
    shadow_proven_ = true;
    for (size_t o = 0; o < reference.outputs.size(); ++o) {
      if (!core::IsFloat(reference.layouts[o].dtype)) continue;
      reference.references[o].truth = std::move((*truth)[o]);
      reference.references[o].source = TruthSource::kShadow;
    }
  } else if (!shadow_proven_) {  // on the first trial already: it does not compute what the original does
    if (truth) shadow_note_ = "the float64 shadow disagrees with the original";
    shadow_.reset();
  }
  return agrees;
}

Status Oracle::AddBounds(const Trial& trial, TrialReference& reference) {
  const bool has_shadow = std::any_of(reference.references.begin(), reference.references.end(),
                                      [](const auto& r) { return r.source == TruthSource::kShadow && !r.exact; });
  if (!has_shadow || TheForm() == nullptr) return {};
  TrialReference sampled = reference;
  for (OutputReference& r : sampled.references) r.ForgetTruth();
  WW_ASSIGN(const auto declined, AddForm(trial, sampled, FormTruth::Extent::kSampled));
  if (!declined) reference = std::move(sampled);
  return {};
}

Status Oracle::AddTruth(const Trial& trial, TrialReference& reference) {
  bool too_much = false;
  if (TheForm() != nullptr) {
    WW_ASSIGN(const auto declined, AddForm(trial, reference, FormTruth::Extent::kWhole));
    if (!declined) return {};
    too_much = declined->too_much;
  }
  const auto sampled = [&]() -> Result<bool> {
    WW_ASSIGN(const auto declined, AddForm(trial, reference, FormTruth::Extent::kSampled));
    if (declined && declined->too_much && !form_proven_) form_note_ = declined->reason;
    return !declined;
  };
  // A shadow says what the original's roundings came to, and nothing of those of tensor cores.
  const bool sample_first = too_much && MayUseTensorCores(spec_);
  if (sample_first) {
    WW_ASSIGN(const bool found, sampled());
    if (found) return {};
  }
  WW_ASSIGN(const bool has_shadow, AddShadow(trial, reference));
  if (!has_shadow && too_much && !sample_first) WW_TRY(sampled());
  return {};
}

Status Oracle::AddConditioning(const Trial& trial, TrialReference& reference) {
  const auto has = [&](TruthSource source) {
    return std::any_of(reference.references.begin(), reference.references.end(),
                       [&](const auto& r) { return r.source == source; });
  };
  const bool sampled = std::any_of(reference.references.begin(), reference.references.end(), [](const auto& r) {
    const auto bounds = r.bound.stored();
    return r.bound.sampled() || std::any_of(bounds.begin(), bounds.end(), [](double b) { return std::isnan(b); });
  });
  size_t most = 0;
  for (const OutputLayout& layout : reference.layouts) {
    size_t elements = 1;
    for (const int64_t extent : layout.shape) elements *= static_cast<size_t>(extent);
    most = std::max(most, elements);
  }
  // Its bounds say it, and of a sample's what they usually are: enough where gigabytes would be moved for the rest.
  if (has(TruthSource::kForm) && (!sampled || most > kMostConditioned)) return {};
  const bool by_shadow = has(TruthSource::kShadow);
  OutputValues moved(reference.outputs.size());
  if (by_shadow) {
    WW_ASSIGN(auto values, RunShadow(trial, reference, true));
    if (!values) return {};
    moved = std::move(*values);
  } else {
    std::vector<core::BufferContent> buffers = reference.inputs;
    const bool f64 = std::any_of(reference.layouts.begin(), reference.layouts.end(),
                                 [](const auto& l) { return l.dtype == core::DType::kF64; });
    PerturbInputs(spec_, f64 ? 0x1.0p-52 : 0x1.0p-23, trial.seed, buffers);
    ++runs_;
    WW_ASSIGN(RunOutcome outcome, RunKernel(trusted_, Setting(trial), buffers));
    const auto* run = std::get_if<core::Executed>(&outcome);
    if (run == nullptr) return {};
    for (size_t o = 0; o < moved.size(); ++o)
      moved[o] = ToDoubles(reference.layouts[o].dtype, run->buffers[reference.outputs[o]]);
  }
  for (size_t o = 0; o < moved.size(); ++o) {
    if (!core::IsFloat(reference.layouts[o].dtype)) continue;
    OutputReference& r = reference.references[o];
    r.conditioning = std::move(moved[o]);
    base::ParallelFor(r.conditioning.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const double still = by_shadow ? r.truth[i] : core::LoadAsDouble(reference.layouts[o].dtype, r.bytes.data(), i);
        r.conditioning[i] = std::fabs(r.conditioning[i] - still);
      }
    });
  }
  return {};
}

// Zeros and ones in, integers out that the dtype represents exactly: a linear kernel, for which every summation order
// gives the same bits.
void Oracle::MarkExact(const Trial& trial, TrialReference& reference) const {
  if (trial.variant != InputVariant::kExactIntegers) return;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const core::DType dtype = reference.layouts[o].dtype;
    OutputReference& r = reference.references[o];
    if (!core::IsFloat(dtype)) continue;
    const double limit = 2 / core::MachineEpsilon(dtype);
    bool exact = true;
    for (size_t i = 0; exact && i < r.bytes.size() / core::SizeOf(dtype); ++i) {
      const double v = core::LoadAsDouble(dtype, r.bytes.data(), i);
      exact = std::isfinite(v) && std::fabs(v) <= limit && v == std::floor(v) && (r.truth.empty() || r.truth[i] == v);
    }
    r.exact = exact;
  }
}

}  // namespace warpwright::judge
