#include "judge/generated_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/random.h"
#include "core/typed_values.h"
#include "judge/lift_shapes.h"

namespace warpwright::judge {
namespace {

// What an odd shape may take: so many times the bytes of the largest declared case and the work of the case that it is
// made of, so that its neighbours fit. One more of several small extents, or a prime for a stride, can make either a
// thousand times larger.
constexpr uint64_t kOddShapeBytesFactor = 2;
constexpr double kOddShapeWorkFactor = 1.25;
constexpr uint64_t kLeastOddShapeBytes = 1u << 20, kLeastOddShapeInstructions = 5'000'000;
constexpr uint64_t kNeighbours = 2;     // of a case, among its odd shapes: the first
constexpr uint64_t kCountedFactor = 4;  // of the work that a long shape may take
constexpr uint64_t kTiledInstructions = 15'000'000, kDecisionInstructions = 1'000'000;
constexpr uint64_t kFaultInstructions = 200'000'000;   // of the original, to see whether it faults
constexpr uint64_t kSampledInstructions = 60'000'000;  // of a candidate there: it may use a block for every short row

// Whether an integer is negative, or a flag or code another one than any that is declared.
bool IsOutsideCodes(const core::Case& c, const core::Case& other) {
  return std::any_of(other.scalars.begin(), other.scalars.end(), [&](const auto& scalar) {
    const auto *to = std::get_if<int64_t>(&scalar.second), *from = std::get_if<int64_t>(&c.scalars.at(scalar.first));
    return to != nullptr && from != nullptr && *to != *from && (*to < 0 || *from == 0 || *from == 1) &&
           *to != 1 - *from;
  });
}

bool IsInstructionLimit(const core::Verdict& verdict) {
  const auto* faulted = std::get_if<core::Faulted>(&verdict);
  return faulted != nullptr && faulted->fault.kind == core::Fault::Kind::kInstructionLimit;
}

}  // namespace

GeneratedShapes::GeneratedShapes(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 CandidateRuns& runs, TrialRunner& trials)
    : state_(state),
      candidate_(candidate),
      evaluator_(evaluator),
      runs_(runs),
      trials_(trials),
      work_(state.spec, state.oracle.form()) {
  for (const VerifiedCase& verified : state.verified) work_.AddMeasured(*verified.c, verified.instructions);
}

GeneratedShapes::Budget GeneratedShapes::OddBudget(const core::Case& c) const {
  Budget budget{kLeastOddShapeBytes, kLeastOddShapeInstructions};
  for (const core::Case& declared : state_.spec.cases)
    if (const auto bytes = CaseBytes(state_.spec, declared))
      budget.bytes = std::max(budget.bytes, kOddShapeBytesFactor * *bytes);
  const double work = kOddShapeWorkFactor * work_.InstructionsAt(c).value_or(0);
  budget.instructions = std::max(budget.instructions, static_cast<uint64_t>(work));
  return budget;
}

bool GeneratedShapes::Fits(const core::Case& c, const Budget& budget) const {
  const auto bytes = CaseBytes(state_.spec, c);
  if (!bytes) return true;  // for the trial to explain
  return *bytes <= budget.bytes && work_.InstructionsAt(c).value_or(0) <= static_cast<double>(budget.instructions);
}

Result<Failure> GeneratedShapes::TryShapes(std::vector<Trial> trials, const Budget& budget) {
  std::erase_if(trials, [&](const Trial& trial) {
    if (Fits(trial.c, budget)) return false;
    state_.Note(fmt::format("{}: not tested with {}: it takes more than {} MiB or {} million thread instructions",
                            Name(trial.check), trial.Describe(), budget.bytes >> 20, budget.instructions / 1'000'000));
    return true;
  });
  for (Trial& trial : trials) trial.original_instructions = budget.instructions;
  for (size_t i = 0; i < trials.size(); ++i) {
    WW_ASSIGN(Failure failure, TryShape(trials[i], std::span(trials).subspan(i + 1)));
    if (failure) return failure;
  }
  return Failure();
}

Result<Failure> GeneratedShapes::TryShape(const Trial& trial, std::span<const Trial> later) {
  WW_ASSIGN(Failure failure, trials_.Try(trial, later));
  if (!failure || state_.on_simulator()) return failure;
  WW_ASSIGN(const std::string fault, FaultOfOriginal(trial));
  if (fault.empty()) return failure;
  state_.Note(
      fmt::format("{}: not tested with {}: the original itself {}", Name(trial.check), trial.Describe(), fault));
  return Failure();
}

// What reads beyond its buffers gives anything on a GPU, whose callers never ask for such sizes. Asked where a
// candidate failed alone.
Result<std::string> GeneratedShapes::FaultOfOriginal(const Trial& trial) {
  const auto inputs = state_.oracle.InputsOf(trial);
  if (!inputs || state_.options.simulator.empty()) return std::string();
  RunConfiguration setting{
      .source = &state_.original, .spec = &state_.spec, .c = &trial.c, .device = state_.options.simulator};
  setting.options.keep_outputs = false;
  setting.options.instruction_limit = kFaultInstructions;
  WW_ASSIGN(const RunOutcome outcome, RunKernel(state_.trusted, setting, **inputs));
  const auto* verdict = std::get_if<core::Verdict>(&outcome);
  const auto* faulted = verdict != nullptr ? std::get_if<core::Faulted>(verdict) : nullptr;
  using Kind = core::Fault::Kind;
  if (faulted == nullptr) return std::string();
  if (faulted->fault.kind != Kind::kNotSimulated && faulted->fault.kind != Kind::kInstructionLimit)
    return fmt::format("faults there when it is simulated: {}", faulted->fault.message);
  WW_ASSIGN(const bool leaves, LeavesItsBuffers(trial));
  return std::string(leaves ? "reads or writes outside its buffers there" : "");
}

// By pages that nothing may touch, on the device, and by what lies around a buffer there, whose end need not be a
// page's: what is too much for the simulator.
Result<bool> GeneratedShapes::LeavesItsBuffers(const Trial& trial) {
  WW_ASSIGN(const OracleResult answer, state_.oracle.Query(trial));
  const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
  if (reference == nullptr) return false;
  for (const core::PageGuard guard : {core::PageGuard::kEnds, core::PageGuard::kBegins}) {
    WW_ASSIGN(const auto original,
              state_.ReproducibilityOfOriginal(trial, **reference, OptionsOf({.second = true, .exact = guard})));
    using Repetition = Judge::State::Reproducibility;
    if (original == Repetition::kFaults || original == Repetition::kOutsideTolerance) return true;
  }
  return false;
}

// Of nothing a sum is zero, on which callers rely; what is no number, as a mean of nothing, or left as it was, they do
// not.
Result<bool> GeneratedShapes::AnswersWithNumbers(const Trial& trial) {
  const auto asked = state_.oracle.Query(trial);
  if (!asked) return false;  // a stride of zero is no size
  const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&*asked);
  if (known == nullptr || !(*known)->health.empty()) return false;
  const TrialReference& reference = **known;
  for (size_t o = 0; o < reference.outputs.size(); ++o) {
    const OutputReference& r = reference.references[o];
    const core::DType dtype = reference.layouts[o].dtype;
    if (std::find(r.unwritten.begin(), r.unwritten.end(), true) != r.unwritten.end()) return false;
    for (size_t e = 0; core::IsFloat(dtype) && e < r.bytes.size() / core::SizeOf(dtype); ++e)
      if (!std::isfinite(core::LoadAsDouble(dtype, r.bytes.data(), e))) return false;
  }
  return true;
}

