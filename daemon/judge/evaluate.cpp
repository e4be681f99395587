// The stages that a candidate goes through; judge.h lists them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/hash.h"
#include "base/random.h"
#include "judge/absent_buffers.h"
#include "judge/agreement.h"
#include "judge/beside.h"
#include "judge/buffer_ends.h"
#include "judge/dead_code_check.h"
#include "judge/determinism.h"
#include "judge/equal_inputs.h"
#include "judge/generated_shapes.h"
#include "judge/in_place.h"
#include "judge/judge_state.h"
#include "judge/lift_shapes.h"
#include "judge/nan_as_number.h"
#include "judge/run_checks.h"
#include "judge/shared_outputs.h"
#include "judge/state_check.h"
#include "judge/timing.h"
#include "judge/visibility_check.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kMaxLargeBytes = 256u << 20;
constexpr uint64_t kSearchBytes = 4u << 20;
constexpr size_t kMostNumbers = 64, kMostSizes = 6;
constexpr int64_t kLeastSize = 1024, kMostSize = 4 << 20;  // that a candidate names and that is tried
constexpr double kMostNamed = 1e9, kMostElements = 1e13;
constexpr uint64_t kElements = 1000;  // of a case in which rows and blocks are full
// Relative to the best gain: timing in a search is that uncertain; with several cases a candidate that gains less may
// be the sounder one.
constexpr double kNearlyBest = 0.99, kNearlyBestOfCases = 0.9;

// Part of a large case. Nothing if the case is already small, or if the manifest allows no smaller one.
std::optional<core::Case> ReducedTo(uint64_t most_bytes, const core::KernelSpec& spec, const core::Case& c,
                                    const std::filesystem::path& repository) {
  const auto bytes = CaseBytes(spec, c);
  if (!bytes || *bytes <= most_bytes) return std::nullopt;
  std::vector<core::Case> shapes =
      ReducedShapes(spec, c, static_cast<double>(most_bytes) / static_cast<double>(*bytes));
  for (core::Case& reduced : shapes)
    if (MakeInputs(spec, reduced, InputVariant::kBase, 0, repository)) return std::move(reduced);
  return std::nullopt;
}

uint64_t ElementsOf(const core::KernelSpec& spec, const core::Case& c) {
  uint64_t most = 0;
  for (const core::Argument& argument : spec.args)
    if (std::holds_alternative<core::BufferArgument>(argument.kind))
      if (const auto shape = core::ShapeOf(argument, c)) {
        uint64_t elements = 1;
        for (const int64_t extent : *shape) elements *= static_cast<uint64_t>(extent);
        most = std::max(most, elements);
      }
  return most;
}

class CandidateEvaluation {
 public:
  CandidateEvaluation(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                      VerificationLevel effort)
      : state_(state),
        candidate_(candidate),
        evaluator_(evaluator),
        effort_(effort),
        runs_(state, candidate, evaluator, effort),
        determinism_(state, runs_),
        state_check_(state, runs_),
        timing_(state, candidate, evaluator, effort),
        trials_(state, runs_, state_check_, timing_, measured_),
        shapes_(state, candidate, evaluator, runs_, trials_),
        beside_(state, candidate, evaluator),
        dead_code_({state, candidate, evaluator, effort, runs_, shapes_, trials_, measured_}) {}

  Result<core::Verdict> Run();

