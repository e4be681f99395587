#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "core/device_name.h"
#include "judge/judge_state.h"
#include "judge/mutants.h"

namespace warpwright::judge {
namespace {

constexpr double kMaxTightening = 4096;

uint64_t ThreadInstructions(const std::vector<core::LaunchReport>& launches) {
  uint64_t sum = 0;
  for (const core::LaunchReport& launch : launches) sum += launch.counters.thread_instructions;
  return sum;
}

}  // namespace

Result<uint64_t> CaseBytes(const core::KernelSpec& spec, const core::Case& c) {
  uint64_t sum = 0;
  for (const core::Argument& argument : spec.args) {
    if (!std::holds_alternative<core::BufferArgument>(argument.kind)) continue;
    WW_ASSIGN(const uint64_t bytes, BufferBytes(argument, c));
    if (bytes == UINT64_MAX || __builtin_add_overflow(sum, bytes, &sum)) return UINT64_MAX;
  }
  return sum;
}

Result<SuppliedTrial> MakeSuppliedTrial(const core::KernelSpec& spec, const VerifiedCase& verified,
                                        const std::filesystem::path& repository) {
  SuppliedTrial trial;
  WW_ASSIGN(trial.inputs, MakeInputs(spec, *verified.c, InputVariant::kBase, verified.own.seed, repository));
  const auto& tensors = verified.supplied->tensors;
  size_t index = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const bool is_output = buffer->role == core::Role::kOut;
    if (const auto given = tensors.find(argument.name); given != tensors.end() && !is_output)
      trial.inputs[i].bytes = std::vector(given->second.data);
    const auto expected = tensors.find(is_output ? argument.name : "out:" + argument.name);
    if (expected == tensors.end()) continue;
    trial.outputs.push_back(i);
    trial.layouts.push_back({.name = argument.name,
                             .dtype = buffer->dtype,
                             .shape = expected->second.shape,
                             .accumulation = EstimateAccumulation(spec, *verified.c, argument),
                             .kept = KeptRounding(spec)});
    trial.references.push_back({.bytes = std::vector(expected->second.data)});
  }
  return trial;
}

Judge::State::State(core::KernelSpec spec_in, core::SourceRef original_in, std::string device_in,
                    core::Evaluator& trusted_in, JudgeOptions options_in)
    : spec(std::move(spec_in)),
      original(std::move(original_in)),
      device(std::move(device_in)),
      trusted(trusted_in),
      options(std::move(options_in)),
      leniency(ToleranceOverridesOf(spec)),
      // The simulator faults at the access itself, which bands would hide.
      oracle(spec, original, trusted,
             {.device = device,
              .repository = options.repository,
              .guard_bytes = core::IsSimulated(device) ? 0 : options.guard_bytes,
              .lift = options.lift,
              .prefetches = options.another != nullptr}),
      ahead(options.another) {}

bool Judge::State::SamplesCase(const core::Case& c) const {
  return on_simulator() && c.on.contains(core::DeviceKind::kCuda);
}

core::ExecuteOptions Judge::State::MeasureOptions(const core::Case& c) const {
  core::ExecuteOptions execute;
  execute.counters = true;
  execute.keep_outputs = false;
  execute.seed = options.seed;
  execute.sample_instructions = SamplesCase(c) ? options.sample_instructions : 0;
  return execute;
}

double Judge::State::TightenOf(const std::string& output) const {
  const auto found = tighten.find(output);
  return found == tighten.end() ? 1 : found->second;
}

std::optional<Mismatch> Judge::State::Compare(const TrialReference& reference,
                                              const std::vector<base::Bytes>& buffers) const {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const OutputLayout& layout = reference.layouts[o];
    const base::Bytes& actual = buffers[reference.outputs[o]];
    if (actual == reference.references[o].bytes) continue;
    const Comparator comparator(layout, reference.references[o], leniency, TightenOf(layout.name));
    if (auto mismatch = comparator.Check(actual)) return mismatch;
  }
  return std::nullopt;
}

