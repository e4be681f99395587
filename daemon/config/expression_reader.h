// Expressions over the integer scalars of a kernel's arguments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

class ExpressionReader {
 public:
  explicit ExpressionReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  // Before any expression is read: shapes may name scalars that come later in the signature. `arguments`: the map
  // 'args'.
  void CollectScalars(const YamlNode& arguments);

  std::optional<core::Expression> Read(const YamlNode& node);
  // Empty if there are other than `least` to `most`, or one of them has errors.
  std::vector<core::Expression> ReadList(const YamlNode& node, std::string_view what, size_t least, size_t most);
  // kConfig if it is not from `low` to `high`.
  static Result<int64_t> Value(const core::Expression& expression, const std::map<std::string, int64_t>& variables,
                               int64_t low, int64_t high);

 private:
  void CheckVariable(const YamlNode& node, const std::string& name);

  Diagnostics& diagnostics_;
  std::vector<std::string> integer_names_, float_names_;
};

}  // namespace warpwright::config