 private:
  Result<uint64_t> DrawSecret();
  Result<Failure> OwnInputs(const VerifiedCase& verified);
  Result<Failure> Recorded(const VerifiedCase& verified, const TrialReference& reference, const core::Executed& run);
  std::optional<core::Verdict> Hopeless(const Trial& trial, const core::Executed& first) const;
  void NoteAgreement(const Trial& trial, const TrialReference& reference, const core::Executed& run);
  enum class Inputs { kAll, kThatNeedProductionSize, kThatNeedSize, kSecretSeeds };
  Result<Failure> OtherInputs(const core::Case& c, Inputs which, VerificationLevel effort);
  void NoteNumbers(const Trial& trial, const TrialReference& reference, const core::Executed& run);
  void NoteSize(double number);
  Result<Failure> LongSizes(const core::Case& c);
  size_t MainCase() const;
  std::optional<core::Case> PartForInputs(const core::Case& c) const;
  Result<Failure> OtherScalarsOf(const VerifiedCase& verified);
  Result<Failure> SpecialWithout(const VerifiedCase& verified);
  Result<Failure> LargeCases();
  void BeginCases();
  core::CounterDepth Depth();
  Result<bool> ReadsLessOf(RunConfiguration setting, const std::vector<core::BufferContent>& inputs);
  Result<Failure> Measure();
  Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator& evaluator_;
  const VerificationLevel effort_;
  uint64_t secret_ = 0;
  std::vector<double> named_;  // numbers that the candidate's code names and the original's does not
  // Those of them, and of what its launcher compares and computes, that may be a size, the largest first, and that are
  // more than any size here: counts of elements.
  std::vector<int64_t> sizes_;
  std::vector<double> counts_;
  std::vector<double> numbers_of_original_;
  bool in_place_ = false;  // was tried
  core::Measured measured_;
  CandidateRuns runs_;
  DeterminismCheck determinism_;
  StateCheck state_check_;
  PairedTiming timing_;
  TrialRunner trials_;
  GeneratedShapes shapes_;
  Beside beside_;
  DeadCodeCheck dead_code_;
};

