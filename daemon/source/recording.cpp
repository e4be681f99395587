#include "source/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"

namespace warpwright::source {
namespace {

using nlohmann::json;

constexpr size_t kLineLimit = 200'000;

struct Malformed {
  std::string what;
};
void Expect(bool condition, const char* what) {
  if (!condition) throw Malformed{what};
}

int64_t Integer(const json& object, const char* key) {
  const json& value = object.at(key);
  Expect(value.is_number_integer(), key);
  return value.get<int64_t>();
}
template <typename T>
T Unsigned(const json& value) {
  Expect(value.is_number_integer(), "a number");
  const int64_t number = value.get<int64_t>();
  Expect(number >= 0 && static_cast<uint64_t>(number) <= std::numeric_limits<T>::max(), "a number in range");
  return static_cast<T>(number);
}
std::string String(const json& object, const char* key) {
  const json& value = object.at(key);
  Expect(value.is_string(), key);
  return value.get<std::string>();
}
core::Dim3 Dimensions(const json& value) {
  Expect(value.is_array() && value.size() == 3, "dimensions");
  return {Unsigned<uint32_t>(value[0]), Unsigned<uint32_t>(value[1]), Unsigned<uint32_t>(value[2])};
}
core::DevicePointer Pointer(const json& value) {
  Expect(value.is_array() && value.size() == 2 && value[1].is_number_integer(), "a pointer");
  return {Unsigned<uint32_t>(value[0]), value[1].get<int64_t>()};
}
std::vector<std::byte> Bytes(const std::string& hex) {
  Expect(hex.size() % 2 == 0, "hexadecimal digits");
  const auto digit = [](char c) {
    Expect((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'), "hexadecimal digits");
    return c <= '9' ? c - '0' : c - 'a' + 10;
  };
  std::vector<std::byte> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
  return bytes;
}

core::KernelLaunch Launch(const json& object, std::vector<bool>& is_pointer) {
  core::KernelLaunch launch;
  launch.kernel = String(object, "kernel");
  launch.grid = Dimensions(object.at("grid"));
  launch.block = Dimensions(object.at("block"));
  launch.dynamic_shared_bytes = Unsigned<uint32_t>(object.at("shared"));
  launch.stream = Unsigned<uint32_t>(object.at("stream"));
  launch.cooperative = object.at("cooperative").get<bool>();
  launch.file = String(object, "file");
  launch.line = Unsigned<int>(object.at("line"));
  for (const json& item : object.at("parameters")) {
    core::KernelParameter parameter;
    parameter.bytes = Bytes(String(item, "bytes"));
    for (const auto& [offset, pointer] : item.at("pointers").items()) {
      Expect(offset.size() < 6 && offset.find_first_not_of("0123456789") == std::string::npos, "an offset");
      parameter.pointers[static_cast<uint32_t>(std::stoul(offset))] = Pointer(pointer);
    }
    is_pointer.push_back(item.at("pointer").get<bool>());
    launch.parameters.push_back(std::move(parameter));
  }
  return launch;
}

core::PlanOp Operation(const json& object, std::vector<std::vector<bool>>& is_pointer) {
  const std::string op = String(object, "op");
  if (op == "launch") {
    is_pointer.emplace_back();
    return Launch(object, is_pointer.back());
  }
  const uint32_t stream = Unsigned<uint32_t>(object.at("stream"));
  if (op == "memset") {
    return core::MemsetOp{.destination = Pointer(object.at("to")),
                          .value = Unsigned<uint32_t>(object.at("value")),
                          .unit = 1,
                          .bytes = Unsigned<uint64_t>(object.at("bytes")),
                          .stream = stream};
  }
  if (op == "copy") {
    return core::CopyOp{Pointer(object.at("to")), Pointer(object.at("from")), Unsigned<uint64_t>(object.at("bytes")),
                        stream};
  }
  if (op == "upload") return core::UploadOp{Pointer(object.at("to")), Bytes(String(object, "data")), stream};
  if (op == "symbol") {
    return core::SymbolUploadOp{String(object, "symbol"), Unsigned<uint64_t>(object.at("offset")),
                                Bytes(String(object, "data")), stream};
  }
  Expect(op == "record" || op == "wait", "an operation");
  return core::EventOp{op == "record" ? core::EventOp::Kind::kRecord : core::EventOp::Kind::kWait,
                       Unsigned<uint32_t>(object.at("event")), stream};
}

void DecodeLine(const json& object, size_t arguments, const std::string& file, Recording& recording) {
  Expect(object.is_object(), "an object");
  const auto place = [&](const std::string& name) { return name.empty() ? file : name; };
  if (object.contains("op")) {
    Expect(!recording.calls.empty(), "a call");
    recording.calls.back().push_back(Operation(object, recording.is_pointer.back()));
  } else if (object.contains("call")) {
    Expect(Integer(object, "call") == static_cast<int64_t>(recording.calls.size()) && recording.calls.size() < 3,
           "the next call");
    recording.calls.emplace_back();
    recording.is_pointer.emplace_back();
  } else if (object.contains("workspace")) {
    Expect(Integer(object, "workspace") == static_cast<int64_t>(arguments + recording.workspaces.size()),
           "the next workspace");
    recording.workspaces.push_back(Unsigned<uint64_t>(object.at("bytes")));
  } else if (object.contains("readback")) {
    recording.readbacks.push_back({static_cast<int>(Integer(object, "readback")), place(String(object, "file")),
                                   Unsigned<int>(object.at("line"))});
  } else if (object.contains("refuse")) {
    recording.refused = core::Refused{core::Check::kRecord, String(object, "refuse"), place(String(object, "file")),
                                      Unsigned<int>(object.at("line"))};
  } else if (object.contains("fault")) {
    RecordedFault fault;
    fault.signal = Unsigned<int>(object.at("fault"));
    fault.buffer = static_cast<int>(Integer(object, "buffer"));
    fault.write = object.at("write").get<bool>();
    fault.dirty = object.at("dirty").get<bool>();
    fault.managed = object.at("managed").get<bool>();
    for (const json& address : object.at("stack")) fault.stack.push_back(Unsigned<uint64_t>(address));
    recording.fault = std::move(fault);
  } else if (object.contains("end")) {
    Expect(recording.calls.size() == 3, "three calls");
    recording.ended = true;
  } else {
    Expect(object.contains("served"), "a known line");
  }
}

// Pointers inside by-value structures: a value that decodes to the same pointer in both runs, at different addresses,
// is a pointer. Returns false if bytes that are not pointers differ.
bool ReconcileLaunch(core::KernelLaunch& a, const core::KernelLaunch& b, const std::vector<bool>& is_pointer) {
  if (a.parameters.size() != b.parameters.size() || is_pointer.size() != a.parameters.size()) return false;
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    core::KernelParameter& x = a.parameters[i];
    const core::KernelParameter& y = b.parameters[i];
    if (x.bytes.size() != y.bytes.size()) return false;
    if (is_pointer[i]) {
      if (x.pointers != y.pointers) return false;
      continue;
    }
    std::map<uint32_t, core::DevicePointer> agreed;
    std::vector<std::byte> other = y.bytes;
    for (const auto& [offset, pointer] : x.pointers) {
      const auto same = y.pointers.find(offset);
      if (same == y.pointers.end() || !(same->second == pointer) || offset + 8 > x.bytes.size()) continue;
      agreed[offset] = pointer;
      std::fill_n(x.bytes.begin() + offset, 8, std::byte{0});
      std::fill_n(other.begin() + offset, 8, std::byte{0});
    }
    x.pointers = std::move(agreed);
    if (x.bytes != other) return false;
  }
  return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes && a.stream == b.stream && a.cooperative == b.cooperative;
}

core::Refused Differs(const Recording& a, const Recording& b, const core::PlanOp* op, const std::string& file) {
  if (!a.readbacks.empty() || !b.readbacks.empty()) {
    const Readback& readback = a.readbacks.empty() ? b.readbacks.front() : a.readbacks.front();
    return {core::Check::kRecord, "the launcher decides by a value that it copies back from the device", readback.file,
            readback.line};
  }
  const auto* launch = op == nullptr ? nullptr : std::get_if<core::KernelLaunch>(op);
  return {
      core::Check::kRecord,
      launch == nullptr
          ? std::string("two recordings of the launcher differ: it depends on addresses, on time or on chance")
          : fmt::format(
                "two recordings of the launch of {} differ: its arguments depend on addresses, on time or on chance",
                launch->kernel),
      launch == nullptr ? file : launch->file, launch == nullptr ? 0 : launch->line};
}

// Matches the operations of `first` after its first `skip`, with workspaces renamed so that they equal those of
// `second`.
class Matcher {
 public:
  Matcher(const std::vector<core::PlanBuffer>& buffers, size_t arguments) : buffers_(buffers), arguments_(arguments) {}

  bool Same(const std::vector<core::PlanOp>& first, size_t skip, const std::vector<core::PlanOp>& second) {
    forward_.clear();
    if (first.size() - skip != second.size()) return false;
    for (size_t i = 0; i < second.size(); ++i) {
      if (first[skip + i].index() != second[i].index()) return false;
      core::PlanOp renamed = first[skip + i];
      const bool possible =
          std::visit([&](auto& x) { return Rename(x, std::get<std::decay_t<decltype(x)>>(second[i])); }, renamed);
      if (!possible || !(renamed == second[i])) return false;
    }
    return true;
  }

 private:
  bool Map(core::DevicePointer& from, const core::DevicePointer& to) {
    if (from.buffer < arguments_ || to.buffer < arguments_) return true;
    if (from.buffer >= buffers_.size() || to.buffer >= buffers_.size()) return false;
    const auto [it, fresh] = forward_.emplace(from.buffer, to.buffer);
    if (it->second != to.buffer || buffers_[from.buffer].bytes != buffers_[to.buffer].bytes) return false;
    from.buffer = to.buffer;
    return true;
  }
  bool Rename(core::KernelLaunch& a, const core::KernelLaunch& b) {
    a.line = b.line;
    a.file = b.file;
    if (a.parameters.size() != b.parameters.size()) return false;
    for (size_t i = 0; i < a.parameters.size(); ++i) {
      for (auto& [offset, pointer] : a.parameters[i].pointers) {
        const auto other = b.parameters[i].pointers.find(offset);
        if (other == b.parameters[i].pointers.end() || !Map(pointer, other->second)) return false;
      }
    }
    return true;
  }
  bool Rename(core::MemsetOp& a, const core::MemsetOp& b) { return Map(a.destination, b.destination); }
  bool Rename(core::CopyOp& a, const core::CopyOp& b) {
    return Map(a.destination, b.destination) && Map(a.source, b.source);
  }
  bool Rename(core::UploadOp& a, const core::UploadOp& b) { return Map(a.destination, b.destination); }
  bool Rename(core::SymbolUploadOp&, const core::SymbolUploadOp&) { return true; }
  bool Rename(core::EventOp&, const core::EventOp&) { return true; }

  const std::vector<core::PlanBuffer>& buffers_;
  size_t arguments_;
  std::map<uint32_t, uint32_t> forward_;
};

// Keeps only the workspaces that are used, numbered in the order of first use.
void RenumberWorkspaces(core::LaunchPlan& plan, size_t arguments) {
  std::map<uint32_t, uint32_t> numbers;
  std::vector<core::PlanBuffer> buffers(plan.buffers.begin(), plan.buffers.begin() + static_cast<long>(arguments));
  const auto visit = [&](core::DevicePointer& pointer) {
    if (pointer.buffer < arguments || pointer.buffer >= plan.buffers.size()) return;
    const auto [it, fresh] = numbers.emplace(pointer.buffer, static_cast<uint32_t>(buffers.size()));
    if (fresh) {
      buffers.push_back(plan.buffers[pointer.buffer]);
      buffers.back().name = fmt::format("workspace {}", buffers.size() - 1 - arguments);
    }
    pointer.buffer = it->second;
  };
  for (auto* ops : {&plan.setup, &plan.ops}) {
    for (core::PlanOp& op : *ops) {
      std::visit(Overload{[&](core::KernelLaunch& x) {
                            for (auto& parameter : x.parameters) {
                              for (auto& [offset, pointer] : parameter.pointers) visit(pointer);
                            }
                          },
                          [&](core::MemsetOp& x) { visit(x.destination); },
                          [&](core::CopyOp& x) {
                            visit(x.destination);
                            visit(x.source);
                          },
                          [&](core::UploadOp& x) { visit(x.destination); }, [](core::SymbolUploadOp&) {},
                          [](core::EventOp&) {}},
                 op);
    }
  }
  plan.buffers = std::move(buffers);
}

}  // namespace

Result<Recording> DecodeRecording(std::string_view lines, size_t arguments, const std::string& file) {
  Recording recording;
  size_t count = 0;
  try {
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      Expect(end != std::string_view::npos && ++count < kLineLimit, "a complete line");
      const auto line = base::ParseJson(lines.substr(0, end));
      Expect(line.has_value(), "JSON");
      DecodeLine(*line, arguments, file, recording);
      lines.remove_prefix(end + 1);
    }
  } catch (const Malformed& malformed) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("line {} of the recording is malformed: expected {}", count, malformed.what));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kCorrupt, fmt::format("line {} of the recording is malformed: {}", count, error.what()));
  }
  return recording;
}

