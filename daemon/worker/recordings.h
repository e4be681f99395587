// The launch plans of a worker's sources: each launcher is recorded once for each set of arguments. While a call runs,
// the launchers of calls that were announced are recorded already: a recording is mostly waiting for the processes that
// it starts.
//
// Threads: the owner alone calls. A recording ahead has copies of all that it reads; its result is taken by the owner.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>

#include "core/execution.h"
#include "source/record.h"

namespace warpwright::worker {

// One call of an entry.
struct RecordedCall {
  std::shared_ptr<const source::Slices> slices;
  const core::KernelSpec& spec;
  const std::map<std::string, core::ScalarValue>& scalars;
  const std::vector<core::BufferContent>& buffers;
  const core::Chip& chip;
};

class Recordings {
 public:
  explicit Recordings(std::filesystem::path cache) : cache_(std::move(cache)) {}

  // `announce`: called before a recording is waited for.
  Result<source::RecordOutcome> Of(const RecordedCall& call, const std::function<void()>& announce);
  // Will be asked for; a few at a time, others are left for Of.
  void Begin(const RecordedCall& call);

  source::RecordRequest RequestFor(const RecordedCall& call) const;

 private:
  using Outcome = Result<source::RecordOutcome>;
  Outcome Remember(const std::string& of_any, const std::string& of_these, Outcome outcome);

  std::filesystem::path cache_;
  std::map<std::string, source::RecordOutcome> plans_;
  std::map<std::string, std::future<Outcome>> under_way_;
};

// Everything that RecordPlan depends on, with what inputs hold.
std::string RecordingKey(const RecordedCall& call);

}  // namespace warpwright::worker
