// Which parameter sets of a plan are worth an evaluation, by what came of those before them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright::search {

class Variants {
 public:
  void Learn(const core::Parameters& parameters, const core::Verdict& verdict);
  // Whether a value alone made a result wrong: with this value it was, with another value and all else equal it was
  // not. Whether three were wrong and none was right.
  bool WorthTrying(const core::Parameters& parameters) const;

 private:
  struct Result {
    core::Parameters parameters;
    bool right = false;
  };
  std::vector<Result> results_;
};

}  // namespace warpwright::search
