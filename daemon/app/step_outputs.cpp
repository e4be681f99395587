#include "app/step_outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/random.h"

namespace warpwright::app {
namespace {

constexpr size_t kMaxOutputBytes = 400'000;

std::string RandomDelimiter() { return fmt::format("ww{:016x}{:016x}", base::SecretSeed(), base::SecretSeed()); }

}  // namespace

Status WriteStepOutputs(const std::filesystem::path& file, const StepOutputs& outputs,
                        const std::function<void(const std::string&)>& warn) {
  std::string text;
  for (const auto& [name, given] : outputs) {
    const bool large = given.size() > kMaxOutputBytes;
    if (large) warn(fmt::format("the output '{}' has {} bytes and was omitted", name, given.size()));
    const std::string delimiter = RandomDelimiter();
    text += fmt::format("{}<<{}\n{}\n{}\n", name, delimiter, large ? "" : given, delimiter);
  }
  const base::Fd out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!out.valid()) return FailErrno("open " + file.string());
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(out.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FailErrno("write " + file.string());
    done += static_cast<size_t>(wrote);
  }
  return {};
}

}  // namespace warpwright::app