Result<std::optional<Mismatch>> Judge::State::CompareInDepth(const Trial& trial,
                                                             std::shared_ptr<const TrialReference>& reference,
                                                             const std::vector<base::Bytes>& buffers) {
  bool same = true;
  for (size_t o = 0; same && o < reference->outputs.size(); ++o)
    same = buffers[reference->outputs[o]] == reference->references[o].bytes;
  if (same) return std::optional<Mismatch>();
  WW_ASSIGN(reference, oracle.Deepen(trial, reference, Depth::kTruth));
  auto mismatch = Compare(*reference, buffers);
  if (!mismatch) return mismatch;
  // Of a few elements the form tells more in less time than honest runs take.
  constexpr size_t kFew = 256;
  if (reference->form && reference->depth < Depth::kHonest && !CompareKnown(trial, *reference, buffers, kFew))
    return std::optional<Mismatch>();
  const Depth wanted = reference->form ? Depth::kHonest : Depth::kBounds;
  if (reference->depth < wanted) {
    WW_ASSIGN(reference, oracle.Deepen(trial, reference, wanted));
    mismatch = Compare(*reference, buffers);
  }
  return mismatch ? CompareKnown(trial, *reference, buffers) : mismatch;
}

// Few elements of many that are far off, or rows of one value, are as a rule those whose terms nearly cancel. Of what
// is in no sample only the usual is allowed; the form says what these may be.
std::optional<Mismatch> Judge::State::CompareKnown(const Trial& trial, const TrialReference& reference,
                                                   const std::vector<base::Bytes>& buffers, size_t most) {
  constexpr int kMostRounds = 4;  // what is known of some changes what is usual for others
  std::optional<Mismatch> mismatch = Compare(reference, buffers);
  std::shared_ptr<const TrialReference> more;
  const TrialReference* known = &reference;
  for (int round = 0; mismatch && reference.form && round < kMostRounds; ++round) {
    core::OutputElements elements;
    for (size_t o = 0; o < known->outputs.size(); ++o) {
      const OutputLayout& layout = known->layouts[o];
      const Comparator comparator(layout, known->references[o], leniency, TightenOf(layout.name));
      std::vector<int64_t> wrong = comparator.WrongUnknown(buffers[known->outputs[o]], most);
      if (!wrong.empty()) elements[layout.name] = std::move(wrong);
    }
    auto next = elements.empty() ? nullptr : oracle.WithElements(trial, *known, elements);
    if (next == nullptr) break;
    more = std::move(next);
    known = more.get();
    mismatch = Compare(*known, buffers);
  }
  return mismatch;
}

double Judge::State::AllowedDifference(const TrialReference& reference) const {
  constexpr size_t kLookedAt = 4096;  // elements, spread over the output
  double largest = 0;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const OutputLayout& layout = reference.layouts[o];
    const OutputReference& expected = reference.references[o];
    if (!core::IsFloat(layout.dtype)) continue;
    const Comparator comparator(layout, expected, leniency, TightenOf(layout.name));
    const size_t count = expected.bytes.size() / core::SizeOf(layout.dtype),
                 step = std::max<size_t>(1, count / kLookedAt);
    double allowed = 0, squares = 0;
    const auto add = [&](size_t i) {
      // From the original's value to the other side of the truth.
      const double value = core::LoadAsDouble(layout.dtype, expected.bytes.data(), i),
                   tolerance = comparator.ToleranceAt(i) + std::fabs(value - comparator.TargetAt(i));
      if (!std::isfinite(value) || !std::isfinite(tolerance)) return;
      squares += value * value;
      allowed += tolerance * tolerance;
    };
    // How far the original is off is known where the truth is.
    if (expected.has_bounds() && expected.bound.sampled()) expected.bound.ForEach(add);
    else
      for (size_t i = 0; i < count; i += step) add(i);
    if (squares > 0) largest = std::max(largest, std::sqrt(allowed / squares));
  }
  return largest;
}

Result<Judge::State::Reproducibility> Judge::State::ReproducibilityOfOriginal(const Trial& trial,
                                                                              const TrialReference& reference,
                                                                              const core::ExecuteOptions& how) {
  const std::string key = fmt::format("{}/{}/{}/{}", trial.Key(), how.runs, static_cast<int>(how.perturbation),
                                      static_cast<int>(how.page_guard));
  if (const auto known = repetitions.find(key); known != repetitions.end()) return known->second;
  WW_ASSIGN(const RunOutcome outcome, oracle.RunAgain(trial, reference, how));
  Reproducibility repetition = Reproducibility::kBitIdentical;
  if (const auto* run = std::get_if<core::Executed>(&outcome)) {
    for (const auto* buffers : {&run->buffers, &run->other_buffers}) {
      if (buffers->empty()) continue;
      bool equal = true;
      for (size_t o = 0; o < reference.outputs.size(); ++o)
        equal = equal && (*buffers)[reference.outputs[o]] == reference.references[o].bytes;
      if (equal) continue;
      if (repetition == Reproducibility::kBitIdentical) repetition = Reproducibility::kWithinTolerance;
      if (Compare(reference, *buffers)) repetition = Reproducibility::kOutsideTolerance;
    }
  } else {
    repetition = Reproducibility::kFaults;
  }
  return repetitions.emplace(key, repetition).first->second;
}

