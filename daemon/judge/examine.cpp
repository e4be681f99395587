// The stages through which a candidate goes; judge.h lists them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "judge/judge_state.h"

namespace warpwright {
namespace {

using Failure = std::optional<Verdict>;

class Examination {
 public:
  Examination(Judge::State& state, const SourceRef& candidate, Evaluator& evaluator, Effort effort)
      : state_(state), candidate_(candidate), evaluator_(evaluator), effort_(effort) {}

  Result<Verdict> Run();

 private:
  Result<Failure> OwnInputs(const VerifiedCase& verified);
  Result<Failure> Recorded(const VerifiedCase& verified, const TrialReference& reference, const Executed& run);
  Result<Failure> OtherInputs(const VerifiedCase& verified, Effort effort);
  Result<Failure> OddShapesOf(const VerifiedCase& verified, Effort effort);
  Result<Failure> OtherScalarsOf(const VerifiedCase& verified);
  Result<Failure> ReducedShapesOf();
  Result<Failure> Measure();
  Result<Failure> TryTrial(const Trial& trial);

  struct RunKind {
    bool second = false;   // other guard bands and workspace poison than the first
    bool guarded = false;  // with guard bands on the simulator too, which else faults exactly
  };
  Result<RunOutcome> Execute(const Trial& trial, const std::vector<BufferContent>& inputs, RunKind kind);
  Failure CheckSurroundings(const Trial& trial, const std::vector<BufferContent>& inputs, const Executed& run) const;
  Failure CheckUnwritten(const Trial& trial, const TrialReference& reference, const Executed& first,
                         const std::vector<BufferContent>& complemented, const Executed& second) const;
  Failure CheckDeterminism(const Trial& trial, const TrialReference& reference, const Executed& first,
                           const Executed& second) const;
  void Passed(const std::string& check) {
    if (std::find(measured_.checks.begin(), measured_.checks.end(), check) == measured_.checks.end())
      measured_.checks.push_back(check);
  }

  Judge::State& state_;
  const SourceRef& candidate_;
  Evaluator& evaluator_;
  const Effort effort_;
  uint64_t secret_ = 0;
  Measured measured_;
};

WrongResult Wrong(const std::string& check, const Trial& trial, std::string message) {
  return {check, trial.Describe(), std::move(message)};
}

std::string ElementName(const OutputLayout& layout, size_t index) {
  std::vector<size_t> at(layout.shape.size());
  for (size_t d = at.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(std::max<int64_t>(1, layout.shape[d]));
    at[d] = index % extent;
    index /= extent;
  }
  return fmt::format("{}[{}]", layout.name, fmt::join(at, ", "));
}

Result<RunOutcome> Examination::Execute(const Trial& trial, const std::vector<BufferContent>& inputs, RunKind kind) {
  RunSetting setting{&candidate_, &state_.spec, &trial.c, state_.device, {}};
  setting.options.guard_bytes = state_.on_simulator() && !kind.guarded ? 0 : state_.options.guard_bytes;
  setting.options.seed = kind.second ? ~trial.seed : trial.seed;
  uint64_t usual = 0;
  for (const VerifiedCase& verified : state_.verified) usual = std::max(usual, verified.instructions);
  setting.options.instruction_limit = 1'000'000'000 + 64 * usual;
  WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, inputs));
  if (auto* verdict = std::get_if<Verdict>(&outcome)) {
    if (auto* faulted = std::get_if<Faulted>(verdict)) faulted->case_name = trial.Describe();
  }
  return outcome;
}

Failure Examination::CheckSurroundings(const Trial& trial, const std::vector<BufferContent>& inputs,
                                       const Executed& run) const {
  if (!run.guards.empty()) {
    const GuardViolation& broken = run.guards.front();
    return Wrong("guard-bands", trial,
                 fmt::format("{} bytes outside {} were written, first at byte {} of a buffer of {}", broken.bytes,
                             broken.buffer, broken.offset, [&] {
                               for (const auto& input : inputs)
                                 if (input.name == broken.buffer) return input.bytes.size();
                               return size_t{0};
                             }()));
  }
  size_t index = 0;
  for (const Argument& argument : state_.spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    if (buffer->role != Role::kIn || run.buffers[i] == inputs[i].bytes) continue;
    const auto changed = std::mismatch(run.buffers[i].begin(), run.buffers[i].end(), inputs[i].bytes.begin()).first -
                         run.buffers[i].begin();
    return Wrong("input-hash", trial,
                 fmt::format("the input {} was changed, first at element {}", argument.name,
                             static_cast<size_t>(changed) / SizeOf(buffer->dtype)));
  }
  return std::nullopt;
}

