#include "judge/beside.h"

#include <utility>

namespace warpwright::judge {
namespace {

template <typename T>
T ResultOf(std::future<T>& under_way, const std::function<T()>& act) {
  return under_way.valid() ? under_way.get() : act();
}

}  // namespace

Beside::~Beside() {
  for (const core::OtherProcess& process : processes_) process.abandon();
}

core::Evaluator* Beside::Another() {
  if (!state_.options.another) return nullptr;
  auto process = state_.options.another();
  if (!process) {
    state_.Note("one check after another: " + process.error().message);
    return nullptr;
  }
  return processes_.emplace_back(std::move(*process)).evaluator.get();
}

void Beside::BeginEquivalence() {
  core::Evaluator* const other = Another();
  core::Evaluator& evaluator = other != nullptr ? *other : evaluator_;
  ask_ = [this, &evaluator] {
    return AskForEquivalence(state_.spec, state_.original, candidate_, state_.device, evaluator);
  };
  if (other != nullptr) answers_ = std::async(std::launch::async, ask_);
}

Result<EquivalenceAnswers> Beside::Equivalence() { return ResultOf(answers_, ask_); }

void Beside::BeginHuge(const core::Case& c, uint64_t secret, std::vector<double> named, bool lines) {
  core::Evaluator* const trusted = Another();
  core::Evaluator* const other = trusted != nullptr ? Another() : nullptr;
  const bool beside = other != nullptr;
  huge_.emplace(state_, candidate_, beside ? *trusted : state_.trusted, beside ? *other : evaluator_, lines);
  try_ = [this, &c, secret, named = std::move(named)] { return huge_->Try(c, secret, named); };
  if (beside) tried_ = std::async(std::launch::async, try_);
}

Result<Failure> Beside::Huge(AddedCode& added) {
  auto tried = ResultOf(tried_, try_);
  huge_->Tell(state_, added);
  return tried;
}

}  // namespace warpwright::judge