void Judge::State::Note(std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

void Judge::State::NoteCounters(const core::Executed& run) {
  for (const std::string& note : run.notes) Note(std::string(core::kCountersNote) + note);
}

// A verdict if the original does not run; status tells whether the case may be verified.
Result<std::optional<core::Verdict>> Judge::State::MeasureOriginal(const core::Case& c, CaseStatus& status,
                                                                   core::Measured& measured) {
  const core::DeviceKind kind = on_simulator() ? core::DeviceKind::kSim : core::DeviceKind::kCuda;
  WW_ASSIGN(const uint64_t bytes, CaseBytes(spec, c));
  // A GPU is quick to verify what is small enough for the simulator, and its own cases may be too large or too
  // ill-conditioned to tell a wrong result.
  const bool timed = c.on.contains(kind);
  if (!timed && (on_simulator() || bytes > options.small_case_bytes)) {
    status.check = core::Check::kOtherDevice;
    status.note = "the manifest marks it for other devices";
    return std::optional<core::Verdict>();
  }
  if (bytes > options.max_case_bytes) {
    status.check = core::Check::kTooLarge;
    status.note = fmt::format("its buffers take {} MiB, more than the {} MiB that are handled here", bytes >> 20,
                              options.max_case_bytes >> 20);
    return std::optional<core::Verdict>();
  }
  auto known = original_runs.find(c.name);
  if (known == original_runs.end()) {
    WW_ASSIGN(const std::vector<core::BufferContent> inputs,
              MakeInputs(spec, c, InputVariant::kBase, options.seed, options.repository));
    RunConfiguration setting{
        .source = &original, .spec = &spec, .c = &c, .device = device, .options = MeasureOptions(c)};
    if (!timed) setting.options.depth = core::CounterDepth::kCore;  // only how much work it is
    WW_ASSIGN(RunOutcome outcome, RunKernel(trusted, setting, inputs));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return std::optional<core::Verdict>(std::move(*verdict));
    known = original_runs.emplace(c.name, std::move(std::get<core::Executed>(outcome))).first;
  }
  const core::Executed& run = known->second;
  NoteCounters(run);
  const uint64_t instructions = ThreadInstructions(run.launches);
  measured.modelled = run.modelled;
  if (timed) {
    status.measured = true;
    measured.cases.push_back({.case_name = c.name,
                              .weight = c.weight,
                              .time_us = run.time_us,
                              .host_us = run.host_us,
                              .sampled = run.sampled,
                              .launches = run.launches});
  } else {
    status.note = "verified and not timed: the manifest marks it for other devices";
  }
  status.verified = !SamplesCase(c) || instructions <= options.verify_instructions;
  if (status.verified) {
    VerifiedCase candidate;
    candidate.c = &c;
    candidate.instructions = instructions;
    candidate.bytes = bytes;
    candidate.own = {.check = core::Check::kComparison, .c = c, .seed = options.seed};
    verified.push_back(std::move(candidate));
  } else {
    large.emplace_back(&c, instructions);
    status.check = core::Check::kTooLarge;
    status.note = fmt::format(
        "one run takes about {:.3g} thread instructions, more than the {:.3g} within which a case is verified whole",
        static_cast<double>(instructions), static_cast<double>(options.verify_instructions));
  }
  return std::optional<core::Verdict>();
}

// The self-test's objection to the case, if any; tightens if that helps.
std::optional<std::string> Judge::State::SelfTestCase(const TrialReference& answer, const TrialReference* other_seed) {
  MutantSources sources;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = sources.inputs.size();
    const bool is_input = buffer->role == core::Role::kIn || buffer->role == core::Role::kInOut;
    sources.inputs.push_back(is_input ? std::span<const std::byte>(answer.inputs[i].bytes)
                                      : std::span<const std::byte>());
    sources.input_names.push_back(argument.name);
    sources.input_dtypes.push_back(buffer->dtype);
  }
  std::string insensitive;
  size_t blind = 0;
  for (size_t o = 0; o < answer.outputs.size(); ++o) {
    const OutputLayout& layout = answer.layouts[o];
    sources.other_seed = other_seed != nullptr ? std::span<const std::byte>(other_seed->references[o].bytes)
                                               : std::span<const std::byte>();
    for (double factor = TightenOf(layout.name);; factor *= 4) {
      const Comparator comparator(layout, answer.references[o], leniency, factor);
      const auto failure = SelfTest(comparator, sources, leniency);
      if (!failure) {
        if (factor > 1) tighten[layout.name] = factor;
        break;
      }
      if (failure->insensitive) {
        insensitive = failure->message;
        ++blind;
        break;
      }
      if (factor >= kMaxTightening || !answer.references[o].truth.empty()) return failure->message;
    }
  }
  // One constant output among others that vary is what the kernel does; if no output varies, the case proves nothing.
  if (!answer.outputs.empty() && blind == answer.outputs.size()) return insensitive;
  return std::nullopt;
}

