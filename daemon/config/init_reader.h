// With what a buffer is filled before a run.
#pragma once

#include "config/expression_reader.h"
#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

class InitReader {
 public:
  InitReader(ExpressionReader& expressions, Diagnostics& diagnostics)
      : expressions_(expressions), diagnostics_(diagnostics) {}
  // The bounds of integers are not compared with cases, which are read later.
  core::Init Read(const YamlNode& node, core::DType dtype);

 private:
  void ReadDistribution(const YamlNode& key, const YamlNode& value, core::DType dtype, core::Init& init);
  void ReadIntegers(const YamlNode& value, core::Init& init);

  ExpressionReader& expressions_;
  Diagnostics& diagnostics_;
};

}  // namespace warpwright::config