// Runs on the case's own inputs: several together, and one with complementary poison and read-only inputs.
Result<Failure> CandidateEvaluation::OwnInputs(const VerifiedCase& verified) {
  const Trial& trial = verified.own;
  WW_ASSIGN(const OracleResult answer, state_.oracle.Query(trial));
  if (const auto* verdict = std::get_if<core::Verdict>(&answer))
    return Fail(ErrorCode::kIo, "the original ran before and does not run now: " + core::VerdictMessage(*verdict));
  auto reference = std::get<std::shared_ptr<const TrialReference>>(answer);

  WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference->inputs, {.guarded = true, .runs = runs_.Count(trial)}));
  if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
  core::Executed& first = std::get<core::Executed>(outcome);
  if (auto hopeless = Hopeless(trial, first)) return hopeless;
  if (auto failure = CheckSideEffects(state_.spec, trial, reference->inputs, first)) {
    auto* wrong = std::get_if<core::WrongResult>(&*failure);
    if (wrong != nullptr && wrong->check == core::Check::kGuardBands) {  // without the bands the simulator says where
      WW_ASSIGN(const RunOutcome exact, runs_.Execute(trial, reference->inputs, {}));
      if (const auto* verdict = std::get_if<core::Verdict>(&exact))
        wrong->message += "; " + core::VerdictMessage(*verdict);
    }
    return failure;
  }
  WW_ASSIGN(Failure failure, state_check_.Check(trial, reference, first));
  if (failure) return failure;
  trials_.Passed(core::Check::kGuardBands);
  trials_.Passed(core::Check::kInputHash);
  trials_.Passed(core::Check::kModuleState);
  if (!reference->changed_globals.empty())
    state_.Note(fmt::format("module-state: the original's own result may depend on earlier calls: {}",
                            reference->changed_globals.front()));

  std::vector<core::BufferContent> complemented = reference->inputs;
  ComplementPoison(state_.spec, trial.seed, complemented);
  size_t index = 0;
  for (const core::Argument& argument : state_.spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      complemented[index++].read_only = buffer->role == core::Role::kIn;
  WW_ASSIGN(RunOutcome again,
            runs_.ExecuteExactly(trial, *reference, complemented, {.second = true, .exact = core::PageGuard::kEnds}));
  if (auto* verdict = std::get_if<core::Verdict>(&again)) return Failure(std::move(*verdict));
  const core::Executed& second = std::get<core::Executed>(again);
  failure = CheckSideEffects(state_.spec, trial, complemented, second);
  if (!failure) failure = CheckUnwritten(trial, *reference, first, complemented, second);
  if (failure) return failure;
  trials_.Passed(core::Check::kUnwrittenOutput);
  WW_ASSIGN(failure, determinism_.OfFurtherRuns(trial, *reference, first, second));
  if (!failure && !state_.on_simulator() && effort_ == VerificationLevel::kFull) {
    WW_ASSIGN(RunOutcome before, runs_.ExecuteExactly(trial, *reference, complemented,
                                                      {.second = true, .exact = core::PageGuard::kBegins}));
    if (auto* verdict = std::get_if<core::Verdict>(&before)) return Failure(std::move(*verdict));
    WW_ASSIGN(failure, determinism_.BesideOtherWork(trial, *reference, first));
  }
  if (failure) return failure;
  trials_.Passed(core::Check::kDeterminism);
  WW_ASSIGN(const auto mismatch, state_.CompareInDepth(trial, reference, first.buffers));
  if (mismatch) return Failure(Wrong(core::Check::kComparison, trial, mismatch->message, mismatch->sample));
  trials_.Passed(core::Check::kComparison);
  WW_ASSIGN(failure, state_check_.CheckOverlapping(trial, reference, first));
  if (failure) return failure;
  failure = CheckBuildDependence(state_.spec, *reference, first);
  if (failure) return failure;
  trials_.Passed(core::Check::kBuildDependent);
  failure = CheckSharedCode(state_.spec, state_.options.judged_beside, *reference, first);
  if (failure) return failure;
  failure = CheckHostCode(state_.spec, *reference, first);
  if (failure) return failure;
  trials_.Passed(core::Check::kHostCode);
  failure = CheckOrder(state_.spec, *reference, first);
  if (failure) return failure;
  failure = CheckPrecision(state_.spec, *reference, first);
  if (failure) return failure;
  trials_.Passed(core::Check::kPtxRules);
  for (std::string& note : PrecisionNotes(*reference, first))
    if (std::find(measured_.notes.begin(), measured_.notes.end(), note) == measured_.notes.end())
      measured_.notes.push_back(std::move(note));
  NoteNumbers(trial, *reference, first);
  if (effort_ == VerificationLevel::kFull || &verified == &state_.verified.front()) {
    WW_ASSIGN(failure, CheckInPlace(state_, runs_, trial, reference, in_place_));
    if (failure) return failure;
    if (in_place_) trials_.Passed(core::Check::kInPlace);
  }
  if (!state_.on_simulator()) timing_.AddVerified(trial.c.name, *reference, first.buffers);
  if (effort_ == VerificationLevel::kFull) NoteAgreement(trial, *reference, first);
  return Recorded(verified, *reference, first);
}

// A search does not wait for the further runs and the timing of what takes thousands of times as long.
std::optional<core::Verdict> CandidateEvaluation::Hopeless(const Trial& trial, const core::Executed& first) const {
  constexpr double kTimes = 50, kLeastSeconds = 0.2;
  const auto spent = first.seconds.find("run: execute");
  if (effort_ != VerificationLevel::kQuick || state_.on_simulator() || spent == first.seconds.end())
    return std::nullopt;
  const auto* original = std::get_if<core::Measured>(&state_.baseline->original);
  if (original == nullptr) return std::nullopt;
  const double seconds = spent->second / runs_.Count(trial);
  for (const core::CaseMeasurement& measured : original->cases) {
    const double usual = 1e-6 * measured.time_us;
    if (measured.case_name != trial.c.name || seconds < kLeastSeconds || seconds < kTimes * usual) continue;
    return core::Verdict(core::Refused{.check = core::Check::kDeadline,
                                       .reason = fmt::format("one run in case {} takes {:.2g} s, the original's {:.2g}",
                                                             trial.c.name, seconds, usual)});
  }
  return std::nullopt;
}

// For the reviewer.
void CandidateEvaluation::NoteAgreement(const Trial& trial, const TrialReference& reference,
                                        const core::Executed& run) {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const OutputLayout& layout = reference.layouts[o];
    const Agreement agreement = Agree(layout, reference.references[o], state_.leniency, state_.TightenOf(layout.name),
                                      run.buffers[reference.outputs[o]]);
    measured_.notes.push_back(AgreementNote(trial.c.name, layout.name, agreement));
  }
}