// Compares the original with its recorded outputs. A disagreement is for the user to resolve: an Error.
Status Judge::State::CheckReferences(VerifiedCase& candidate, const TrialReference& answer) {
  const std::string name = candidate.c->name;
  if (candidate.recorded) {
    const RecordedReference& recorded = *candidate.recorded;
    for (size_t o = 0; o < answer.outputs.size(); ++o) {
      const OutputLayout& layout = answer.layouts[o];
      const auto found = std::find_if(recorded.outputs.begin(), recorded.outputs.end(),
                                      [&](const auto& r) { return r.name == layout.name; });
      const auto bad = [&](const std::string& what) {
        return Fail(Error{.code = ErrorCode::kConfig,
                          .message = fmt::format("kernel {}, case {}: {}", spec.name, name, what),
                          .file = ReferencePath(options.repository, spec.name, name).string() + ".json",
                          .remedy = "if the change is intended, record the references again with `warpwright record`"});
      };
      if (found == recorded.outputs.end() || found->dtype != layout.dtype || found->shape != layout.shape)
        return bad("the recorded reference has no output like " + layout.name);
      if (auto mismatch = CompareRecorded(*found, layout.accumulation, leniency,
                                          Recordable(layout.dtype, answer.references[o], answer.references[o].bytes)))
        return bad("the original no longer gives what was recorded: " + mismatch->message);
    }
  }
  if (candidate.supplied) {
    WW_ASSIGN(const SuppliedTrial trial, MakeSuppliedTrial(spec, candidate, options.repository));
    RunConfiguration setting{.source = &original, .spec = &spec, .c = candidate.c, .device = device};
    WW_ASSIGN(const RunOutcome outcome, RunKernel(trusted, setting, trial.inputs));
    const auto bad = [&](const std::string& what) {
      return Fail(Error{.code = ErrorCode::kConfig, .message = what, .file = candidate.supplied->path});
    };
    if (const auto* verdict = std::get_if<core::Verdict>(&outcome))
      return bad("the original does not run on these inputs: " + core::VerdictMessage(*verdict));
    const core::Executed& run = std::get<core::Executed>(outcome);
    for (size_t o = 0; o < trial.outputs.size(); ++o)
      if (auto mismatch =
              Comparator(trial.layouts[o], trial.references[o], leniency).Check(run.buffers[trial.outputs[o]]))
        return bad("the original itself does not give the supplied output: " + mismatch->message);
  }
  return {};
}

// Runs the original on the case's own inputs; a verdict if it is unfit for any case, a note in status if only this case
// is.
Result<std::optional<core::Verdict>> Judge::State::CheckHealth(VerifiedCase& candidate, CaseStatus& status) {
  WW_ASSIGN(OracleResult answer, oracle.Query(candidate.own));
  if (auto* verdict = std::get_if<core::Verdict>(&answer)) return std::optional<core::Verdict>(std::move(*verdict));
  const auto reference = std::get<std::shared_ptr<const TrialReference>>(answer);
  if (!reference->health.empty())
    return std::optional<core::Verdict>(core::Refused{core::Check::kOriginal,
                                                      fmt::format("case {}: {}", candidate.c->name, reference->health),
                                                      kManifestFile, candidate.c->line});
  WW_TRY(CheckReferences(candidate, *reference));
  std::shared_ptr<const TrialReference> other;
  if (SeedMatters(spec)) {
    Trial other_trial = candidate.own;
    other_trial.seed ^= 0x5eed;
    other_trial.bare = true;
    WW_ASSIGN(const OracleResult other_answer, oracle.Query(other_trial));
    if (const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&other_answer)) other = *known;
  }
  const auto reason = SelfTestCase(*reference, other.get());
  if (!reason) return std::optional<core::Verdict>();
  status.verified = false;
  status.check = core::Check::kToleranceSelfTest;
  status.note = "unable to tell wrong results from right ones: " + *reason;
  return std::optional<core::Verdict>();
}

