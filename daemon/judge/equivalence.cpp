#include "judge/equivalence.h"

#include <fmt/format.h>

#include <algorithm>

#include "judge/lift_shapes.h"

namespace warpwright::judge {
namespace {

constexpr size_t kShapes = 6, kShapesAround = 6;
constexpr uint64_t kLimitBytes = 4u << 20;  // of a shape's buffers
constexpr size_t kMaxTried = 8;             // differences
constexpr size_t kMaxShown = 200;           // characters of an expression
constexpr size_t kMaxRemarks = 8;
constexpr uint64_t kSeed = 0x6571;  // of poison

// "30 by the same operations, 6 as the same formula, 4 by their values on 12 inputs", without those of which there are
// none.
std::string HowTheyAreEqual(const core::Equal& equal) {
  std::vector<std::string> parts;
  if (equal.identical > 0) parts.push_back(fmt::format("{} by the same operations", equal.identical));
  if (equal.same_form > 0) parts.push_back(fmt::format("{} as the same formula", equal.same_form));
  if (const uint64_t others = equal.elements - equal.identical - equal.same_form; others > 0)
    parts.push_back(fmt::format("{} by their values on {} inputs", others, equal.inputs));
  // Of all: their number stands in front already.
  if (parts.size() == 1) return parts.front().substr(parts.front().find(' ') + 1);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view Words(core::DifferenceKind kind) {
  switch (kind) {
    case core::DifferenceKind::kNotWritten: return "is not written";
    case core::DifferenceKind::kWritten: return "is written, which the original does not do";
    case core::DifferenceKind::kFunction: return "is another function of the inputs";
    case core::DifferenceKind::kAccuracy: return "loses what the original keeps, by rounding or overflow";
    case core::DifferenceKind::kOrder: return "depends on the order of blocks or warps";
    case core::DifferenceKind::kEarlierCall: return "depends on an earlier call";
    case core::DifferenceKind::kFails: return "does not run";
  }
  return "?";
}

std::string ScalarsText(const std::map<std::string, core::ScalarValue>& scalars) {
  std::string text;
  for (const auto& [name, value] : scalars)
    std::visit([&, n = name](auto v) { text += fmt::format("{}{}={}", text.empty() ? "" : ",", n, v); }, value);
  return text;
}

std::string Shown(const std::string& text) {
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "...";
}

std::string Describe(const core::Difference& difference) {
  const std::string where =
      difference.output.empty() ? "it" : fmt::format("{}[{}]", Shown(difference.output), difference.element);
  std::string text = fmt::format("{} {}", where, Words(difference.kind));
  if (!difference.original.empty())
    text += fmt::format(": {} became {}", Shown(difference.original), Shown(difference.candidate));
  else if (!difference.candidate.empty()) text += ": " + Shown(difference.candidate);
  return text;
}

// At which the original is certainly meant to run.
std::vector<core::LiftShape> UsualShapes(const core::KernelSpec& spec) {
  std::vector<core::LiftShape> shapes = MakeLiftShapes(spec, kShapes, kLimitBytes);
  std::erase_if(shapes, [](const core::LiftShape& shape) { return shape.apart; });
  return shapes;
}

// The smallest one leaves time for inputs of every range; the others are in the order in which they were made.
std::vector<core::LiftShape> SmallestFirst(std::vector<core::LiftShape> shapes) {
  const auto bytes = [](const core::LiftShape& shape) {
    uint64_t sum = 0;
    for (const core::BufferContent& buffer : shape.buffers) sum += buffer.bytes.size();
    return sum;
  };
  const auto smallest =
      std::min_element(shapes.begin(), shapes.end(), [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  if (smallest != shapes.end()) std::rotate(shapes.begin(), smallest, smallest + 1);
  return shapes;
}

class EquivalenceCheck {
 public:
  EquivalenceCheck(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                   core::Measured& measured)
      : state_(state), measured_(measured), runs_(state, candidate, evaluator, VerificationLevel::kFull) {}

  Result<Failure> Run(const EquivalenceAnswers& answers) {
    WW_ASSIGN(Failure failure, Evaluate(answers.small));
    const auto* small = std::get_if<core::Equal>(&answers.small.outcome);
    if (failure || small == nullptr) return failure;
    core::Equal equal = *small;
    if (answers.around) {
      if (const auto* more = std::get_if<core::Equal>(&answers.around->outcome)) {
        equal.shapes += more->shapes;
        equal.inputs += more->inputs;
        equal.elements += more->elements;
        equal.identical += more->identical;
        equal.same_form += more->same_form;
      } else if (std::holds_alternative<core::Different>(answers.around->outcome)) {
        return Evaluate(*answers.around);
      }
    }
    measured_.checks.emplace_back(core::Check::kEquivalence);
    Note(fmt::format("equivalence: {} elements at {} shapes are equal: {}", equal.elements, equal.shapes,
                     HowTheyAreEqual(equal)));
    return failure;
  }

 private:
  void Note(std::string note) {
    if (std::find(measured_.notes.begin(), measured_.notes.end(), note) == measured_.notes.end())
      measured_.notes.push_back(std::move(note));
  }

  Result<Failure> Evaluate(const core::Equivalence& answer) {
    for (size_t i = 0; i < std::min(answer.remarks.size(), kMaxRemarks); ++i)
      Note("equivalence: " + Shown(answer.remarks[i]));
    if (const auto* not_comparable = std::get_if<core::NotComparable>(&answer.outcome)) {
      Note(fmt::format("equivalence: not tested: the {} cannot be followed ({}: {}); the numbers decide",
                       not_comparable->candidate ? "candidate" : "original", Shown(not_comparable->blocker),
                       Shown(not_comparable->message)));
      return Failure();
    }
    const auto* different = std::get_if<core::Different>(&answer.outcome);
    if (different == nullptr) return Failure();
    for (size_t i = 0; i < std::min(different->differences.size(), kMaxTried); ++i) {
      WW_ASSIGN(Failure failure, Show(different->differences[i]));
      if (failure) return failure;
    }
    const std::string what = different->differences.empty() ? "nothing" : Describe(different->differences[0]);
    Note(fmt::format("equivalence: not tested: {}; no run shows it", what));
    return Failure();
  }

  // The input is the answer of a process that ran the candidate: it must at least fit.
  bool Fits(const core::LiftShape& input, const core::Case& c) const {
    size_t index = 0;
    for (const core::Argument& argument : state_.spec.args) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      if (buffer == nullptr) {
        if (!c.scalars.contains(argument.name)) return false;
        continue;
      }
      const auto shape = core::ShapeOf(argument, c);
      if (!shape || index >= input.buffers.size() || input.buffers[index].name != argument.name) return false;
      uint64_t bytes = core::SizeOf(buffer->dtype);
      for (const int64_t extent : *shape)
        if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return false;
      if (input.buffers[index++].bytes.size() != bytes || bytes > kLimitBytes) return false;
    }
    return index == input.buffers.size();
  }

  // The candidate's own worker ran it after another call: what it says can only be to the candidate's disadvantage.
  Result<Failure> AfterEarlierCall(const core::Difference& difference, const Trial& trial,
                                   const TrialReference& reference) {
    const bool may = state_.spec.allow.contains(core::Allow::kState) || !reference.changed_globals.empty();
    if (difference.outputs.empty() || may) return Failure();
    bool fits = difference.outputs.size() == reference.inputs.size();
    for (size_t i = 0; fits && i < reference.inputs.size(); ++i)
      fits = difference.outputs[i].size() == reference.inputs[i].bytes.size();
    if (!fits) return Fail(ErrorCode::kCorrupt, "outputs that do not fit their shape");
    if (const auto mismatch = state_.CompareKnown(trial, reference, difference.outputs))
      return Failure(Wrong(core::Check::kEquivalence, trial,
                           fmt::format("after an earlier call {}; {}", mismatch->message, Describe(difference))));
    return Failure();
  }

  // Both sides on the difference's input, compared as ever.
  Result<Failure> Show(const core::Difference& difference) {
    Trial trial{.check = core::Check::kEquivalence, .c = {}, .seed = kSeed + ++tried_};
    for (const core::Argument& argument : state_.spec.args)
      if (const auto found = difference.input.scalars.find(argument.name); found != difference.input.scalars.end())
        trial.c.scalars.insert(*found);
    trial.c.name = ScalarsText(trial.c.scalars);
    if (!Fits(difference.input, trial.c)) return Fail(ErrorCode::kCorrupt, "an input that does not fit its shape");
    std::vector<core::BufferContent> contents = difference.input.buffers;
    for (core::BufferContent& content : contents) {
      const core::Argument& argument = *state_.spec.Find(content.name);
      const core::Role role = std::get<core::BufferArgument>(argument.kind).role;
      content = {.name = content.name, .bytes = content.bytes};
      content.uninitialized = role == core::Role::kOut || role == core::Role::kScratch;
      content.read_only = role == core::Role::kIn;
    }
    WW_ASSIGN(const OracleResult answer, state_.oracle.QueryWithContents(trial, std::move(contents)));
    const auto* known = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
    if (known == nullptr || !(*known)->health.empty()) return Failure();
    const TrialReference& reference = **known;
    if (difference.kind == core::DifferenceKind::kEarlierCall) return AfterEarlierCall(difference, trial, reference);
    WW_ASSIGN(RunOutcome outcome, runs_.Execute(trial, reference.inputs, {.runs = kSimulatedRuns}));
    if (auto* verdict = std::get_if<core::Verdict>(&outcome)) return Failure(std::move(*verdict));
    const core::Executed& run = std::get<core::Executed>(outcome);
    auto mismatch = state_.CompareKnown(trial, reference, run.buffers);
    if (!mismatch && run.differing_runs > 0) mismatch = state_.CompareKnown(trial, reference, run.other_buffers);
    if (!mismatch) return Failure();
    return Failure(Wrong(core::Check::kEquivalence, trial,
                         fmt::format("{}; {}", mismatch->message, Describe(difference)), mismatch->sample));
  }

  Judge::State& state_;
  core::Measured& measured_;
  CandidateRuns runs_;
  uint64_t tried_ = 0;
};

}  // namespace

Result<EquivalenceAnswers> AskForEquivalence(const core::KernelSpec& spec, const core::SourceRef& original,
                                             const core::SourceRef& candidate, const std::string& device,
                                             core::Evaluator& evaluator) {
  core::EquivalenceRequest request;
  request.original = original;
  request.candidate = candidate;
  request.spec = spec;
  request.device = device;
  request.shapes = SmallestFirst(UsualShapes(spec));
  EquivalenceAnswers answers;
  WW_ASSIGN(answers.small, evaluator.Compare(request));
  if (!std::holds_alternative<core::Equal>(answers.small.outcome)) return answers;
  request.shapes = MakeShapesAround(spec, answers.small.literals, kShapesAround, kLimitBytes);
  if (request.shapes.empty()) return answers;
  request.compared_shapes = kShapesAround;
  WW_ASSIGN(answers.around, evaluator.Compare(request));
  return answers;
}

Result<Failure> CheckEquivalence(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 const EquivalenceAnswers& answers, core::Measured& measured) {
  return EquivalenceCheck(state, candidate, evaluator, measured).Run(answers);
}

}  // namespace warpwright::judge
