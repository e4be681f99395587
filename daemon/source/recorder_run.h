// One run of a recorder program in the sandbox: what it is told, and what it said. Private to source/.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>

#include "base/result.h"
#include "core/verdict.h"
#include "source/host_program.h"
#include "source/record.h"
#include "source/recording.h"
#include "source/slice.h"

namespace warpwright::source {

// In each, what varies in reality is another; see record.h.
enum class Run : uint8_t { kPlain, kOtherWorld, kLater };
inline constexpr size_t kRuns = 3;

Result<std::variant<Recording, core::Refused>> RunOnce(const Slices& slices, const RecordRequest& request,
                                                       const std::filesystem::path& program, const HostProgram& host,
                                                       Run run);

// Without a line: that of the entry.
core::Refused RefuseToRecord(const Slices& slices, std::string reason, int line = 0);

}  // namespace warpwright::source