Failure Examination::CheckUnwritten(const Trial& trial, const TrialReference& reference, const Executed& first,
                                    const std::vector<BufferContent>& complemented, const Executed& second) const {
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = SizeOf(reference.layouts[o].dtype),
                 count = first.buffers[i].size() / size;
    if (!reference.inputs[i].uninitialized) continue;  // inout: its old content is a result
    const auto& spared = reference.references[o].unwritten;
    size_t unwritten = 0, example = 0;
    for (size_t e = count; e-- > 0;) {
      const auto same = [&](const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
        return std::memcmp(a.data() + e * size, b.data() + e * size, size) == 0;
      };
      if (!same(first.buffers[i], reference.inputs[i].bytes) || !same(second.buffers[i], complemented[i].bytes))
        continue;
      if (!spared.empty() && spared[e]) continue;
      ++unwritten;
      example = e;
    }
    if (unwritten > 0)
      return Wrong("unwritten-output", trial,
                   fmt::format("{} is not written ({} of {} elements)", ElementName(reference.layouts[o], example),
                               unwritten, count));
  }
  return std::nullopt;
}

Failure Examination::CheckDeterminism(const Trial& trial, const TrialReference& reference, const Executed& first,
                                      const Executed& second) const {
  if (!reference.deterministic || state_.spec.allow.contains(Allow::kNondeterministic)) return std::nullopt;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const size_t i = reference.outputs[o], size = SizeOf(reference.layouts[o].dtype);
    const auto& spared = reference.references[o].unwritten;
    for (size_t e = 0; e < first.buffers[i].size() / size; ++e)
      if (std::memcmp(first.buffers[i].data() + e * size, second.buffers[i].data() + e * size, size) != 0 &&
          (spared.empty() || !spared[e]))
        return Wrong("determinism", trial,
                     fmt::format("{} differs between two runs on the same inputs, while the original's does not",
                                 ElementName(reference.layouts[o], e)));
  }
  return std::nullopt;
}

// Two runs on the case's own inputs, the second with complementary poison and inputs that may not be written.
Result<Failure> Examination::OwnInputs(const VerifiedCase& verified) {
  const Trial& trial = verified.own;
  WW_ASSIGN(const OracleAnswer answer, state_.oracle.Ask(trial));
  if (const auto* verdict = std::get_if<Verdict>(&answer))
    return Fail(ErrorCode::kIo, "the original ran before and does not run now: " + VerdictMessage(*verdict));
  const auto reference = std::get<std::shared_ptr<const TrialReference>>(answer);

  WW_ASSIGN(RunOutcome outcome, Execute(trial, reference->inputs, {.guarded = true}));
  if (auto* verdict = std::get_if<Verdict>(&outcome)) return Failure(std::move(*verdict));
  Executed& first = std::get<Executed>(outcome);
  if (auto failure = CheckSurroundings(trial, reference->inputs, first)) {
    auto* wrong = std::get_if<WrongResult>(&*failure);
    if (wrong != nullptr && wrong->check == "guard-bands") {  // without the bands the simulator says where
      WW_ASSIGN(const RunOutcome exact, Execute(trial, reference->inputs, {}));
      if (const auto* verdict = std::get_if<Verdict>(&exact)) wrong->message += "; " + VerdictMessage(*verdict);
    }
    return failure;
  }
  Passed("guard-bands");
  Passed("input-hash");

  std::vector<BufferContent> complemented = reference->inputs;
  ComplementPoison(state_.spec, trial.seed, complemented);
  size_t index = 0;
  for (const Argument& argument : state_.spec.args)
    if (const auto* buffer = std::get_if<BufferArgument>(&argument.kind))
      complemented[index++].read_only = buffer->role == Role::kIn;
  WW_ASSIGN(RunOutcome again, Execute(trial, complemented, {.second = true}));
  if (auto* verdict = std::get_if<Verdict>(&again)) return Failure(std::move(*verdict));
  const Executed& second = std::get<Executed>(again);
  if (auto failure = CheckSurroundings(trial, complemented, second)) return failure;
  if (auto failure = CheckUnwritten(trial, *reference, first, complemented, second)) return failure;
  Passed("unwritten-output");
  if (auto failure = CheckDeterminism(trial, *reference, first, second)) return failure;
  Passed("determinism");
  if (auto mismatch = state_.Compare(*reference, first.buffers))
    return Failure(Wrong("comparison", trial, mismatch->message));
  Passed("comparison");
  return Recorded(verified, *reference, first);
}

