#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"

namespace warpwright::cli {
namespace {
size_t ColumnsOf(int descriptor, size_t otherwise) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : otherwise;
}
size_t TerminalColumns() { return ColumnsOf(STDERR_FILENO, 80); }
}  // namespace

size_t TextColumns() {
  constexpr size_t kMost = 120;
  return std::min(kMost, ColumnsOf(STDOUT_FILENO, kTextColumns));
}

Progress::Progress(bool quiet) : quiet_(quiet) {
  const char* term = std::getenv("TERM");
  terminal_ = isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}
Progress::~Progress() { Finish(); }

void Progress::Step(std::string_view text) {
  if (quiet_) return;
  if (!terminal_) {
    fmt::print(stderr, "{}\n", base::Printable(text));
    return;
  }
  fmt::print(stderr, "\r\033[K{}", base::CutAtCharacter(base::Printable(text), TerminalColumns() - 1));
  std::fflush(stderr);
  open_ = true;
}

void Progress::Line(std::string_view text) {
  if (quiet_) return;
  Finish();
  fmt::print(stderr, "{}\n", base::Printable(text));
}

void Progress::Finish() {
  if (!open_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  open_ = false;
}

app::ProgressCallbacks Progress::Callbacks() {
  return {.step = [this](const std::string& text) { Step(text); },
          .line = [this](const std::string& text) { Line(text); },
          .finish = [this] { Finish(); }};
}

}  // namespace warpwright::cli
