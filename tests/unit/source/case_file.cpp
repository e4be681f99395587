#include "tests/unit/source/case_file.h"

#include <fmt/core.h>

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "base/file.h"

namespace warpwright {
namespace {

std::string Rest(std::istringstream& words) {
  std::string rest;
  std::getline(words, rest);
  return rest.empty() ? rest
                      : rest.substr(rest.find_first_not_of(' ') == std::string::npos ? rest.size()
                                                                                     : rest.find_first_not_of(' '));
}

void ReadBuffer(std::istringstream& words, SourceCase& result) {
  std::string name, type, word;
  uint64_t elements = 0;
  words >> name >> type >> elements;
  source::RecordBuffer buffer{name, elements * core::SizeOf(*core::ParseDType(type)), 0, {}, {}};
  while (words >> word) {
    if (word.starts_with("offset=")) buffer.pointer_offset = std::stoll(word.substr(7));
    if (word != "=") continue;
    double value = 0;
    for (size_t i = 0; words >> value; ++i) {
      buffer.content.resize((i + 1) * core::SizeOf(*core::ParseDType(type)));
      core::StoreFromDouble(*core::ParseDType(type), buffer.content.data(), i, value);
    }
  }
  core::BufferArgument argument;
  argument.dtype = *core::ParseDType(type);
  argument.shape = {core::Expression::Constant(static_cast<int64_t>(elements))};
  result.spec.args.push_back({name, argument, 0});
  result.buffers.push_back(std::move(buffer));
}

void ReadScalar(std::istringstream& words, SourceCase& result) {
  std::string name, type, value;
  words >> name >> type >> value;
  core::ScalarArgument argument;
  argument.dtype = *core::ParseDType(type);
  result.spec.args.push_back({name, argument, 0});
  if (core::IsFloat(argument.dtype)) {
    result.scalars[name] = std::stod(value);
  } else {
    result.scalars[name] = static_cast<int64_t>(std::stoll(value));
  }
}

std::string ValueText(const core::KernelParameter& parameter, const std::vector<core::PlanBuffer>& buffers) {
  const auto pointer = [&](const core::DevicePointer& p) {
    std::string text = p.buffer < buffers.size() ? buffers[p.buffer].name : "?";
    if (p.offset != 0) text += fmt::format("{:+}", p.offset);
    return text;
  };
  if (parameter.bytes.size() == 8 && parameter.pointers.size() == 1) return pointer(parameter.pointers.begin()->second);
  std::string text;
  if (parameter.pointers.empty() && parameter.bytes.size() == 4) {
    int32_t value = 0;
    std::memcpy(&value, parameter.bytes.data(), 4);
    return std::to_string(value);
  }
  if (parameter.pointers.empty() && parameter.bytes.size() == 8) {
    int64_t value = 0;
    std::memcpy(&value, parameter.bytes.data(), 8);
    return std::to_string(value) + "L";
  }
  for (size_t i = 0; i < parameter.bytes.size(); ++i) {
    if (const auto it = parameter.pointers.find(static_cast<uint32_t>(i)); it != parameter.pointers.end()) {
      text += "[" + pointer(it->second) + "]";
      i += 7;
    } else {
      text += fmt::format("{:02x}", static_cast<unsigned>(parameter.bytes[i]));
    }
  }
  return "{" + text + "}";
}

struct Describer {
  const std::vector<core::PlanBuffer>& buffers;
  std::string Pointer(const core::DevicePointer& p) const {
    return buffers.at(p.buffer).name + (p.offset == 0 ? "" : fmt::format("{:+}", p.offset));
  }
  static std::string Stream(uint32_t stream) { return stream == 0 ? "" : fmt::format(" stream {}", stream); }
  std::string operator()(const core::KernelLaunch& x) const {
    std::string arguments;
    for (const auto& parameter : x.parameters)
      arguments += (arguments.empty() ? "" : ", ") + ValueText(parameter, buffers);
    std::string text = fmt::format("launch {}({}) {}x{}x{} {}x{}x{}", x.kernel, arguments, x.grid.x, x.grid.y, x.grid.z,
                                   x.block.x, x.block.y, x.block.z);
    if (x.dynamic_shared_bytes != 0) text += fmt::format(" shared {}", x.dynamic_shared_bytes);
    if (x.cooperative) text += " cooperative";
    return text + Stream(x.stream);
  }
  std::string operator()(const core::MemsetOp& x) const {
    return fmt::format("memset {} {} {}", Pointer(x.destination), x.value, x.bytes) + Stream(x.stream);
  }
  std::string operator()(const core::CopyOp& x) const {
    return fmt::format("copy {} {} {}", Pointer(x.destination), Pointer(x.source), x.bytes) + Stream(x.stream);
  }
  std::string operator()(const core::UploadOp& x) const {
    return fmt::format("upload {} {}", Pointer(x.destination), x.bytes.size()) + Stream(x.stream);
  }
  std::string operator()(const core::SymbolUploadOp& x) const {
    return fmt::format("symbol {}+{} {}", x.symbol, x.offset, x.bytes.size()) + Stream(x.stream);
  }
  std::string operator()(const core::SymbolCopyOp& x) const {
    return fmt::format("copy {} symbol {}+{} {} {}", x.to_symbol ? "to" : "from", x.symbol, x.offset, Pointer(x.buffer),
                       x.bytes) +
           Stream(x.stream);
  }
  std::string operator()(const core::EventOp& x) const {
    return fmt::format("{} event {}", x.kind == core::EventOp::Kind::kRecord ? "record" : "wait", x.event) +
           Stream(x.stream);
  }
};

}  // namespace

SourceCase ReadCase(const std::filesystem::path& path) {
  SourceCase result;
  result.path = path;
  auto text = base::ReadFile(path);
  if (!text) throw std::runtime_error(text.error().Format());
  result.text = *text;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
    std::istringstream words(line.substr(2));
    std::string key;
    words >> key;
    if (key == "entry:") {
      result.spec.entry = Rest(words);
    } else if (key == "buffer:") {
      ReadBuffer(words, result);
    } else if (key == "scalar:") {
      ReadScalar(words, result);
    } else if (key == "kernel-launch:") {
      std::string grid, block;
      words >> grid >> block;
      result.spec.launch =
          core::LaunchSpec{{*core::Expression::Parse(grid)}, {*core::Expression::Parse(block)}, std::nullopt};
    } else if (key == "expect:") {
      result.expected.push_back(Rest(words));
    } else if (key == "refused:") {
      const std::string rest = Rest(words);
      const size_t at = rest.rfind(" @ ");
      if (at == std::string::npos) throw std::runtime_error(path.string() + ": no line in " + rest);
      result.refusal = rest.substr(0, at);
      result.refusal_line = std::stoi(rest.substr(at + 3));
    } else {
      throw std::runtime_error(path.string() + ": what is " + key);
    }
  }
  return result;
}

std::vector<std::string> Describe(const core::LaunchPlan& plan) {
  std::vector<std::string> lines;
  const Describer describer{plan.buffers};
  for (const core::PlanOp& op : plan.setup) lines.push_back("setup: " + std::visit(describer, op));
  for (const core::PlanOp& op : plan.ops) lines.push_back(std::visit(describer, op));
  return lines;
}

}  // namespace warpwright
