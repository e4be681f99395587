// Which numbers a plan compares that are the same for all of its threads: the arguments, and what is reckoned from them
// alone. Runs beside the simulator and changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/execution.h"
#include "sim/shadow.h"

namespace warpwright::sim {

class DecisionShadow final : public Shadow {
 public:
  void StartBlock(const Context&) override {}
  void Before(const Context& c, const Instruction& in, uint32_t lanes) override;
  void After(const Context&, const Instruction&, uint32_t) override {}
  bool stopped() const override { return false; }

  std::vector<core::Decision> Decisions() const;

 private:
  struct Site {
    core::Decision decision;
    bool varies = false;
  };
  std::map<const Instruction*, Site> sites_;
};

}  // namespace warpwright::sim