// An allocation of nothing has no address of its own on a GPU: such calls are simulated.
Result<Failure> GeneratedShapes::SimulateNothing(const Trial& trial) {
  const auto inputs = state_.oracle.InputsOf(trial);
  if (!inputs || state_.options.simulator.empty()) return Failure();
  RunConfiguration setting{
      .source = &state_.original, .spec = &state_.spec, .c = &trial.c, .device = state_.options.simulator};
  WW_ASSIGN(const RunOutcome original, RunKernel(state_.trusted, setting, **inputs));
  const auto* expected = std::get_if<core::Executed>(&original);
  if (expected == nullptr) return Failure();
  setting.source = &candidate_;
  WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator_, setting, **inputs));
  if (auto* verdict = std::get_if<core::Verdict>(&outcome)) {
    if (auto* refused = std::get_if<core::Refused>(verdict))
      refused->reason += fmt::format(" (with {}, which the original handles)", trial.Describe());
    return Failure(std::move(*verdict));
  }
  return CompareOfNothing(trial, **inputs, *expected, std::get<core::Executed>(outcome));
}

// On what is left as it was nobody relies, nor on what is no number. What is made of a bias alone, as a norm of it, has
// the rounding of any other case.
Result<Failure> GeneratedShapes::CompareOfNothing(const Trial& trial, const std::vector<core::BufferContent>& inputs,
                                                  const core::Executed& original, const core::Executed& run) {
  TrialReference known{.inputs = inputs, .uses = original.uses};
  std::vector<base::Bytes> mine(inputs.size());
  size_t index = 0;
  for (const core::Argument& argument : state_.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const size_t i = index++;
    const base::Bytes &expected = original.buffers[i], &actual = run.buffers[i];
    const auto shape = core::ShapeOf(argument, trial.c);
    if (buffer->role == core::Role::kScratch || !shape || actual.size() != expected.size()) continue;
    const size_t size = core::SizeOf(buffer->dtype), count = expected.size() / size;
    std::vector<std::byte> counted = actual.Copy();
    for (size_t e = 0; e < count; ++e) {
      const bool is_number =
          !core::IsFloat(buffer->dtype) || std::isfinite(core::LoadAsDouble(buffer->dtype, expected.data(), e));
      if (!is_number || core::IsSameElement(expected.data(), inputs[i].bytes.data(), e, size))
        std::copy_n(expected.data() + e * size, size, counted.data() + e * size);
    }
    mine[i] = base::Bytes(std::move(counted));
    if (buffer->role == core::Role::kIn && mine[i] != expected)
      return Failure(Wrong(trial.check, trial, argument.name + " is an input, and is written"));
    if (buffer->role == core::Role::kIn) continue;
    known.outputs.push_back(i);
    known.layouts.push_back({.name = argument.name,
                             .dtype = buffer->dtype,
                             .shape = *shape,
                             .accumulation = EstimateAccumulation(state_.spec, *state_.verified.front().c, argument)});
    known.references.push_back({.bytes = expected});
  }
  auto mismatch = state_.Compare(known, mine);
  if (!mismatch) return Failure();
  WW_ASSIGN(const bool has_truth, state_.oracle.AddFormTo(trial, known));
  if (has_truth) mismatch = state_.Compare(known, mine);
  return mismatch ? Failure(Wrong(trial.check, trial, mismatch->message, mismatch->sample)) : Failure();
}

