// The vector of facts on which decisions are based: static features, counters, roofline position, occupancy. Skills
// name its fields; every field has a unit, a range and a meaning, so that policies can be checked and random vectors
// drawn.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chip.h"
#include "core/inspection.h"
#include "core/verdict.h"

namespace warpwright::core {

struct ComputationFacts;

struct EvidenceField {
  std::string_view name;  // "dram_throughput_pct"
  std::string_view unit;  // "%", "count", "ratio", "bool", "us"
  double low, high;       // the range that values can take
  std::string_view meaning;
};
// In display order. The list is in evidence.cpp, with the meaning of each field.
const std::vector<EvidenceField>& EvidenceFields();
const EvidenceField* FindEvidenceField(std::string_view name);

// Numbers by field name; a field that could not be measured is absent. Booleans are 0 and 1.
class Evidence {
 public:
  void Set(std::string_view field, double value);  // throws std::logic_error for a field that is not listed
  std::optional<double> Get(std::string_view field) const;
  double GetOr(std::string_view field, double fallback) const { return Get(field).value_or(fallback); }
  bool Is(std::string_view field) const { return GetOr(field, 0) != 0; }
  const std::map<std::string, double, std::less<>>& values() const { return values_; }
  void SetOperation(OperationClass of_kernel);  // `operation`, and the fields op_*

  OperationClass operation = OperationClass::kUnknown;
  std::string dtype = "f32";  // of the largest buffer
  std::string form;           // digest of what the entry computes (computation_digest.h); empty: not known
  std::string shape;          // ShapeClassOf() it; empty: not known
  std::string chip;           // "h200"
  std::string kernel;         // the hottest kernel of the plan, which the numbers describe
  bool modelled = true;

  // Content address of the rounded values: two bits of noise do not change it.
  std::string Digest() const;

 private:
  std::map<std::string, double, std::less<>> values_;
};

// The minimum that the task needs on this chip: every input read once, every output written once.
struct Roofline {
  double min_bytes = 0;
  double flops = 0;
  double memory_us = 0, compute_us = 0;
  double floor_us = 0;  // the larger of the two, plus the launch
  // Of the formula: what is read of the inputs, and the operations that it has. Else of the case's buffers by role, and
  // of the operations that the original was counted to make.
  bool of_formula = false;
  double counted_floor_us = 0;  // the other one, if it is of the formula; else the same
};
Roofline ComputeRoofline(const Chip& chip, double min_bytes, const Counters& counters);
double MinimumBytes(const KernelSpec& spec, const Case& c);
// Never above `counted`, the original's: what it managed with, suffices.
Roofline FormulaRoofline(const Chip& chip, const ComputationFacts& facts, const Roofline& counted);

// From the hottest launch of a measurement (by time share over the plan) and the static features of its kernel.
Evidence MakeEvidence(const Chip& chip, const KernelInfo& kernel, const CaseMeasurement& measurement,
                      const Roofline& roofline);
// The fields of the formula; and `operation`, what the kernel computes by it.
void AddFormula(const ComputationFacts& facts, OperationClass operation, Evidence& evidence);

}  // namespace warpwright::core
