#include "config/kernel_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "config/repository_path.h"

namespace warpwright::config {

namespace {

constexpr uint64_t kMaxBufferBytes = uint64_t{16} << 30;
constexpr size_t kMaxArguments = 256, kMaxCases = 1000, kMaxDimensions = 8;
constexpr std::string_view kCaseKeys[] = {"name", "weight", "on"};
constexpr double kNoWeight = -1;  // until SetDefaultWeights

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool IsIdentifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::all_of(text.begin(), text.end(), IsWordCharacter);
}
// Names become parts of branch names and of file names.
bool IsPlainName(std::string_view text, std::string_view more, size_t limit) {
  return !text.empty() && text.size() <= limit && IsWordCharacter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsWordCharacter(c) || more.find(c) != more.npos; }) &&
         text.find("..") == text.npos && text.back() != '.' && !text.ends_with(".lock");
}
bool IsEntryName(std::string_view text) {
  if (text.empty() || text.size() > 500 || !(IsWordCharacter(text[0]) || text[0] == ':') ||
      (text[0] >= '0' && text[0] <= '9'))
    return false;
  int depth = 0;
  for (char c : text) {
    depth += (c == '<') - (c == '>');
    if (depth < 0 || !(IsWordCharacter(c) || std::string_view("<>:, -*").find(c) != std::string_view::npos))
      return false;
  }
  return depth == 0;
}