Result<Failure> CandidateEvaluation::Recorded(const VerifiedCase& verified, const TrialReference& reference,
                                              const core::Executed& run) {
  if (verified.recorded) {
    for (size_t o = 0; o < reference.outputs.size(); ++o)
      for (const RecordedOutput& recorded : verified.recorded->outputs)
        // Where the original gives what was recorded, the comparison with it was made, and knew its truth: a sum in f16
        // is far from it, and a better one far from the sum.
        if (recorded.name == reference.layouts[o].name &&
            base::Sha256(Recordable(recorded.dtype, reference.references[o], reference.references[o].bytes)) !=
                recorded.sha256)
          if (auto mismatch = CompareRecorded(
                  recorded, reference.layouts[o].accumulation, state_.leniency,
                  Recordable(recorded.dtype, reference.references[o], run.buffers[reference.outputs[o]])))
            return Failure(Wrong(core::Check::kRecordedReference, verified.own, mismatch->message, mismatch->sample));
    trials_.Passed(core::Check::kRecordedReference);
  }
  if (verified.supplied) {
    WW_ASSIGN(const SuppliedTrial supplied, MakeSuppliedTrial(state_.spec, verified, state_.options.repository));
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(verified.own, supplied.inputs, {}));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    for (size_t o = 0; o < supplied.outputs.size(); ++o)
      if (auto mismatch = Comparator(supplied.layouts[o], supplied.references[o], state_.leniency)
                              .Check(std::get<core::Executed>(outcome).buffers[supplied.outputs[o]]))
        return Failure(Wrong(core::Check::kRecordedReference, verified.own,
                             "against the supplied reference: " + mismatch->message));
    trials_.Passed(core::Check::kRecordedReference);
  }
  return Failure();
}

Result<Failure> CandidateEvaluation::OtherInputs(const core::Case& c, Inputs which, VerificationLevel effort) {
  std::vector<Trial> trials = PlanTrials(state_.spec, c, secret_, effort, named_);
  std::erase_if(trials, [&](const Trial& trial) {
    switch (which) {
      case Inputs::kAll: return false;
      case Inputs::kSecretSeeds: return trial.check != core::Check::kSecretSeed;
      case Inputs::kThatNeedSize: return !NeedsSize(trial);
      case Inputs::kThatNeedProductionSize: return !NeedsProductionSize(trial);
    }
    return false;
  });
  return trials_.TryAll(trials);
}

void CandidateEvaluation::NoteSize(double number) {
  const auto size = static_cast<int64_t>(std::clamp(number, 0.0, kMostElements));
  if (static_cast<double>(size) != number || size < kLeastSize) return;
  if (size > kMostSize) {
    counts_.push_back(number);
    return;
  }
  if (std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) sizes_.push_back(size);
}

void CandidateEvaluation::NoteNumbers(const Trial& trial, const TrialReference& reference, const core::Executed& run) {
  numbers_of_original_ = reference.numbers;
  for (const double number : run.numbers) {
    if (std::find(reference.numbers.begin(), reference.numbers.end(), number) != reference.numbers.end()) continue;
    if (std::fabs(number) <= kMostNamed && named_.size() < kMostNumbers &&
        std::find(named_.begin(), named_.end(), number) == named_.end())
      named_.push_back(number);
    NoteSize(number);
  }
  for (const double number : ComparedAnew(trial, reference, run)) NoteSize(number);
  std::sort(sizes_.rbegin(), sizes_.rend());
  if (sizes_.size() > kMostSizes) sizes_.resize(kMostSizes);
}