Result<Baseline> Judge::State::Prepare(bool consult_references) {
  Baseline result;
  core::Measured measured;
  measured.device = device;
  verified.clear();
  large.clear();
  for (const core::Case& c : spec.cases) {
    CaseStatus& status = result.cases.emplace_back();
    status.name = c.name;
    WW_ASSIGN(std::optional<core::Verdict> failure, MeasureOriginal(c, status, measured));
    if (failure) {
      result.original = std::move(*failure);
      return result;
    }
  }
  std::stable_sort(verified.begin(), verified.end(), [](const auto& a, const auto& b) {
    return std::pair(a.instructions, a.bytes) < std::pair(b.instructions, b.bytes);
  });
  for (VerifiedCase& candidate : verified) {
    if (consult_references) {
      WW_ASSIGN(candidate.recorded, LoadReference(options.repository, spec.name, candidate.c->name));
      WW_ASSIGN(candidate.supplied, LoadSupplied(options.repository, spec, *candidate.c));
      if (candidate.recorded && (candidate.recorded->scalars != candidate.c->scalars ||
                                 candidate.recorded->spec_sha256 != SpecDigest(spec))) {
        Note(fmt::format("recorded-reference: that of case {} was recorded for another manifest entry and is not used",
                         candidate.c->name));
        candidate.recorded.reset();
      }
      if (candidate.recorded) candidate.own.seed = candidate.recorded->seed;
    }
    auto& status = *std::find_if(result.cases.begin(), result.cases.end(),
                                 [&](const CaseStatus& s) { return s.name == candidate.c->name; });
    WW_ASSIGN(std::optional<core::Verdict> failure, CheckHealth(candidate, status));
    if (failure) {
      result.original = std::move(*failure);
      return result;
    }
  }
  std::erase_if(verified, [&](const VerifiedCase& v) {
    return std::any_of(result.cases.begin(), result.cases.end(),
                       [&](const CaseStatus& s) { return s.name == v.c->name && !s.verified; });
  });
  for (const std::string& note : notes)
    if (note.starts_with(core::kCountersNote)) measured.notes.push_back(note);
  result.truth = oracle.DescribeTruth();
  if (!verified.empty() && !measured.cases.empty()) {
    result.original = std::move(measured);
    return result;
  }
  std::string reasons;
  bool any_blind = false;
  for (const CaseStatus& status : result.cases) {
    reasons += fmt::format("{}case {}: {}", reasons.empty() ? "" : "; ", status.name, status.note);
    any_blind = any_blind || status.check == core::Check::kToleranceSelfTest;
  }
  if (!any_blind)
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = fmt::format("no case of kernel {} can be {} on {}: {}", spec.name,
                                             verified.empty() ? "verified" : "timed", device, reasons),
                      .file = kManifestFile,
                      .line = spec.line,
                      .remedy = "add a small case to the manifest, for example one with `on: [sim]`"});
  result.original = core::Refused{core::Check::kToleranceSelfTest, reasons, kManifestFile, spec.line};
  return result;
}

Judge::Judge(core::KernelSpec spec, core::SourceRef original, std::string device, core::Evaluator& trusted,
             JudgeOptions options)
    : state_(std::make_unique<State>(std::move(spec), std::move(original), std::move(device), trusted,
                                     std::move(options))) {}
Judge::~Judge() = default;

Result<Baseline> Judge::Prepare() {
  if (!state_->baseline) {
    WW_ASSIGN(state_->baseline, state_->Prepare(true));
  }
  return *state_->baseline;
}

Result<core::Verdict> Judge::Evaluate(const core::SourceRef& candidate, core::Evaluator& evaluator,
                                      VerificationLevel effort) {
  WW_ASSIGN(const Baseline baseline, Prepare());
  if (!core::Passed(baseline.original)) return baseline.original;
  if (effort == VerificationLevel::kFull) state_->ahead.Expect({});  // the search that expected more is over
  state_->ahead.Await(candidate.text);
  return EvaluateCandidate(*state_, candidate, evaluator, effort);
}

const std::vector<std::string>& Judge::notes() const { return state_->notes; }

}  // namespace warpwright::judge