struct IntegerRange {
  int64_t low, high;
};
IntegerRange RangeOf(core::DType dtype) {
  switch (dtype) {
    case core::DType::kI32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case core::DType::kU32: return {0, std::numeric_limits<uint32_t>::max()};
    case core::DType::kI8: return {-128, 127};
    case core::DType::kU8: return {0, 255};
    case core::DType::kBool: return {0, 1};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

class KernelReader {
 public:
  KernelReader(const YamlNode& node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics), errors_before_(diagnostics.size()) {}

  core::KernelSpec Read() {
    YamlObject map(node_, "a kernel",
                   {"name", "file", "entry", "args", "cases", "launch", "tolerance", "allow", "accumulation"},
                   diagnostics_);
    spec_.line = node_.line();
    if (!node_.IsMap()) return std::move(spec_);
    spec_.name = map.String("name");
    spec_.file = map.String("file");
    spec_.entry = map.String("entry");
    CheckNames(map);
    if (const YamlNode* args = map.Require("args")) ReadArguments(*args);
    if (const YamlNode* cases = map.Require("cases")) ReadCases(*cases);
    sizes_known_ = diagnostics_.size() == errors_before_;
    if (const YamlNode* launch = map.Find("launch")) ReadLaunch(*launch);
    if (const YamlNode* allow = map.Find("allow")) ReadAllow(*allow);
    if (const YamlNode* tolerance = map.Find("tolerance")) {
      YamlObject values(*tolerance, "a tolerance", {"relative"}, diagnostics_);
      spec_.tolerance.relative = values.Double("relative", 1e-16, 1);
    }
    if (const YamlNode* accumulation = map.Find("accumulation")) {
      spec_.accumulation = ReadExpression(*accumulation);
      if (spec_.accumulation)
        ForEachCase(*accumulation, [&](const auto& v) { return Value(*spec_.accumulation, v, 1, INT64_MAX); });
    }
    CheckBuffersInEveryCase();
    return std::move(spec_);
  }

 private:
  void Note(const YamlNode& node, std::string message, std::string remedy = {}) {
    diagnostics_.Add(node, std::move(message), std::move(remedy));
  }

  void CheckNames(const YamlObject& map) {
    const YamlNode* name = map.Find("name");
    if (name && !spec_.name.empty() && !IsPlainName(spec_.name, "_.-", 64))
      Note(*name, fmt::format("'{}' cannot be a kernel's name", spec_.name.substr(0, 100)),
           "use at most 64 letters, digits, '_', '-' and '.'; it becomes part of a branch name");
    const YamlNode* entry = map.Find("entry");
    if (entry && !spec_.entry.empty() && !IsEntryName(spec_.entry))
      Note(*entry, fmt::format("'{}' is not the name of a function", spec_.entry.substr(0, 100)),
           "write it as in C++: softmax_forward, ns::f, f<float, 4>");
    const YamlNode* file = map.Find("file");
    if (file && !spec_.file.empty()) TakePath(*file, spec_.file);
  }
  void TakePath(const YamlNode& node, const std::string& path) {
    if (Status status = CheckRepositoryPath(path); !status) Note(node, status.error().message, status.error().remedy);
  }

  // --- arguments ---

  void ReadArguments(const YamlNode& node) {
    if (!node.IsMap())
      return Note(node, "'args' must be a map from argument to description, in the order of the signature");
    if (node.entries().size() > kMaxArguments) return Note(node, fmt::format("more than {} arguments", kMaxArguments));
    CollectScalars(node);  // shapes may name scalars that come later in the signature
    for (const auto& [key, value] : node.entries()) {
      core::Argument argument{key.text(), core::ScalarArgument{}, key.line()};
      if (!IsIdentifier(argument.name))
        Note(key, fmt::format("'{}' is not an argument name", argument.name.substr(0, 100)));
      if (value.Find("scalar")) argument.kind = ReadScalar(key, value);
      else argument.kind = ReadBuffer(value);
      spec_.args.push_back(std::move(argument));
    }
    bool has_output = std::any_of(spec_.args.begin(), spec_.args.end(), [](const core::Argument& a) {
      const auto* buffer = std::get_if<core::BufferArgument>(&a.kind);
      return buffer && (buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut);
    });
    if (!has_output)
      Note(node, "no argument has the role 'out' or 'inout'", "give the buffer that holds the result 'role: out'");
  }

  void CollectScalars(const YamlNode& node) {
    for (const auto& [key, value] : node.entries()) {
      const YamlNode* scalar = value.Find("scalar");
      if (!scalar) continue;
      auto dtype = core::ParseDType(scalar->text());
      (dtype && core::IsFloat(*dtype) ? float_names_ : integer_names_).push_back(key.text());
    }
  }

  core::DType ReadDType(const YamlObject& map, std::string_view key) {
    std::string name = map.String(key);
    if (auto dtype = core::ParseDType(name)) return *dtype;
    std::vector<std::string_view> names;
    for (core::DType dtype : core::kAllDTypes) names.push_back(core::Name(dtype));
    if (!name.empty()) diagnostics_.Add(UnknownName(*map.Find(key), "element type", name, names));
    return core::DType::kF32;
  }

  core::ScalarArgument ReadScalar(const YamlNode& key, const YamlNode& node) {
    YamlObject map(node, "a scalar argument", {"scalar", "value"}, diagnostics_);
    core::ScalarArgument scalar;
    scalar.dtype = ReadDType(map, "scalar");
    if (const YamlNode* value = map.Find("value")) scalar.value = ReadScalarValue(*value, key.text(), scalar.dtype);
    if (std::find(std::begin(kCaseKeys), std::end(kCaseKeys), key.text()) != std::end(kCaseKeys))
      Note(key, fmt::format("a scalar cannot be called '{}': that is a key of cases", key.text()),
           fmt::format("call it '{}_'; arguments are matched by their order", key.text()));
    return scalar;
  }

  std::optional<core::ScalarValue> ReadScalarValue(const YamlNode& node, std::string_view name, core::DType dtype) {
    if (dtype == core::DType::kBool && (node.text() == "true" || node.text() == "false"))
      return core::ScalarValue(int64_t{node.text() == "true"});
    if (core::IsFloat(dtype)) {
      auto value = diagnostics_.Take(node.AsDouble());
      if (!value) return std::nullopt;
      if (std::fabs(*value) > core::LargestFinite(dtype))
        Note(node, fmt::format("{} is beyond the range of {}", *value, core::Name(dtype)));
      return core::ScalarValue(*value);
    }
    auto value = diagnostics_.Take(node.AsInteger());
    if (!value) return std::nullopt;
    auto [low, high] = RangeOf(dtype);
    if (*value < low || *value > high)
      Note(node, fmt::format("'{}' is {}; {} holds {} to {}", name, *value, core::Name(dtype), low, high));
    return core::ScalarValue(*value);
  }

  core::BufferArgument ReadBuffer(const YamlNode& node) {
    YamlObject map(node, "an argument", {"buffer", "shape", "role", "init", "alignment"}, diagnostics_);
    core::BufferArgument buffer;
    if (!node.IsMap()) return buffer;
    if (!map.Find("buffer")) {
      Note(node, "an argument is either a buffer or a scalar",
           "write {buffer: f32, shape: [N], role: in} or {scalar: i32}");
      return buffer;
    }
    buffer.dtype = ReadDType(map, "buffer");
    buffer.role = ReadRole(map);
    if (const YamlNode* shape = map.Require("shape"))
      buffer.shape = ReadExpressions(*shape, "'shape'", 0, kMaxDimensions);
    buffer.alignment = map.IntegerOr("alignment", 256, 1, 4096);
    bool power_of_two = (buffer.alignment & (buffer.alignment - 1)) == 0;
    if (!power_of_two || buffer.alignment < static_cast<int64_t>(core::SizeOf(buffer.dtype)))
      Note(*map.Find("alignment"),
           fmt::format("alignment {} is not a power of two that holds {}", buffer.alignment, core::Name(buffer.dtype)));
    if (const YamlNode* init = map.Find("init")) {
      if (buffer.role == core::Role::kOut || buffer.role == core::Role::kScratch)
        Note(*init, "only 'in' and 'inout' buffers have an 'init'", "remove it, or change the role");
      buffer.init = ReadInit(*init, buffer.dtype);
    }
    return buffer;
  }

  core::Role ReadRole(const YamlObject& map) {
    constexpr std::string_view kNames[] = {"in", "out", "inout", "scratch"};
    constexpr core::Role kRoles[] = {core::Role::kIn, core::Role::kOut, core::Role::kInOut, core::Role::kScratch};
    std::string name = map.String("role");
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found != std::end(kNames)) return kRoles[found - kNames];
    if (!name.empty()) diagnostics_.Add(UnknownName(*map.Find("role"), "role", name, kNames));
    return core::Role::kIn;
  }

  // --- init ---

  core::Init ReadInit(const YamlNode& node, core::DType dtype) {
    core::Init init;
    YamlObject map(node, "an init",
                   {"normal", "uniform", "pareto", "lognormal", "constant", "integers", "file", "tensor"},
                   diagnostics_);
    if (!node.IsMap()) return init;
    if (const YamlNode* file = map.Find("file")) {
      init.kind = core::Init::Kind::kFile;
      init.path = map.String("file");
      init.tensor = map.String("tensor");
      if (!init.path.empty()) TakePath(*file, init.path);
      if (node.entries().size() > 2) Note(node, "an init from a file has the keys 'file' and 'tensor' only");
      return init;
    }
    if (node.entries().size() != 1 || map.Find("tensor")) {
      Note(node, "an init names one distribution", "write it as {normal: [0, 1]}");
      return init;
    }
    const auto& [key, value] = node.entries()[0];
    ReadDistribution(key, value, dtype, init);
    return init;
  }

  void ReadDistribution(const YamlNode& key, const YamlNode& value, core::DType dtype, core::Init& init) {
    const std::string& name = key.text();
    if (name == "integers") return ReadIntegers(value, dtype, init);
    if (name == "constant") {
      init.kind = core::Init::Kind::kConstant;
      if (auto constant = ReadScalarValue(value, "constant", dtype))
        init.a = std::visit([](auto v) { return static_cast<double>(v); }, *constant);
      return;
    }
    if (!core::IsFloat(dtype))
      Note(key, fmt::format("'{}' needs a floating element type, not {}", name, core::Name(dtype)),
           "use {integers: [low, high]}");
    if (name == "pareto") {
      init.kind = core::Init::Kind::kPareto;
      init.a = diagnostics_.Take(value.AsDouble()).value_or(1);
      if (init.a <= 0) Note(value, "the exponent of a pareto distribution must be positive");
      return;
    }
    if (name != "normal" && name != "uniform" && name != "lognormal") return;  // reported as an unknown key
    init.kind = name == "normal"    ? core::Init::Kind::kNormal
                : name == "uniform" ? core::Init::Kind::kUniform
                                    : core::Init::Kind::kLognormal;
    if (!value.IsList() || value.items().size() != 2)
      return Note(value, fmt::format("'{}' takes two numbers", name), fmt::format("write it as {{{}: [0, 1]}}", name));
    init.a = diagnostics_.Take(value.items()[0].AsDouble()).value_or(0);
    init.b = diagnostics_.Take(value.items()[1].AsDouble()).value_or(1);
    if (name == "uniform" ? init.b < init.a : init.b < 0)
      Note(value, name == "uniform" ? "the upper bound is below the lower one" : "the deviation is negative");
  }

  void ReadIntegers(const YamlNode& value, core::DType dtype, core::Init& init) {
    init.kind = core::Init::Kind::kIntegers;
    std::vector<core::Expression> bounds = ReadExpressions(value, "'integers'", 2, 2);
    if (bounds.size() != 2) return;
    init.low = bounds[0];
    init.high = bounds[1];
    // Cases are read after the arguments, so the values are checked at the end.
    checks_.push_back([this, value, dtype, low = bounds[0], high = bounds[1]] {
      ForEachCase(value, [&](const auto& variables) -> Result<int64_t> {
        auto range = RangeOf(dtype);
        WW_ASSIGN(int64_t first, Value(low, variables, range.low, range.high));
        WW_ASSIGN(int64_t last, Value(high, variables, range.low, range.high));
        if (last < first)
          return Fail(ErrorCode::kConfig, fmt::format("'integers' from {} to {} is empty", first, last));
        return last;
      });
    });
  }

  // --- expressions ---

  std::optional<core::Expression> ReadExpression(const YamlNode& node) {
    auto text = diagnostics_.Take(node.AsString());
    if (!text) return std::nullopt;
    auto expression = core::Expression::Parse(*text);
    if (!expression) {
      Error error =
          node.ErrorHere(expression.error().message, "an expression with a comma must be quoted: \"ceil_div(N, 4)\"");
      if (expression.error().column > 0) error.column += expression.error().column - 1 + node.quoted();
      diagnostics_.Add(std::move(error));
      return std::nullopt;
    }
    for (const std::string& name : expression->Variables()) CheckVariable(node, name);
    return *std::move(expression);
  }
  void CheckVariable(const YamlNode& node, const std::string& name) {
    if (std::find(integer_names_.begin(), integer_names_.end(), name) != integer_names_.end()) return;
    if (std::find(float_names_.begin(), float_names_.end(), name) != float_names_.end())
      return Note(node, fmt::format("'{}' is a floating scalar; expressions use integer ones", name));
    std::vector<std::string_view> names(integer_names_.begin(), integer_names_.end());
    diagnostics_.Add(UnknownName(node, "integer scalar", name, names));
  }
  std::vector<core::Expression> ReadExpressions(const YamlNode& node, std::string_view what, size_t least,
                                                size_t most) {
    std::vector<core::Expression> list;
    if (!node.IsList() || node.items().size() < least || node.items().size() > most) {
      Note(node,
           fmt::format("{} must be a list of {} expressions", what,
                       least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most)),
           "write it as [N, C]; an expression with a comma must be quoted");
      return list;
    }
    for (const YamlNode& item : node.items()) {
      auto expression = ReadExpression(item);
      if (!expression) return {};  // an unquoted comma also breaks the items after it
      list.push_back(*std::move(expression));
    }
    return list;
  }

  static Result<int64_t> Value(const core::Expression& expression, const std::map<std::string, int64_t>& variables,
                               int64_t low, int64_t high) {
    WW_ASSIGN(int64_t value, expression.Evaluate(variables));
    if (value < low || value > high)
      return Fail(ErrorCode::kConfig,
                  fmt::format("'{}' is {}; it must be from {} to {}", expression.text(), value, low, high));
    return value;
  }
  // `check(variables)` returns a Result; its error is noted at `node` once, with the case's name.
  template <typename Check>
  void ForEachCase(const YamlNode& node, Check check) {
    if (!sizes_known_) return;
    for (const core::Case& c : spec_.cases)
      if (Result<int64_t> result = check(core::IntegerScalars(c)); !result)
        return Note(node, fmt::format("in case '{}': {}", c.name, result.error().message));
  }

  // --- cases ---

  void ReadCases(const YamlNode& node) {
    if (!node.IsList() || node.items().empty())
      return Note(node, "'cases' must be a list with at least one case", "write it as [{N: 1024, C: 768}]");
    if (node.items().size() > kMaxCases) return Note(node, fmt::format("more than {} cases", kMaxCases));
    std::set<std::string> names;
    for (const YamlNode& item : node.items()) {
      core::Case c = ReadCase(item);
      if (!names.insert(c.name).second)
        Note(item, fmt::format("a second case is called '{}'", c.name), "give it its own 'name', or remove it");
      spec_.cases.push_back(std::move(c));
    }
    SetDefaultWeights(node);
  }

  // A case for the simulator alone exists to be verified completely; unless the manifest gives it a weight, its time
  // does not count along with the cases whose run time matters to users.
  void SetDefaultWeights(const YamlNode& node) {
    const auto only_simulated = [](const core::Case& c) {
      return c.on == std::set<core::DeviceKind>{core::DeviceKind::kSim};
    };
    const bool all = std::all_of(spec_.cases.begin(), spec_.cases.end(), only_simulated);
    double sum = 0;
    for (core::Case& c : spec_.cases) {
      if (c.weight == kNoWeight) c.weight = only_simulated(c) && !all ? 0 : 1;
      sum += c.weight;
    }
    if (sum == 0) Note(node, "every case has the weight 0", "give the cases whose time matters a weight above 0");
  }

  core::Case ReadCase(const YamlNode& node) {
    core::Case c;
    c.line = node.line();
    if (!node.IsMap()) {
      Note(node, "a case must be a map", "write it as {N: 1024, C: 768}");
      return c;
    }
    CheckCaseKeys(node);
    std::string automatic;
    for (const core::Argument& argument : spec_.args) {
      const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
      if (!scalar) continue;
      std::optional<core::ScalarValue> value = scalar->value;
      if (const YamlNode* given = node.Find(argument.name)) {
        value = ReadScalarValue(*given, argument.name, scalar->dtype);
        automatic += (automatic.empty() ? "" : ",") + argument.name + "=" + given->text();
      } else if (!value) {
        Note(node, fmt::format("the case gives no value for '{}'", argument.name),
             fmt::format("add '{}: ...' to the case, or 'value: ...' to the argument", argument.name));
      }
      if (value) c.scalars[argument.name] = *value;
    }
    ReadCaseProperties(node, automatic.empty() ? "default" : automatic, c);
    return c;
  }

  void CheckCaseKeys(const YamlNode& node) {
    std::vector<std::string_view> known(std::begin(kCaseKeys), std::end(kCaseKeys));
    for (const core::Argument& argument : spec_.args)
      if (std::holds_alternative<core::ScalarArgument>(argument.kind)) known.push_back(argument.name);
    for (const auto& [key, value] : node.entries())
      if (std::find(known.begin(), known.end(), key.text()) == known.end())
        diagnostics_.Add(UnknownName(key, "scalar argument or key", key.text(), known));
  }

  void ReadCaseProperties(const YamlNode& node, const std::string& automatic, core::Case& c) {
    const YamlNode* name = node.Find("name");
    c.name = name ? diagnostics_.Take(name->AsString()).value_or("") : automatic;
    if (!IsPlainName(c.name, "_.-+=,", 200))
      Note(name ? *name : node, fmt::format("'{}' cannot be a case's name", c.name.substr(0, 100)),
           "use letters, digits and _ . - + = , in 'name'; it becomes part of a file name");
    c.weight = kNoWeight;
    if (const YamlNode* weight = node.Find("weight")) {
      c.weight = diagnostics_.Take(weight->AsDouble()).value_or(1);
      if (!(c.weight >= 0) || c.weight > 1e9) {
        Note(*weight,
             fmt::format("the weight is {}; it must be from 0 (verified, its time does not count) to 1e9", c.weight));
        c.weight = 1;
      }
    }
    const YamlNode* on = node.Find("on");
    if (!on) return;
    c.on.clear();
    if (!on->IsList() || on->items().empty())
      return Note(*on, "'on' must list devices", "write it as [sim], [cuda] or [sim, cuda]");
    constexpr std::string_view kDevices[] = {"sim", "cuda"};
    for (const YamlNode& item : on->items()) {
      if (item.text() != "sim" && item.text() != "cuda")
        diagnostics_.Add(UnknownName(item, "device", item.text(), kDevices));
      else c.on.insert(item.text() == "sim" ? core::DeviceKind::kSim : core::DeviceKind::kCuda);
    }
  }

  // --- the rest ---

  void ReadLaunch(const YamlNode& node) {
    YamlObject map(node, "a launch", {"grid", "block", "shared_bytes"}, diagnostics_);
    core::LaunchSpec launch;
    if (const YamlNode* grid = map.Require("grid")) {
      launch.grid = ReadExpressions(*grid, "'grid'", 1, 3);
      for (size_t i = 0; i < launch.grid.size(); ++i)
        ForEachCase(*grid, [&](const auto& v) { return Value(launch.grid[i], v, 1, i == 0 ? INT32_MAX : 65535); });
    }
    if (const YamlNode* block = map.Require("block")) {
      launch.block = ReadExpressions(*block, "'block'", 1, 3);
      ForEachCase(*block, [&](const auto& v) -> Result<int64_t> {
        int64_t threads = 1;
        for (const core::Expression& extent : launch.block) {
          WW_ASSIGN(int64_t value, Value(extent, v, 1, 1024));
          threads *= value;
        }
        if (threads > 1024)
          return Fail(ErrorCode::kConfig, fmt::format("a block of {} threads; at most 1024 are possible", threads));
        return threads;
      });
    }
    if (const YamlNode* shared = map.Find("shared_bytes")) {
      launch.shared_bytes = ReadExpression(*shared);
      if (launch.shared_bytes)
        ForEachCase(*shared, [&](const auto& v) { return Value(*launch.shared_bytes, v, 0, 228 << 10); });
    }
    spec_.launch = std::move(launch);
  }

  void ReadAllow(const YamlNode& node) {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(core::kLastAllow); ++i)
      names.push_back(core::Name(static_cast<core::Allow>(i)));
    if (!node.IsList())
      return Note(node, "'allow' must be a list", fmt::format("choose from [{}]", fmt::join(names, ", ")));
    for (const YamlNode& item : node.items()) {
      if (auto allow = core::ParseAllow(item.text())) spec_.allow.insert(*allow);
      else diagnostics_.Add(UnknownName(item, "relaxation", item.text(), names));
    }
  }

  void CheckBuffersInEveryCase() {
    for (const core::Argument& argument : spec_.args) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      if (!buffer || !sizes_known_) continue;
      const YamlNode& place = *node_.Find("args")->Find(argument.name);
      for (const core::Case& c : spec_.cases) {
        if (Status status = CheckSize(argument, *buffer, c); !status) {
          Note(place, status.error().message);
          break;
        }
      }
    }
    for (const auto& check : checks_) check();
  }
  static Status CheckSize(const core::Argument& argument, const core::BufferArgument& buffer, const core::Case& c) {
    WW_ASSIGN(std::vector<int64_t> shape, core::ShapeOf(argument, c));
    uint64_t bytes = core::SizeOf(buffer.dtype);
    bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    for (int64_t extent : shape)
      if (!empty && (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > kMaxBufferBytes))
        return Fail(ErrorCode::kConfig,
                    fmt::format("buffer '{}' has more than 16 GiB in case '{}'", argument.name, c.name));
    return {};
  }

  YamlNode node_;
  Diagnostics& diagnostics_;
  size_t errors_before_;
  // Arguments and cases have no errors: expressions can be evaluated without consequential errors.
  bool sizes_known_ = false;
  core::KernelSpec spec_;
  std::vector<std::string> integer_names_, float_names_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace

core::KernelSpec ReadKernel(const YamlNode& node, Diagnostics& diagnostics) {
  return KernelReader(node, diagnostics).Read();
}

}  // namespace warpwright::config
