// Steps, outcomes and results of tasks as JSON text: the columns of the trajectory. Decoding is strict and never
// throws.
#pragma once

#include "memory/trajectory.h"

namespace warpwright::memory {

std::string EncodeStep(const StepRecord& record);
Result<StepRecord> DecodeStep(std::string_view json);
std::string EncodeOutcome(const StepOutcome& outcome);
Result<StepOutcome> DecodeOutcome(std::string_view json);
std::string EncodeResult(const TaskResult& result);
Result<TaskResult> DecodeResult(std::string_view json);
std::string EncodeParameters(const std::map<std::string, std::string>& parameters);
Result<std::map<std::string, std::string>> DecodeParameters(std::string_view json);

// Content address of what a step is about to do (see trajectory.h).
std::string StepIdentity(const StepRecord& record);

}  // namespace warpwright::memory