Result<Failure> Examination::Recorded(const VerifiedCase& verified, const TrialReference& reference,
                                      const Executed& run) {
  if (verified.recorded) {
    for (size_t o = 0; o < reference.outputs.size(); ++o)
      for (const RecordedOutput& recorded : verified.recorded->outputs)
        if (recorded.name == reference.layouts[o].name)
          if (auto mismatch = CompareRecorded(
                  recorded, reference.layouts[o].accumulation, state_.leniency,
                  Recordable(recorded.dtype, reference.references[o], run.buffers[reference.outputs[o]])))
            return Failure(Wrong("recorded-reference", verified.own, mismatch->message));
    Passed("recorded-reference");
  }
  if (verified.supplied) {
    WW_ASSIGN(const SuppliedTrial supplied, MakeSuppliedTrial(state_.spec, verified, state_.options.repository));
    WW_ASSIGN(RunOutcome outcome, Execute(verified.own, supplied.inputs, {}));
    if (auto* verdict = std::get_if<Verdict>(&outcome)) return Failure(std::move(*verdict));
    for (size_t o = 0; o < supplied.outputs.size(); ++o)
      if (auto mismatch = Comparator(supplied.layouts[o], supplied.references[o], state_.leniency)
                              .Check(std::get<Executed>(outcome).buffers[supplied.outputs[o]]))
        return Failure(
            Wrong("recorded-reference", verified.own, "against the supplied reference: " + mismatch->message));
    Passed("recorded-reference");
  }
  return Failure();
}

// One run of each side. What the original cannot do is not asked of the candidate.
Result<Failure> Examination::TryTrial(const Trial& trial) {
  WW_ASSIGN(const OracleAnswer answer, state_.oracle.Ask(trial));
  if (const auto* verdict = std::get_if<Verdict>(&answer)) {
    state_.Note(fmt::format("{}: not tested with {}: the original itself: {}", trial.check, trial.Describe(),
                            VerdictMessage(*verdict)));
    return Failure();
  }
  const auto reference = std::get<std::shared_ptr<const TrialReference>>(answer);
  if (!reference->health.empty()) {
    state_.Note(fmt::format("{}: not tested with {}: {}", trial.check, trial.Describe(), reference->health));
    return Failure();
  }
  WW_ASSIGN(RunOutcome outcome, Execute(trial, reference->inputs, {}));
  if (auto* verdict = std::get_if<Verdict>(&outcome)) {
    if (auto* refused = std::get_if<Refused>(verdict))
      refused->reason += fmt::format(" (with {}, which the original handles)", trial.Describe());
    return Failure(std::move(*verdict));
  }
  const Executed& run = std::get<Executed>(outcome);
  if (auto failure = CheckSurroundings(trial, reference->inputs, run)) return failure;
  if (auto mismatch = state_.Compare(*reference, run.buffers)) {
    // Poison in a wrong place says more than its value.
    for (size_t o = 0; o < reference->outputs.size(); ++o) {
      const BufferContent& poison = reference->inputs[reference->outputs[o]];
      const OutputLayout& layout = reference->layouts[o];
      const size_t size = SizeOf(layout.dtype), at = mismatch->index * size;
      if (poison.uninitialized && mismatch->output == layout.name && at + size <= poison.bytes.size() &&
          std::memcmp(run.buffers[reference->outputs[o]].data() + at, poison.bytes.data() + at, size) == 0)
        mismatch->message =
            fmt::format("{} is not written; {}", ElementName(layout, mismatch->index), mismatch->message);
    }
    return Failure(Wrong(trial.check, trial, mismatch->message));
  }
  Passed(trial.check);
  return Failure();
}

Result<Failure> Examination::OtherInputs(const VerifiedCase& verified, Effort effort) {
  for (const Trial& trial : PlanTrials(state_.spec, *verified.c, secret_, effort)) {
    if (&verified != &state_.verified.front() && trial.check != "secret-seed") continue;
    WW_ASSIGN(Failure failure, TryTrial(trial));
    if (failure) return failure;
  }
  return Failure();
}

Result<Failure> Examination::OddShapesOf(const VerifiedCase& verified, Effort effort) {
  const CounterRandom seeds(secret_, 77);
  uint64_t index = 0;
  for (Case& odd : OddShapes(state_.spec, *verified.c, secret_, effort)) {
    const std::string name = odd.name;
    const Trial trial{"odd-shape", std::move(odd), InputVariant::kBase, seeds.Bits(index++)};
    WW_ASSIGN(Failure failure, TryTrial(trial));
    if (failure) return failure;
  }
  return Failure();
}