Result<Failure> GeneratedShapes::Odd(const core::Case& c, VerificationLevel effort) {
  const Budget budget = OddBudget(c);
  const base::CounterRandom seeds(secret_, 77);
  uint64_t index = 0;
  std::vector<Trial> trials;
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  for (core::Case& odd : OddShapes(state_.spec, c, secret_, effort, fits)) {
    const bool neighbour = index < kNeighbours && effort == VerificationLevel::kFull && HasNarrowAlignment(state_.spec);
    Trial trial{.check = core::Check::kOddShape,
                .c = std::move(odd),
                .variant = InputVariant::kBase,
                .seed = seeds.Bits(index++)};
    const bool of_nothing = HasEmptyBuffer(state_.spec, trial.c);
    if (of_nothing && !state_.on_simulator()) {
      WW_ASSIGN(Failure failure, SimulateNothing(trial));
      if (failure) return failure;
      continue;
    }
    if (of_nothing && !LeavesNothingToWrite(state_.spec, trial.c)) {
      trial.bare = true;
      WW_ASSIGN(const bool answers, AnswersWithNumbers(trial));
      if (!answers) continue;
    }
    trials.push_back(trial);
    // A path for what is aligned more than it need be, or less, is right for even sizes, and loses the rest of others.
    trial.bare = true;
    for (const Pointers pointers : {Pointers::kLeast, Pointers::kTwice}) {
      trial.pointers = pointers;
      if (neighbour) trials.push_back(trial);
    }
  }
  return TryShapes(std::move(trials), budget);
}

