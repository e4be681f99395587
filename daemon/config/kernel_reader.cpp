#include "config/kernel_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "config/build_reader.h"
#include "config/case_reader.h"
#include "config/expression_reader.h"
#include "config/init_reader.h"
#include "config/name_check.h"
#include "config/repository_path.h"
#include "config/scalar_reader.h"

namespace warpwright::config {

namespace {

constexpr uint64_t kMaxBufferBytes = uint64_t{16} << 30;
constexpr size_t kMaxArguments = 256, kMaxDimensions = 8;

class KernelReader {
 public:
  KernelReader(const YamlNode& node, const core::BuildOptions& build, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics), errors_before_(diagnostics.size()) {
    spec_.build = build;
  }

  core::KernelSpec Read() {
    YamlObject map(node_, "a kernel",
                   {"name", "file", "entry", "args", "cases", "launch", "tolerance", "allow", "special", "alias",
                    "accumulation", "build"},
                   diagnostics_);
    spec_.line = node_.line();
    if (!node_.IsMap()) return std::move(spec_);
    spec_.name = map.String("name");
    spec_.file = map.String("file");
    spec_.entry = map.String("entry");
    CheckNames(map);
    if (const YamlNode* args = map.Require("args")) ReadArguments(*args);
    if (const YamlNode* cases = map.Require("cases")) spec_.cases = CaseReader(spec_.args, diagnostics_).Read(*cases);
    sizes_known_ = diagnostics_.size() == errors_before_;
    if (const YamlNode* launch = map.Find("launch")) ReadLaunch(*launch);
    if (const YamlNode* allow = map.Find("allow")) ReadAllow(*allow);
    if (const YamlNode* tolerance = map.Find("tolerance")) {
      YamlObject values(*tolerance, "a tolerance", {"relative"}, diagnostics_);
      spec_.tolerance.relative = values.Double("relative", 1e-16, 1);
    }
    if (const YamlNode* build = map.Find("build")) spec_.build = ReadBuild(*build, spec_.build, diagnostics_);
    if (const YamlNode* special = map.Find("special")) ReadSpecial(*special);
    if (const YamlNode* alias = map.Find("alias")) ReadAlias(*alias);
    if (const YamlNode* accumulation = map.Find("accumulation")) {
      spec_.accumulation = expressions_.Read(*accumulation);
      if (spec_.accumulation)
        ForEachCase(*accumulation,
                    [&](const auto& v) { return ExpressionReader::Value(*spec_.accumulation, v, 1, INT64_MAX); });
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
    if (file && !spec_.file.empty())
      if (Status status = CheckRepositoryPath(spec_.file); !status)
        Note(*file, status.error().message, status.error().remedy);
  }

  // --- arguments ---

  void ReadArguments(const YamlNode& node) {
    if (!node.IsMap())
      return Note(node, "'args' must be a map from argument to description, in the order of the signature",
                  "write NAME: {buffer: f32, shape: [N], role: in} or NAME: {scalar: i32} for each");
    if (node.entries().size() > kMaxArguments)
      return Note(node, fmt::format("more than {} arguments", kMaxArguments), "an entry with so many is not supported");
    expressions_.CollectScalars(node);
    for (const auto& [key, value] : node.entries()) {
      core::Argument argument{key.text(), core::ScalarArgument{}, key.line()};
      if (!IsIdentifier(argument.name))
        Note(key, fmt::format("'{}' is not an argument name", argument.name.substr(0, 100)),
             "name it as the source does");
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

  core::ScalarArgument ReadScalar(const YamlNode& key, const YamlNode& node) {
    YamlObject map(node, "a scalar argument", {"scalar", "value"}, diagnostics_);
    core::ScalarArgument scalar;
    scalar.dtype = ReadDType(map, "scalar", diagnostics_);
    if (const YamlNode* value = map.Find("value"))
      scalar.value = ReadScalarValue(*value, key.text(), scalar.dtype, diagnostics_);
    if (IsCaseKey(key.text()))
      Note(key, fmt::format("a scalar cannot be called '{}': that is a key of cases", key.text()),
           fmt::format("call it '{}_'; arguments are matched by their order", key.text()));
    return scalar;
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
    buffer.dtype = ReadDType(map, "buffer", diagnostics_);
    buffer.role = ReadRole(map);
    if (const YamlNode* shape = map.Require("shape"))
      buffer.shape = expressions_.ReadList(*shape, "'shape'", 0, kMaxDimensions);
    buffer.alignment = map.IntegerOr("alignment", static_cast<int64_t>(core::SizeOf(buffer.dtype)), 1, 4096);
    bool power_of_two = (buffer.alignment & (buffer.alignment - 1)) == 0;
    if (!power_of_two || buffer.alignment < static_cast<int64_t>(core::SizeOf(buffer.dtype)))
      Note(*map.Find("alignment"),
           fmt::format("alignment {} is not a power of two that holds {}", buffer.alignment, core::Name(buffer.dtype)),
           "write 4, 8, 16 or more");
    if (const YamlNode* init = map.Find("init")) {
      if (buffer.role == core::Role::kOut || buffer.role == core::Role::kScratch)
        Note(*init, "only 'in' and 'inout' buffers have an 'init'", "remove it, or change the role");
      buffer.init = InitReader(expressions_, diagnostics_).Read(*init, buffer.dtype);
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

  // `check(variables)` returns a Result; its error is noted at `node` once, with the case's name.
  template <typename Check>
  void ForEachCase(const YamlNode& node, Check check) {
    if (!sizes_known_) return;
    for (const core::Case& c : spec_.cases)
      if (Result<int64_t> result = check(core::IntegerScalars(c)); !result)
        return Note(node, fmt::format("in case '{}': {}", c.name, result.error().message),
                    fmt::format("change the expression, or the sizes of the case in line {}", c.line));
  }

  // --- the rest ---

  void ReadLaunch(const YamlNode& node) {
    YamlObject map(node, "a launch", {"grid", "block", "shared_bytes"}, diagnostics_);
    core::LaunchSpec launch;
    if (const YamlNode* grid = map.Require("grid")) {
      launch.grid = expressions_.ReadList(*grid, "'grid'", 1, 3);
      for (size_t i = 0; i < launch.grid.size(); ++i)
        ForEachCase(*grid, [&](const auto& v) {
          return ExpressionReader::Value(launch.grid[i], v, 1, i == 0 ? INT32_MAX : 65535);
        });
    }
    if (const YamlNode* block = map.Require("block")) {
      launch.block = expressions_.ReadList(*block, "'block'", 1, 3);
      ForEachCase(*block, [&](const auto& v) -> Result<int64_t> {
        int64_t threads = 1;
        for (const core::Expression& extent : launch.block) {
          WW_ASSIGN(int64_t value, ExpressionReader::Value(extent, v, 1, 1024));
          threads *= value;
        }
        if (threads > 1024)
          return Fail(ErrorCode::kConfig, fmt::format("a block of {} threads; at most 1024 are possible", threads));
        return threads;
      });
    }
    if (const YamlNode* shared = map.Find("shared_bytes")) {
      launch.shared_bytes = expressions_.Read(*shared);
      if (launch.shared_bytes)
        ForEachCase(*shared,
                    [&](const auto& v) { return ExpressionReader::Value(*launch.shared_bytes, v, 0, 228 << 10); });
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

  void ReadSpecial(const YamlNode& node) {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Last(core::SpecialInputs{})); ++i)
      names.push_back(core::Name(static_cast<core::SpecialInputs>(i)));
    if (const auto special = base::ParseName<core::SpecialInputs>(node.text())) spec_.special = *special;
    else diagnostics_.Add(UnknownName(node, "rule for special values", node.text(), names));
  }

  // An output and an input that can be one buffer.
  Status CheckPair(const YamlNode& pair) const {
    if (!pair.IsList() || pair.items().size() != 2)
      return Fail(ErrorCode::kConfig, "'alias' is a list of pairs: [[output, input]]");
    const core::BufferArgument* buffers[2] = {};
    const core::Argument* arguments[2] = {};
    for (size_t i = 0; i < 2; ++i) {
      const std::string& name = pair.items()[i].text();
      arguments[i] = spec_.Find(name);
      if (arguments[i] != nullptr) buffers[i] = std::get_if<core::BufferArgument>(&arguments[i]->kind);
      const core::Role role = i == 0 ? core::Role::kOut : core::Role::kIn;
      if (buffers[i] == nullptr || buffers[i]->role != role)
        return Fail(ErrorCode::kConfig, fmt::format("'{}' is no buffer with the role '{}'", name, core::Name(role)));
    }
    for (const core::Case& c : spec_.cases) {
      WW_ASSIGN(const std::vector<int64_t> output, core::ShapeOf(*arguments[0], c));
      WW_ASSIGN(const std::vector<int64_t> input, core::ShapeOf(*arguments[1], c));
      if (buffers[0]->dtype != buffers[1]->dtype || output != input)
        return Fail(ErrorCode::kConfig, fmt::format("'{}' and '{}' have different element types or shapes",
                                                    arguments[0]->name, arguments[1]->name));
    }
    return {};
  }
  void ReadAlias(const YamlNode& node) {
    constexpr const char* kRemedy = "write pairs of an output and an input of equal type and shape: [[out, inp]]";
    if (!node.IsList()) return Note(node, "'alias' is a list of pairs: [[output, input]]", kRemedy);
    if (!sizes_known_) return;
    spec_.alias.emplace();
    for (const YamlNode& pair : node.items()) {
      if (const Status checked = CheckPair(pair); !checked) Note(pair, checked.error().message, kRemedy);
      else spec_.alias->push_back({pair.items()[0].text(), pair.items()[1].text()});
    }
  }

  void CheckBuffersInEveryCase() {
    for (const core::Argument& argument : spec_.args) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      if (!buffer || !sizes_known_) continue;
      const YamlNode& place = *node_.Find("args")->Find(argument.name);
      for (const core::Case& c : spec_.cases) {
        if (Status status = CheckSize(argument, *buffer, c); !status) {
          Note(place, status.error().message,
               fmt::format("give the case in line {} other sizes, or the buffer another shape", c.line));
          break;
        }
      }
    }
    for (const core::Argument& argument : spec_.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        if (buffer->init.kind == core::Init::Kind::kIntegers) CheckIntegers(argument.name, *buffer);
  }
  void CheckIntegers(const std::string& name, const core::BufferArgument& buffer) {
    const YamlNode& bounds = *node_.Find("args")->Find(name)->Find("init")->Find("integers");
    ForEachCase(bounds, [&](const auto& variables) -> Result<int64_t> {
      const auto range = RangeOf(buffer.dtype);
      WW_ASSIGN(int64_t first, ExpressionReader::Value(*buffer.init.low, variables, range.low, range.high));
      WW_ASSIGN(int64_t last, ExpressionReader::Value(*buffer.init.high, variables, range.low, range.high));
      if (last < first) return Fail(ErrorCode::kConfig, fmt::format("'integers' from {} to {} is empty", first, last));
      return last;
    });
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
  ExpressionReader expressions_{diagnostics_};
};

}  // namespace

core::KernelSpec ReadKernel(const YamlNode& node, const core::BuildOptions& build, Diagnostics& diagnostics) {
  return KernelReader(node, build, diagnostics).Read();
}

}  // namespace warpwright::config
