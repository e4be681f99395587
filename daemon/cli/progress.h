// Progress of a long command: on a terminal one line that is rewritten, otherwise plain lines. Goes to stderr, so that
// stdout remains free for the result.
#pragma once

#include <string>
#include <string_view>

#include "app/progress.h"

namespace warpwright::cli {

inline constexpr size_t kTextColumns = 100;
// For text on stdout: the terminal's width where it is one, at most what is pleasant to read.
size_t TextColumns();

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  void Step(std::string_view text);  // transient on a terminal
  void Line(std::string_view text);  // permanent
  void Finish();                     // removes the transient line
  // The callbacks for a use case; this object outlives the use case.
  app::ProgressCallbacks Callbacks();

 private:
  bool quiet_;
  bool terminal_;
  bool open_ = false;
};

}  // namespace warpwright::cli