Result<Failure> GeneratedShapes::LikeTimed(VerificationLevel effort) {
  const base::CounterRandom seeds(secret_, 85);
  uint64_t index = 0;
  for (const core::Case& small : SmallCasesLikeTimed(state_.spec)) {
    std::vector<Trial> trials = {{.check = core::Check::kOddShape, .c = small, .seed = seeds.Bits(index)}};
    if (index++ > 0 && effort == VerificationLevel::kQuick) break;
    // The other cases' taps and strides may lead to another path, and special values were tried on theirs alone.
    if (index == 1)
      for (Trial& trial : PlanTrials(state_.spec, small, secret_, effort))
        if (HasSpecialInputs(trial)) trials.push_back(std::move(trial));
    for (Trial& trial : trials) trial.check = core::Check::kOddShape;  // the manifest need not allow such sizes
    WW_ASSIGN(Failure failure, TryShapes(std::move(trials), OddBudget(small)));
    if (failure) return failure;
  }
  return Failure();
}

Result<Failure> GeneratedShapes::TryLong(std::vector<core::Case> shapes, const Budget& budget) {
  const base::CounterRandom seeds(secret_, 80);
  uint64_t index = 0;
  // Narrow counters overflow where all values are the same.
  const InputVariant equal = VariantApplies(state_.spec) ? InputVariant::kTies : InputVariant::kIntegerEqual;
  std::vector<Trial> trials;
  for (core::Case& shape : shapes) {
    const InputVariant variant = index % 2 == 0 ? InputVariant::kFarNeedle : equal;
    trials.push_back({.check = core::Check::kOddShape,
                      .c = std::move(shape),
                      .variant = variant,
                      .seed = seeds.Bits(index++),
                      .bare = true,
                      .sample_instructions = kSampledInstructions});
  }
  return TryShapes(std::move(trials), budget);
}

Result<Failure> GeneratedShapes::Long(const core::Case& c) {
  const Budget budget{state_.options.max_long_bytes, state_.options.max_long_instructions};
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  return TryLong(LongShapes(state_.spec, c, secret_, fits), budget);
}

Result<Failure> GeneratedShapes::Swept(const core::Case& c) {
  const Budget budget = OddBudget(c);
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  return TryLong(SweptShapes(state_.spec, c, secret_, fits), budget);
}

Result<Failure> GeneratedShapes::Around(const core::Case& c, const std::vector<int64_t>& sizes) {
  const Budget budget{state_.options.max_long_bytes, state_.options.max_long_instructions};
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  return TryLong(ShapesAround(state_.spec, c, secret_, sizes, fits), budget);
}