// A launcher that looks for the right kernel compares with one limit after the other: the next one is known when a size
// beyond the one before was tried.
Result<Failure> CandidateEvaluation::LongSizes(const core::Case& c) {
  constexpr int kRounds = 5;
  constexpr size_t kMostNew = 3;
  trials_.TakeCompared();
  WW_ASSIGN(Failure failure, shapes_.Long(c));
  std::vector<int64_t> next = sizes_;
  for (int round = 0; !failure && !next.empty() && round < kRounds; ++round) {
    WW_ASSIGN(failure, shapes_.Around(c, next));
    const auto known = static_cast<std::ptrdiff_t>(sizes_.size());
    for (const double number : trials_.TakeCompared()) NoteSize(number);
    next.assign(sizes_.begin() + known, sizes_.end());
    if (next.size() > kMostNew) next.resize(kMostNew);
  }
  if (failure || runs_.IdleKernel().empty()) return failure;
  WW_ASSIGN(failure, shapes_.Swept(c));
  if (const std::string kernel = runs_.IdleKernel(); !kernel.empty() && !failure)
    state_.Note(fmt::format("no size that was tried launches {}", kernel));
  return failure;
}

// The cheapest verified case that is not tiny.
size_t CandidateEvaluation::MainCase() const {
  for (size_t i = 0; i < state_.verified.size(); ++i)
    if (ElementsOf(state_.spec, *state_.verified[i].c) >= kElements) return i;
  return state_.verified.size() - 1;
}

// Where a case is too large for every kind of inputs.
std::optional<core::Case> CandidateEvaluation::PartForInputs(const core::Case& c) const {
  if (effort_ == VerificationLevel::kQuick || state_.on_simulator()) return std::nullopt;
  auto part = ReducedTo(state_.options.max_input_bytes, state_.spec, c, state_.options.repository);
  return part && ElementsOf(state_.spec, *part) >= kElements ? std::move(part) : std::nullopt;
}

// Small inputs as well: there an addend to a sum of squares becomes visible.
Result<Failure> CandidateEvaluation::OtherScalarsOf(const VerifiedCase& verified) {
  const base::CounterRandom seeds(secret_, 79);
  uint64_t index = 0;
  for (const core::Case& other : OtherScalars(state_.spec, *verified.c, secret_))
    for (const InputVariant variant : {InputVariant::kBase, InputVariant::kScaleDown}) {
      if (variant != InputVariant::kBase && (!VariantApplies(state_.spec) || index > 3)) continue;
      WW_ASSIGN(Failure failure, trials_.Try({core::Check::kOtherScalars, other, variant, seeds.Bits(index++)}));
      if (failure) return failure;
    }
  return SpecialWithout(verified);
}

// Where a factor is zero, old content may be nothing that anybody looks at, and another path may begin, on which values
// that are no ordinary numbers go.
Result<Failure> CandidateEvaluation::SpecialWithout(const VerifiedCase& verified) {
  if (state_.spec.special == core::SpecialInputs::kFinite) return Failure();
  const base::CounterRandom seeds(secret_, 83);
  std::vector<Trial> trials;
  for (const core::Case& other : WithoutScalars(state_.spec, *verified.c)) {
    std::vector<InputVariant> variants = {SpecialVariant(state_.spec)};
    if (OldValuesApply(state_.spec)) variants.push_back(InputVariant::kOldValues);
    for (const InputVariant variant : variants)
      if (variant == InputVariant::kOldValues || VariantApplies(state_.spec))
        trials.push_back({core::Check::kSpecialValues, other, variant, seeds.Bits(trials.size())});
  }
  return trials_.TryAll(trials);
}

