// Literals that a launcher computed from the entry's scalars before it launched: 1 - pow(beta, step), pow(base, -2 /
// n), rate * sqrt(...) / (...). Products of up to three simple functions of scalars, times one constant, or a sum of
// two such; the simplest that has the literal's value at every shape. What the shapes at hand cannot tell apart, a
// further one must: lifting checks every form numerically.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/size_solver.h"

namespace warpwright::lift {

// A number of few digits or quarters of a half turn, where it is one but for the rounding of a literal of seven digits:
// 6.283185 is 2 pi, and no more 6.2832 than 6.28.
double MeantLiteral(double value);

class LiteralSolver {
 public:
  // `sizes` outlives it; `reals`: the floating-point scalars at each of its shapes.
  LiteralSolver(const core::SizeSolver& sizes, std::vector<std::map<std::string, double>> reals);
  // Appends nodes that have the values, one for each shape, and returns the last one.
  using Append = std::function<core::NodeId(core::Node)>;
  std::optional<core::NodeId> Solve(const std::vector<double>& values, const Append& append);

 private:
  using Values = std::vector<double>;
  struct Candidate {
    core::NodeId node = 0;  // in arena_
    Values values;
    bool factor = true;  // may be multiplied with others
  };
  void MakeCandidates();
  std::optional<core::NodeId> Add(core::Node node, Values values, bool factor = true);
  std::optional<core::NodeId> Call(core::Function function, core::NodeId arg);
  std::optional<core::NodeId> OneMinus(core::NodeId arg);
  void AddPowers(core::NodeId base);
  core::NodeId Constant(double value);
  core::NodeId Copy(core::NodeId node, const Append& append) const;
  core::NodeId Scaled(double factor, const std::vector<core::NodeId>& factors, const Append& append) const;
  std::optional<core::NodeId> AsProduct(const Values& values, const Append& append, bool times_constant) const;
  std::optional<core::NodeId> AsSum(const Values& values, const Append& append) const;
  const Values& ValuesOf(core::NodeId node) const { return arena_values_[node]; }

  const core::SizeSolver& sizes_;
  std::vector<std::map<std::string, double>> reals_;
  std::vector<core::Node> arena_;
  std::vector<Values> arena_values_;
  std::vector<Candidate> candidates_;  // the simplest first
  bool made_ = false;
};

}  // namespace warpwright::lift
