// The cases of a kernel: values of its scalar arguments, and what a case counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

// Keys of a case that are no arguments.
bool IsCaseKey(std::string_view name);

class CaseReader {
 public:
  CaseReader(const std::vector<core::Argument>& arguments, Diagnostics& diagnostics)
      : arguments_(arguments), diagnostics_(diagnostics) {}
  std::vector<core::Case> Read(const YamlNode& node);

 private:
  void SetDefaultWeights(const YamlNode& node, std::vector<core::Case>& cases);
  core::Case ReadCase(const YamlNode& node);
  void CheckKeys(const YamlNode& node);
  void ReadProperties(const YamlNode& node, const std::string& automatic, core::Case& c);

  const std::vector<core::Argument>& arguments_;
  Diagnostics& diagnostics_;
};

}  // namespace warpwright::config
