// What a long command says while it works: on a terminal one line that is rewritten, elsewhere plain lines. Goes to
// stderr, so that stdout stays free for the result.
#pragma once

#include <string>
#include <string_view>

#include "app/progress.h"

namespace warpwright::cli {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  void Step(std::string_view text);  // transient on a terminal
  void Line(std::string_view text);  // stays
  void Finish();                     // removes the transient line
  // What a use case calls; it outlives the use case.
  app::ProgressCallbacks Callbacks();

 private:
  bool quiet_;
  bool terminal_;
  bool open_ = false;
};

}  // namespace warpwright::cli