// A case that is only measured must at least be written: the whole output by a grid that is small enough to run whole,
// some of it by the blocks of a sample. A launcher or a kernel may do nothing beyond some size.
Result<Failure> CandidateEvaluation::LargeCases() {
  if (state_.large.empty()) return Failure();
  WW_ASSIGN(const OracleResult known, state_.oracle.Query(state_.verified.front().own));
  const auto* reference_of = std::get_if<std::shared_ptr<const TrialReference>>(&known);
  if (reference_of == nullptr) return Failure();
  const std::shared_ptr<const TrialReference> reference = *reference_of;
  for (const auto& [c, instructions] : state_.large) {
    const Trial trial{core::Check::kLargeCase, *c, InputVariant::kBase, secret_};
    WW_ASSIGN(const std::vector<core::BufferContent> inputs,
              MakeInputs(state_.spec, *c, trial.variant, trial.seed, state_.options.repository));
    uint64_t bytes = 0;
    for (const core::BufferContent& input : inputs) bytes += input.bytes.size();
    if (bytes > kMaxLargeBytes) {
      state_.Note(
          fmt::format("large-case: the outputs of {} are not looked at: {} MiB of buffers", c->name, bytes >> 20));
      continue;
    }
    RunConfiguration setting{.source = &candidate_,
                             .spec = &state_.spec,
                             .c = c,
                             .device = state_.device,
                             .options = state_.MeasureOptions(*c)};
    setting.options.counters = false;
    setting.options.keep_outputs = true;
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, inputs));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    if (auto idle = FindIdle(*reference, inputs, std::get<core::Executed>(outcome))) {
      setting.source = &state_.original;
      WW_ASSIGN(const RunOutcome same, RunKernel(state_.trusted, setting, inputs));
      const auto* original = std::get_if<core::Executed>(&same);
      if (original != nullptr && !FindIdle(*reference, inputs, *original))
        return Failure(Wrong(core::Check::kLargeCase, trial, std::move(*idle)));
    }
    trials_.Passed(core::Check::kLargeCase);
  }
  return Failure();
}

void CandidateEvaluation::BeginCases() {
  for (const core::CaseMeasurement& wanted : std::get<core::Measured>(state_.baseline->original).cases)
    measured_.cases.push_back({.case_name = wanted.case_name, .weight = wanted.weight});
}

// Only a candidate that is faster than all before can be built upon, and is worth the counters for evidence.
core::CounterDepth CandidateEvaluation::Depth() {
  if (effort_ == VerificationLevel::kFull) return core::CounterDepth::kSpeedOfLight;
  if (state_.on_simulator()) return core::CounterDepth::kEvidence;
  const double gain = core::Speedup(std::get<core::Measured>(state_.baseline->original), measured_);
  const bool promising = gain >= state_.best_gain * (measured_.cases.size() > 1 ? kNearlyBestOfCases : kNearlyBest);
  state_.best_gain = std::max(state_.best_gain, gain);
  return promising ? core::CounterDepth::kEvidence : core::CounterDepth::kTimes;
}

// Whether what the counters say is so byte by byte, where the device can tell.
Result<bool> CandidateEvaluation::ReadsLessOf(RunConfiguration setting,
                                              const std::vector<core::BufferContent>& inputs) {
  if (!state_.on_simulator()) return true;
  setting.options.counters = setting.options.keep_outputs = false;
  setting.options.extents = true;
  WW_ASSIGN(const RunOutcome candidate, RunKernel(evaluator_, setting, inputs));
  setting.source = &state_.original;
  WW_ASSIGN(const RunOutcome original, RunKernel(state_.trusted, setting, inputs));
  const auto *mine = std::get_if<core::Executed>(&candidate), *theirs = std::get_if<core::Executed>(&original);
  return mine == nullptr || theirs == nullptr || ReadsLess(*theirs, *mine);
}

