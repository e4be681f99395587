#include "config/init_reader.h"

#include <fmt/format.h>

#include "config/repository_path.h"
#include "config/scalar_reader.h"

namespace warpwright::config {

core::Init InitReader::Read(const YamlNode& node, core::DType dtype) {
  core::Init init;
  YamlObject map(node, "an init",
                 {"normal", "uniform", "pareto", "lognormal", "constant", "integers", "file", "tensor"}, diagnostics_);
  if (!node.IsMap()) return init;
  if (const YamlNode* file = map.Find("file")) {
    init.kind = core::Init::Kind::kFile;
    init.path = map.String("file");
    init.tensor = map.String("tensor");
    if (!init.path.empty())
      if (Status status = CheckRepositoryPath(init.path); !status)
        diagnostics_.Add(*file, status.error().message, status.error().remedy);
    if (node.entries().size() > 2)
      diagnostics_.Add(node, "an init from a file has the keys 'file' and 'tensor' only", "remove the others");
    return init;
  }
  if (node.entries().size() != 1 || map.Find("tensor")) {
    diagnostics_.Add(node, "an init names one distribution", "write it as {normal: [0, 1]}");
    return init;
  }
  const auto& [key, value] = node.entries()[0];
  ReadDistribution(key, value, dtype, init);
  return init;
}

void InitReader::ReadDistribution(const YamlNode& key, const YamlNode& value, core::DType dtype, core::Init& init) {
  const std::string& name = key.text();
  if (name == "integers") return ReadIntegers(value, init);
  if (name == "constant") {
    init.kind = core::Init::Kind::kConstant;
    if (auto constant = ReadScalarValue(value, "constant", dtype, diagnostics_))
      init.a = std::visit([](auto v) { return static_cast<double>(v); }, *constant);
    return;
  }
  if (!core::IsFloat(dtype))
    diagnostics_.Add(key, fmt::format("'{}' needs a floating element type, not {}", name, core::Name(dtype)),
                     "use {integers: [low, high]}");
  if (name == "pareto") {
    init.kind = core::Init::Kind::kPareto;
    init.a = diagnostics_.Take(value.AsDouble()).value_or(1);
    if (init.a <= 0) diagnostics_.Add(value, "the exponent of a pareto distribution must be positive", "write 2");
    return;
  }
  if (name != "normal" && name != "uniform" && name != "lognormal") return;  // reported as an unknown key
  init.kind = name == "normal"    ? core::Init::Kind::kNormal
              : name == "uniform" ? core::Init::Kind::kUniform
                                  : core::Init::Kind::kLognormal;
  if (!value.IsList() || value.items().size() != 2)
    return diagnostics_.Add(value, fmt::format("'{}' takes two numbers", name),
                            fmt::format("write it as {{{}: [0, 1]}}", name));
  init.a = diagnostics_.Take(value.items()[0].AsDouble()).value_or(0);
  init.b = diagnostics_.Take(value.items()[1].AsDouble()).value_or(1);
  if (name == "uniform" ? init.b < init.a : init.b < 0)
    diagnostics_.Add(value, name == "uniform" ? "the upper bound is below the lower one" : "the deviation is negative",
                     name == "uniform" ? "write [low, high]" : "write [mean, deviation]");
}

void InitReader::ReadIntegers(const YamlNode& value, core::Init& init) {
  init.kind = core::Init::Kind::kIntegers;
  std::vector<core::Expression> bounds = expressions_.ReadList(value, "'integers'", 2, 2);
  if (bounds.size() != 2) return;
  init.low = bounds[0];
  init.high = bounds[1];
}

}  // namespace warpwright::config