std::variant<core::LaunchPlan, core::Refused> MakePlan(Recording a, const Recording& b,
                                                       std::vector<core::PlanBuffer> arguments,
                                                       const std::string& file) {
  if (a.workspaces != b.workspaces || a.calls.size() != b.calls.size()) return Differs(a, b, nullptr, file);
  for (size_t call = 0; call < a.calls.size(); ++call) {
    if (a.calls[call].size() != b.calls[call].size()) return Differs(a, b, nullptr, file);
    size_t launch = 0;
    for (size_t i = 0; i < a.calls[call].size(); ++i) {
      core::PlanOp& x = a.calls[call][i];
      const core::PlanOp& y = b.calls[call][i];
      if (x.index() != y.index()) return Differs(a, b, &x, file);
      if (auto* kernel = std::get_if<core::KernelLaunch>(&x)) {
        const auto& pointers = a.is_pointer[call];
        const bool same =
            launch < pointers.size() && ReconcileLaunch(*kernel, std::get<core::KernelLaunch>(y), pointers[launch]);
        ++launch;
        if (!same) return Differs(a, b, &x, file);
      } else if (!(x == y)) {
        return Differs(a, b, &x, file);
      }
    }
  }
  const size_t count = arguments.size();
  core::LaunchPlan plan;
  plan.buffers = std::move(arguments);
  for (size_t i = 0; i < a.workspaces.size(); ++i) {
    plan.buffers.push_back({core::PlanBuffer::Kind::kWorkspace, fmt::format("workspace {}", i), a.workspaces[i]});
  }
  Matcher matcher(plan.buffers, count);
  const auto &first = a.calls[0], &second = a.calls[1], &third = a.calls[2];
  if (!matcher.Same(second, 0, third)) {
    return core::Refused{core::Check::kRecord, "the launcher does something else in every call", file, 0};
  }
  const size_t setup = first.size() < second.size() ? 0 : first.size() - second.size();
  if (!matcher.Same(first, setup, second)) {
    return core::Refused{core::Check::kRecord,
                         "the launcher's first call differs from later ones in more than a set-up in front", file, 0};
  }
  plan.setup.assign(first.begin(), first.begin() + static_cast<long>(setup));
  // Without setup operations, the first call is the plan; else a later call, which works on the results of the setup.
  plan.ops = setup == 0 ? first : second;
  RenumberWorkspaces(plan, count);
  return plan;
}

}  // namespace warpwright::source
