// Worker processes for tests: the real program, with a cache that all tests of a program run share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "worker/worker_evaluator.h"

namespace warpwright {

// `readable`: the folder of the sources.
inline worker::WorkerCommand WorkerCommandFor(const std::filesystem::path& readable) {
  const auto cache = std::filesystem::path(WW_BINARY_DIR) / "test-cache";
  const auto program = std::filesystem::path(WW_BINARY_DIR) / "daemon" / "cli" / "warpwright-worker";
  worker::WorkerCommand command;
  command.argv = {program.string(), "--cache", cache.string(), "--readable", readable.string()};
  command.log = cache / "worker.log";
  std::filesystem::create_directories(cache);
  return command;
}
inline std::unique_ptr<worker::WorkerEvaluator> StartWorker(const std::filesystem::path& readable) {
  return std::make_unique<worker::WorkerEvaluator>(WorkerCommandFor(readable));
}

}  // namespace warpwright