namespace {

// What an integer may be that stands for nothing: an argument's value, a negative number that the original names, -1.
std::vector<int64_t> IntegersForNothing(const core::KernelSpec& spec, const core::Case& c,
                                        const std::vector<double>& numbers) {
  constexpr size_t kMost = 4;
  const std::set<std::string> sizes = ShapeScalars(spec);
  std::vector<int64_t> values = {-1};
  const auto add = [&](int64_t value) {
    if (values.size() < kMost && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  for (const auto& [name, value] : core::IntegerScalars(c))
    if (!sizes.contains(name)) add(value);
  for (const double number : numbers)
    if (number < 0 && number >= INT32_MIN && number == std::floor(number)) add(static_cast<int64_t>(number));
  return values;
}

}  // namespace

Result<Failure> GeneratedShapes::OtherArguments(const core::Case& c, const std::vector<double>& numbers_of_original) {
  const Budget budget = OddBudget(c);
  const base::CounterRandom seeds(secret_, 87);
  uint64_t index = 0;
  std::vector<Trial> trials;
  for (core::Case& other : OtherIntegers(state_.spec, c)) {
    Trial trial{.check = core::Check::kOtherScalars, .c = std::move(other), .seed = seeds.Bits(index++)};
    if (IsOutsideCodes(c, trial.c)) {  // what is written for none of them, or for a count that is none
      trial.bare = true;
      WW_ASSIGN(const bool answers, AnswersWithNumbers(trial));
      if (!answers) continue;
      trial.bare = false;
    }
    trials.push_back(std::move(trial));
  }
  std::vector<core::Case> infinite;
  if (state_.spec.special != core::SpecialInputs::kFinite) infinite = WithInfiniteScalars(state_.spec, c);
  for (core::Case& other : infinite) {
    Trial trial{.check = core::Check::kOtherScalars, .c = std::move(other), .seed = seeds.Bits(index++), .bare = true};
    WW_ASSIGN(const bool answers, AnswersWithNumbers(trial));
    if (answers) trials.push_back(std::move(trial));
  }
  std::vector<int64_t> for_nothing;
  if (IntegerVariantApplies(state_.spec)) for_nothing = IntegersForNothing(state_.spec, c, numbers_of_original);
  for (const int64_t value : for_nothing)
    trials.push_back({.check = core::Check::kDistributions,
                      .c = c,
                      .variant = InputVariant::kIntegerNamed,
                      .seed = seeds.Bits(index++),
                      .named = {static_cast<double>(value)},
                      .bare = true});
  return TryShapes(std::move(trials), budget);
}

Result<Failure> GeneratedShapes::Unaligned(const core::Case& c) {
  if (!HasNarrowAlignment(state_.spec)) return Failure();
  const Budget budget = OddBudget(c);
  std::vector<core::Case> shapes = AlignedShapes(state_.spec, c, [&](const core::Case& s) { return Fits(s, budget); });
  std::erase_if(shapes, [&](const core::Case& s) { return !state_.oracle.InputsOf({.c = s, .seed = secret_}); });
  if (shapes.empty()) shapes.push_back(c);  // the manifest allows no such sizes
  std::vector<Placing> placings = PlacingsOf(state_.spec);
  placings.push_back({Pointers::kLeast});
  std::vector<Trial> trials;
  for (const core::Case& shape : shapes)
    for (const Placing& placing : placings)
      trials.push_back({.check = core::Check::kOddShape,
                        .c = shape,
                        .seed = secret_,
                        .pointers = placing.pointers,
                        .unaligned = placing.unaligned,
                        .bare = true});
  return TryShapes(std::move(trials), budget);
}

Result<Failure> GeneratedShapes::Counted(const core::Case& c) {
  const bool integers = IntegerVariantApplies(state_.spec);
  if (!integers && !HasIntegerOutput(state_.spec)) return Failure();  // nothing is counted
  const Budget budget{state_.options.max_long_bytes, kCountedFactor * state_.options.max_long_instructions};
  const base::CounterRandom seeds(secret_, 84);
  uint64_t index = 0;
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  for (core::Case& shape : CountedShapes(state_.spec, c, fits)) {
    const Trial trial{.check = core::Check::kOddShape,
                      .c = std::move(shape),
                      .variant = integers ? InputVariant::kIntegerEqual : InputVariant::kConstant,
                      .seed = seeds.Bits(index++),
                      .named = {std::numeric_limits<double>::max()},
                      .bare = true,
                      .sample_instructions = 2 * budget.instructions};
    WW_ASSIGN(Failure failure, TryShapes({trial}, budget));
    // A tile of products is a thousand times the work of the few that are asked for there.
    if (failure && IsInstructionLimit(*failure)) {
      state_.Note(
          fmt::format("{}: not tested with {}: the candidate takes too long", Name(trial.check), trial.Describe()));
      continue;
    }
    if (failure) return failure;
  }
  return Failure();
}

// Of the candidate, and not of the original.
Result<std::vector<core::Decision>> GeneratedShapes::DecisionsOf(const core::Case& c) {
  using Decisions = std::vector<core::Decision>;
  const Trial trial{.check = core::Check::kOddShape, .c = c, .seed = secret_};
  WW_ASSIGN(const auto inputs, state_.oracle.InputsOf(trial));
  const RunKind kind{.sample_instructions = kDecisionInstructions, .decisions = true, .simulated = true};
  RunConfiguration setting{.spec = &state_.spec, .c = &trial.c, .options = OptionsOf(kind)};
  setting.device = state_.on_simulator() ? state_.device : state_.options.simulator;
  setting.options.keep_outputs = false;
  if (setting.device.empty()) return Decisions();
  const auto ask = [&](const core::SourceRef& source, core::Evaluator& evaluator) -> Result<Decisions> {
    setting.source = &source;
    WW_ASSIGN(RunOutcome outcome, RunKernel(evaluator, setting, *inputs));
    auto* run = std::get_if<core::Executed>(&outcome);
    return run != nullptr ? std::move(run->decisions) : Decisions();
  };
  if (!state_.decisions) {
    WW_ASSIGN(state_.decisions, ask(state_.original, state_.trusted));
  }
  WW_ASSIGN(Decisions decisions, ask(candidate_, evaluator_));
  std::erase_if(decisions, [&](const core::Decision& decision) {
    return std::find(state_.decisions->begin(), state_.decisions->end(), decision) != state_.decisions->end();
  });
  return decisions;
}

Result<Failure> GeneratedShapes::Decided(const core::Case& c) {
  const Budget budget{state_.options.max_long_bytes, state_.options.max_long_instructions};
  WW_ASSIGN(const std::vector<core::Decision> decisions, DecisionsOf(c));
  const auto fits = [&](const core::Case& shape) { return Fits(shape, budget); };
  const base::CounterRandom seeds(secret_, 82);
  uint64_t index = 0;
  std::vector<Trial> trials;
  for (core::Case& shape : DecidedShapes(state_.spec, c, decisions, fits))
    trials.push_back({.check = core::Check::kOddShape,
                      .c = std::move(shape),
                      .variant = InputVariant::kBase,
                      .seed = seeds.Bits(index++),
                      .bare = true,
                      .sample_instructions = kSampledInstructions});
  return TryShapes(std::move(trials), budget);
}

Result<Failure> GeneratedShapes::Tiled(const core::Case& c) {
  for (core::Case& shape : TiledShapes(state_.spec, c)) {
    const Trial trial{.check = core::Check::kOddShape, .c = std::move(shape), .seed = secret_};
    const auto bytes = CaseBytes(state_.spec, trial.c);
    if (!bytes || *bytes > state_.options.max_long_bytes || !state_.on_simulator()) continue;
    const auto inputs = state_.oracle.InputsOf(trial);
    if (!inputs) continue;
    const RunKind kind{.sample_instructions = kTiledInstructions};
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, **inputs, kind));
    auto* verdict = std::get_if<core::Verdict>(&outcome);
    if (verdict == nullptr || !std::holds_alternative<core::Faulted>(*verdict)) continue;
    const RunConfiguration setting{.source = &state_.original,
                                   .spec = &state_.spec,
                                   .c = &trial.c,
                                   .device = state_.device,
                                   .options = OptionsOf(kind)};
    WW_ASSIGN(const RunOutcome original, RunKernel(state_.trusted, setting, **inputs));
    if (std::holds_alternative<core::Executed>(original)) return Failure(std::move(*verdict));
  }
  return Failure();
}

Result<Failure> GeneratedShapes::Reduced() {
  const base::CounterRandom seeds(secret_, 78);
  uint64_t index = 0;
  for (const auto& [c, instructions] : state_.large) {
    const double share =
        0.5 * static_cast<double>(state_.options.verify_instructions) / static_cast<double>(instructions);
    for (core::Case& reduced : ReducedShapes(state_.spec, *c, share)) {
      const Trial trial{core::Check::kReducedShape, std::move(reduced), InputVariant::kBase, seeds.Bits(index++)};
      WW_ASSIGN(Failure failure, trials_.Try(trial));
      if (failure) return failure;
    }
  }
  return Failure();
}

}  // namespace warpwright::judge