// Small inputs as well: there a summand beside a sum of squares shows.
Result<Failure> Examination::OtherScalarsOf(const VerifiedCase& verified) {
  const auto other = OtherScalars(state_.spec, *verified.c);
  if (!other) return Failure();
  const CounterRandom seeds(secret_, 79);
  uint64_t index = 0;
  for (const InputVariant variant : {InputVariant::kBase, InputVariant::kScaleDown}) {
    if (variant != InputVariant::kBase && !VariantApplies(state_.spec)) continue;
    WW_ASSIGN(Failure failure, TryTrial({"other-scalars", *other, variant, seeds.Bits(index++)}));
    if (failure) return failure;
  }
  return Failure();
}

// Cases too large to be verified whole, at the lengths that matter: one dimension at a time is cut.
Result<Failure> Examination::ReducedShapesOf() {
  const CounterRandom seeds(secret_, 78);
  uint64_t index = 0;
  for (const auto& [c, instructions] : state_.large) {
    const double share =
        0.5 * static_cast<double>(state_.options.verify_instructions) / static_cast<double>(instructions);
    for (Case& reduced : ReducedShapes(state_.spec, *c, share)) {
      const Trial trial{"reduced-shape", std::move(reduced), InputVariant::kBase, seeds.Bits(index++)};
      WW_ASSIGN(Failure failure, TryTrial(trial));
      if (failure) return failure;
    }
  }
  return Failure();
}

// By exactly the means by which the original was measured, so that equal code gives equal numbers.
Result<Failure> Examination::Measure() {
  for (const CaseMeasurement& wanted : std::get<Measured>(state_.baseline->original).cases) {
    const Case& c = *std::find_if(state_.spec.cases.begin(), state_.spec.cases.end(),
                                  [&](const Case& x) { return x.name == wanted.case_name; });
    WW_ASSIGN(const std::vector<BufferContent> inputs,
              MakeInputs(state_.spec, c, InputVariant::kBase, state_.options.seed, state_.options.repository));
    const RunSetting setting{&candidate_, &state_.spec, &c, state_.device, state_.MeasureOptions(c)};
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, inputs));
    if (auto* verdict = std::get_if<Verdict>(&outcome)) return Failure(std::move(*verdict));
    Executed& run = std::get<Executed>(outcome);
    measured_.modelled = run.modelled;
    measured_.cases.push_back({c.name, c.weight, run.time_us, run.sampled, std::move(run.launches)});
  }
  return Failure();
}

Result<Verdict> Examination::Run() {
  measured_.device = state_.device;
  for (const VerifiedCase& verified : state_.verified) {
    WW_ASSIGN(Failure failure, OwnInputs(verified));
    if (failure) return *failure;
  }
  if (state_.options.secret_seed) {
    secret_ = *state_.options.secret_seed;
  } else if (effort_ == Effort::kQuick) {
    secret_ = state_.search_secret;
  } else {  // only now, when the candidate is compiled and has run: nothing in it can know these
    secret_ = SecretSeed();
  }
  for (const VerifiedCase& verified : state_.verified) {
    const bool first = &verified == &state_.verified.front();
    if (!first && effort_ == Effort::kQuick) break;
    WW_ASSIGN(Failure failure, OtherInputs(verified, first ? effort_ : Effort::kQuick));
    if (failure) return *failure;
  }
  WW_ASSIGN(Failure failure, OddShapesOf(state_.verified.front(), effort_));
  if (failure) return *failure;
  if (effort_ == Effort::kFull) {
    // The neighbours of the largest case too: a launcher may go another way from some size on.
    if (state_.verified.size() > 1) {
      WW_ASSIGN(failure, OddShapesOf(state_.verified.back(), Effort::kQuick));
      if (failure) return *failure;
    }
    WW_ASSIGN(failure, OtherScalarsOf(state_.verified.front()));
    if (failure) return *failure;
    WW_ASSIGN(failure, ReducedShapesOf());
    if (failure) return *failure;
  }
  WW_ASSIGN(failure, Measure());
  if (failure) return *failure;
  return Verdict(std::move(measured_));
}

}  // namespace

Result<Verdict> Examine(Judge::State& state, const SourceRef& candidate, Evaluator& evaluator, Effort effort) {
  return Examination(state, candidate, evaluator, effort).Run();
}

}  // namespace warpwright
