// Worker processes for tests: the real program.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/compiled_cache.h"
#include "worker/worker_evaluator.h"

namespace warpwright {

// `readable`: the folder of the sources.
inline worker::WorkerCommand WorkerCommandFor(const std::filesystem::path& readable) {
  const auto program = std::filesystem::path(WW_BINARY_DIR) / "daemon" / "cli" / "warpwright-worker";
  worker::WorkerCommand command;
  command.argv = {program.string(), "--cache", CompiledCache().string(), "--readable", readable.string()};
  command.log = CompiledCache() / "worker.log";
  return command;
}
inline std::unique_ptr<worker::WorkerEvaluator> StartWorker(const std::filesystem::path& readable) {
  return std::make_unique<worker::WorkerEvaluator>(WorkerCommandFor(readable));
}

}  // namespace warpwright
