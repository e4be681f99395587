// doctor: examines a machine, by querying a worker and by running a small kernel. doctor_checks.h evaluates the facts.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/doctor_checks.h"
#include "app/progress.h"
#include "base/subprocess.h"
#include "core/evaluator.h"

namespace warpwright::app {

struct DoctorRequest {
  std::string device;  // empty: a GPU, if any
  std::filesystem::path repository, cache;
  std::filesystem::path scratch;    // that workers may read
  std::vector<std::string> worker;  // its command line, for remedies
};

// A worker in its sandbox.
struct DoctorWorker {
  std::unique_ptr<core::Evaluator> evaluator;
  std::function<std::string()> hello;  // its greeting: Supervisor::hello
};
struct DoctorServices {
  std::function<Result<base::Completed>(const std::vector<std::string>& question)>
      ask_worker;  // outside of the sandbox
  std::function<DoctorWorker(bool gpu)> make_worker;
  std::function<std::string()> worker_log;  // of all workers so far
  ProgressCallbacks progress = {};
};

DoctorFacts ExamineMachine(const DoctorRequest& request, const DoctorServices& services);

}  // namespace warpwright::app