// In exactly the same way as the original, so that equal code gives equal numbers.
Result<Failure> CandidateEvaluation::Measure() {
  const core::CounterDepth depth = Depth();
  const auto& originals = std::get<core::Measured>(state_.baseline->original).cases;
  for (size_t i = 0; i < originals.size(); ++i) {
    const core::Case& c = *std::find_if(state_.spec.cases.begin(), state_.spec.cases.end(),
                                        [&](const core::Case& x) { return x.name == originals[i].case_name; });
    WW_ASSIGN(const auto inputs, state_.oracle.InputsOf({.c = c, .seed = state_.options.seed}));
    RunConfiguration setting{.source = &candidate_,
                             .spec = &state_.spec,
                             .c = &c,
                             .device = state_.device,
                             .options = state_.MeasureOptions(c)};
    setting.options.depth = depth;
    setting.options.lines = state_.on_simulator() && runs_.added().any();
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, *inputs));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    core::Executed& run = std::get<core::Executed>(outcome);
    runs_.added().Saw(run.lines, runs_.SizesOf({.c = c}));
    measured_.modelled = run.modelled;
    state_.NoteCounters(run);
    core::CaseMeasurement& measured = measured_.cases[i];
    if (!measured.timing) measured.time_us = run.time_us;
    measured.host_us = run.host_us;
    measured.sampled = run.sampled;
    measured.launches = std::move(run.launches);
    if (auto failure = CheckHostTime(state_.spec, originals[i], measured)) return failure;
    if (auto failure = CheckBytesRead(state_.spec, c, originals[i], measured)) {
      WW_ASSIGN(const bool confirmed, ReadsLessOf(setting, *inputs));
      if (confirmed) return failure;
    }
  }
  trials_.Passed(core::Check::kBytesRead);
  trials_.Passed(core::Check::kHostTime);
  return Failure();
}

Result<uint64_t> CandidateEvaluation::DrawSecret() {
  const JudgeOptions& options = state_.options;
  if (options.secret_seed) return *options.secret_seed;
  const bool quick = effort_ == VerificationLevel::kQuick;
  if (quick && state_.search_secret) return *state_.search_secret;
  base::Hasher of;
  of.Add(state_.spec.name).Add(state_.device).Add(state_.original.text).Add(quick ? "" : candidate_.text);
  WW_ASSIGN(const uint64_t secret, options.draw_secret ? options.draw_secret(of.Finish()) : base::SecretSeed());
  if (quick) state_.search_secret = secret;
  return secret;
}

