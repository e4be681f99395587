// The first byte selects one of the JSON decoders, or a whole database file.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "base/json_codec.h"
#include "core/verdict_fields.h"
#include "memory/step_json.h"
#include "memory/trajectory.h"
#include "memory/verdict_json.h"

namespace {

using namespace warpwright;

std::string EncodeVerdict(const core::Verdict& verdict) { return base::EncodeJson(memory::Stored(verdict)); }
Result<core::Verdict> DecodeVerdict(std::string_view text) {
  WW_ASSIGN(nlohmann::json json, base::ParseJson(text));
  memory::UpgradeVerdict(json);
  return base::FromJson<core::Verdict>(json);
}

// What was decoded encodes to a text that decodes to the same value.
template <typename Decode, typename Encode>
void RoundTrip(std::string_view text, Decode decode, Encode encode) {
  const auto value = decode(text);
  if (!value) return;
  const std::string once = encode(*value);
  const auto again = decode(once);
  if (!again || encode(*again) != once) std::abort();
}

void OpenDatabase(std::string_view bytes) {
  static const base::TemporaryDirectory folder = *base::TemporaryDirectory::Create("fuzz-trajectory");
  const std::filesystem::path path = folder.path() / "t.db";
  for (const char* tail : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path.string() + tail);
  if (!base::WriteFileAtomically(path, bytes)) std::abort();
  auto trajectory = memory::Trajectory::Open(path);
  if (!trajectory) return;
  const auto tasks = trajectory->Tasks();
  if (!tasks) return;
  for (const memory::TaskSummary& task : *tasks) {
    (void)trajectory->View(task.id);
    (void)trajectory->FindEvaluation(task.id, "c");
  }
  (void)trajectory->BeginTask({"k", "b", "d", "c"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0: RoundTrip(text, DecodeVerdict, EncodeVerdict); break;
    case 1: RoundTrip(text, memory::DecodeStep, memory::EncodeStep); break;
    case 2: RoundTrip(text, memory::DecodeOutcome, memory::EncodeOutcome); break;
    case 3: RoundTrip(text, memory::DecodeResult, memory::EncodeResult); break;
    case 4: RoundTrip(text, memory::DecodeParameters, memory::EncodeParameters); break;
    default: OpenDatabase(text); break;
  }
  return 0;
}
