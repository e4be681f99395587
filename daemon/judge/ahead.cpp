#include "judge/ahead.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "judge/inputs.h"
#include "judge/judge_state.h"

namespace warpwright::judge {
namespace {

// Compilers take a core each; a few are enough to stay ahead of a GPU.
constexpr unsigned kCoresPerProcess = 4, kMostProcesses = 4;
constexpr uint64_t kBuiltElements = 1024;  // of each buffer, over and over: for builds alone

bool IsRealBuild(const core::ExecuteRequest& call) { return call.options.nvcc; }

}  // namespace

Ahead::~Ahead() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (const core::OtherProcess& process : processes_) process.abandon();
}

void Ahead::StartProcesses() {
  const unsigned wanted = std::clamp(std::thread::hardware_concurrency() / kCoresPerProcess, 1u, kMostProcesses);
  for (unsigned i = 0; i < wanted; ++i) {
    auto process = another_();
    if (!process) break;  // then there are fewer, and each version is built when it is judged
    processes_.push_back(std::move(*process));
  }
  for (const core::OtherProcess& process : processes_)
    threads_.emplace_back(
        [this, &evaluator = *process.evaluator](const std::stop_token& stop) { Work(evaluator, stop); });
}

void Ahead::Expect(std::vector<core::ExecuteRequest> calls) {
  if (!another_) return;
  if (threads_.empty() && calls.size() > 1) StartProcesses();
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const core::ExecuteRequest& call) { return !IsRealBuild(call); });
  for (size_t i = 1; i < calls.size(); ++i) waiting_.push_back(std::move(calls[i]));
  changed_.notify_all();
}

void Ahead::Begin(core::ExecuteRequest call) {
  if (!another_) return;
  if (threads_.empty()) StartProcesses();
  const std::lock_guard lock(mutex_);
  waiting_.push_front(std::move(call));
  changed_.notify_all();
}

void Ahead::Await(const std::string& text) {
  std::unique_lock lock(mutex_);
  std::erase_if(waiting_,
                [&](const core::ExecuteRequest& call) { return !IsRealBuild(call) && call.source.text == text; });
  changed_.wait(lock, [&] { return !under_way_.contains(text); });
}

// What a build says is said again when the version is judged.
void Ahead::Work(core::Evaluator& evaluator, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
    if (stop.stop_requested()) return;
    const core::ExecuteRequest call = std::move(waiting_.front());
    waiting_.pop_front();
    const auto mine = under_way_.insert(IsRealBuild(call) ? std::string() : call.source.text);
    lock.unlock();
    (void)evaluator.Execute(call);
    lock.lock();
    under_way_.erase(mine);
    changed_.notify_all();
  }
}

// In a shape that counts, since its launches are those of all the others most of the time; what the inputs hold decides
// nothing about a build. Nothing where there is no such call.
static std::vector<core::ExecuteRequest> BuildsOf(const Judge::State& state,
                                                  const std::vector<core::SourceRef>& candidates) {
  const std::string& device =
      state.on_simulator() ? state.device : state.options.simulator;  // its compiler is the same
  if (!state.baseline || !core::Passed(state.baseline->original) || device.empty()) return {};
  const std::string& name = std::get<core::Measured>(state.baseline->original).cases.front().case_name;
  const core::Case& c = *std::find_if(state.spec.cases.begin(), state.spec.cases.end(),
                                      [&](const core::Case& one) { return one.name == name; });
  const auto inputs = MakeRepeatedInputs(state.spec, c, state.options.seed, state.options.repository, kBuiltElements);
  if (!inputs) return {};
  std::vector<core::ExecuteRequest> calls;
  for (const core::SourceRef& candidate : candidates) {
    core::ExecuteRequest& call = calls.emplace_back();
    call.source = candidate;
    call.spec = state.spec;
    call.case_name = name;
    call.scalars = c.scalars;
    call.buffers = *inputs;
    call.device = device;
    call.options.build_only = true;
  }
  return calls;
}

void Judge::Expect(const std::vector<core::SourceRef>& candidates) {
  std::vector<core::ExecuteRequest> calls = BuildsOf(*state_, candidates);
  if (!calls.empty()) state_->ahead.Expect(std::move(calls));
}

void Judge::ExpectRealBuild(const core::SourceRef& candidate) {
  for (core::ExecuteRequest& call : BuildsOf(*state_, {candidate})) {
    call.options.nvcc = true;
    state_->ahead.Begin(std::move(call));
  }
}

}  // namespace warpwright::judge