Result<core::Verdict> CandidateEvaluation::Run() {
  if (effort_ == VerificationLevel::kFull) beside_.BeginEquivalence();
  WW_TRY(runs_.ReadAdded());
  state_.oracle.SetForOneCandidate(false);  // the cases' own inputs
  measured_.device = state_.device;
  for (const VerifiedCase& verified : state_.verified) {
    WW_ASSIGN(Failure failure, OwnInputs(verified));
    if (failure) return *failure;
  }
  WW_ASSIGN(secret_, DrawSecret());  // only now, when the candidate is compiled and has run: nothing in it can know it
  state_.oracle.SetForOneCandidate(effort_ == VerificationLevel::kFull && !state_.options.secret_seed);
  shapes_.UseSecret(secret_);
  const core::Case& cheapest = *state_.verified.front().c;
  if (effort_ == VerificationLevel::kFull) beside_.BeginHuge(cheapest, secret_, counts_, runs_.added().any());
  // During a search, other inputs and odd shapes of a large case are tried on part of it: the full evaluation tries
  // them on all.
  const std::optional<core::Case> reduced =
      effort_ == VerificationLevel::kQuick ? ReducedTo(kSearchBytes, state_.spec, cheapest, state_.options.repository)
                                           : std::nullopt;
  // On a GPU the timed outputs come from secret inputs at full size.
  if (reduced && state_.on_simulator()) {
    WW_ASSIGN(Failure failure, OtherInputs(cheapest, Inputs::kSecretSeeds, VerificationLevel::kQuick));
    if (failure) return *failure;
  }
  const size_t main = effort_ == VerificationLevel::kQuick ? 0 : MainCase();
  size_t large = 0;  // the largest that is not too much work for it
  while (large + 1 < state_.verified.size() && state_.verified[large + 1].instructions <= kMostInstructionsForInputs)
    ++large;
  for (size_t i = 0; i < state_.verified.size(); ++i) {
    const VerifiedCase& verified = state_.verified[i];
    if (i > 0 && effort_ == VerificationLevel::kQuick) break;
    Inputs which = i == main ? Inputs::kAll : i == large ? Inputs::kThatNeedSize : Inputs::kSecretSeeds;
    if (const auto part = i == main ? PartForInputs(*verified.c) : std::nullopt) {
      WW_ASSIGN(Failure failure, OtherInputs(*part, Inputs::kAll, effort_));
      if (failure) return *failure;
      which = Inputs::kThatNeedProductionSize;
    }
    WW_ASSIGN(Failure failure, OtherInputs(reduced ? *reduced : *verified.c, which,
                                           which == Inputs::kSecretSeeds ? VerificationLevel::kQuick : effort_));
    if (failure) return *failure;
  }
  WW_ASSIGN(Failure failure, shapes_.Odd(reduced ? *reduced : cheapest, effort_));
  if (failure) return *failure;
  WW_ASSIGN(failure, shapes_.LikeTimed(effort_));
  if (failure) return *failure;
  if (effort_ == VerificationLevel::kFull) {
    WW_ASSIGN(const auto inputs, state_.oracle.InputsOf(state_.verified[large].own));
    WW_ASSIGN(failure, CheckVisibility(state_, runs_, state_.verified[large].own, *inputs));
    if (failure) return *failure;
    // The neighbours of the largest case too: a launcher may take another path beyond some size.
    if (state_.verified.size() > 1) {
      WW_ASSIGN(failure, shapes_.Odd(*state_.verified.back().c, VerificationLevel::kQuick));
      if (failure) return *failure;
    }
    WW_ASSIGN(failure, LongSizes(cheapest));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.Unaligned(cheapest));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.Counted(cheapest));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.Decided(cheapest));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.Tiled(cheapest));
    if (failure) return *failure;
    WW_ASSIGN(failure, beside_.Huge(runs_.added()));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.OtherArguments(cheapest, numbers_of_original_));
    if (failure) return *failure;
    WW_ASSIGN(failure, CheckSharedOutputs(state_, runs_, state_.verified[large].own));
    if (failure) return *failure;
    WW_ASSIGN(failure, CheckEqualInputs(state_, runs_, state_.verified.front().own));
    if (failure) return *failure;
    WW_ASSIGN(const bool counts_nan, CountsNanAsNumber(state_));
    if (counts_nan) {
      WW_ASSIGN(failure, trials_.TryAll(NanTrials(*state_.verified.front().c, secret_)));
      if (failure) return *failure;
    }
    WW_ASSIGN(failure, CheckAbsentBuffers(state_, candidate_, evaluator_, state_.verified.front().own));
    if (failure) return *failure;
    WW_ASSIGN(failure, CheckBufferEnds(state_, candidate_, evaluator_));
    if (failure) return *failure;
    WW_ASSIGN(failure, OtherScalarsOf(state_.verified.front()));
    if (failure) return *failure;
    WW_ASSIGN(failure, shapes_.Reduced());
    if (failure) return *failure;
    WW_ASSIGN(failure, LargeCases());
    if (failure) return *failure;
    WW_ASSIGN(const EquivalenceAnswers answers, beside_.Equivalence());
    WW_ASSIGN(failure, CheckEquivalence(state_, candidate_, evaluator_, answers, measured_));
    if (failure) return *failure;
  }
  BeginCases();
  if (!state_.on_simulator()) {
    WW_ASSIGN(failure, timing_.Run(measured_));
    if (failure) return *failure;
  }
  WW_ASSIGN(failure, Measure());
  if (failure) return *failure;
  WW_ASSIGN(failure, dead_code_.Check(reduced ? *reduced : cheapest, secret_));
  if (failure) return *failure;
  for (const std::string& note : state_.oracle.notes()) state_.Note(note);
  if (effort_ == VerificationLevel::kFull)  // what could not be tested is part of the result
    measured_.notes.insert(measured_.notes.end(), state_.notes.begin(), state_.notes.end());
  return core::Verdict(std::move(measured_));
}

}  // namespace

Result<core::Verdict> EvaluateCandidate(Judge::State& state, const core::SourceRef& candidate,
                                        core::Evaluator& evaluator, VerificationLevel effort) {
  return CandidateEvaluation(state, candidate, evaluator, effort).Run();
}

}  // namespace warpwright::judge
