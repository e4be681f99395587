#include "source/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "source/recording_lines.h"

namespace warpwright::source {
namespace {

constexpr size_t kLineLimit = 200'000;

tl::unexpected<Error> Unexpected(const char* expected) {
  return Fail(ErrorCode::kCorrupt, std::string("expected ") + expected);
}

Result<core::KernelLaunch> Launch(LaunchLine&& line, std::vector<bool>& is_pointer) {
  core::KernelLaunch launch{.kernel = std::move(line.kernel),
                            .grid = line.grid,
                            .block = line.block,
                            .dynamic_shared_bytes = line.shared_bytes,
                            .parameters = {},
                            .stream = line.stream,
                            .cooperative = line.cooperative,
                            .file = std::move(line.file),
                            .line = line.line};
  for (ParameterRecord& record : line.parameters) {
    core::KernelParameter parameter{std::move(record.bytes.bytes), {}};
    for (const PointerAt& at : record.pointers)
      if (!parameter.pointers.emplace(at.at, at.pointer).second) return Unexpected("one pointer at an offset");
    is_pointer.push_back(record.pointer);
    launch.parameters.push_back(std::move(parameter));
  }
  return launch;
}

// Appends what a line says to the recording.
class LineReader {
 public:
  LineReader(size_t arguments, const std::string& file, Recording& recording)
      : arguments_(arguments), file_(file), recording_(recording) {}

  Status operator()(LaunchLine&& line) {
    if (call_ == nullptr) return Unexpected("a call");
    std::vector<bool> is_pointer;
    WW_ASSIGN(core::KernelLaunch launch, Launch(std::move(line), is_pointer));
    if (!recording_.calls.empty()) recording_.is_pointer.back().push_back(std::move(is_pointer));
    return Append(std::move(launch));
  }
  Status operator()(MemsetLine&& line) {
    return Append(core::MemsetOp{
        .destination = line.to, .value = line.value, .unit = 1, .bytes = line.bytes, .stream = line.stream});
  }
  Status operator()(CopyLine&& line) { return Append(core::CopyOp{line.to, line.from, line.bytes, line.stream}); }
  Status operator()(UploadLine&& line) {
    return Append(core::UploadOp{line.to, std::move(line.data.bytes), line.stream});
  }
  Status operator()(SymbolLine&& line) {
    return Append(core::SymbolUploadOp{std::move(line.symbol), line.offset, std::move(line.data.bytes), line.stream});
  }
  Status operator()(SymbolCopyLine&& line) {
    return Append(core::SymbolCopyOp{.symbol = std::move(line.symbol),
                                     .offset = line.offset,
                                     .buffer = line.with,
                                     .bytes = line.bytes,
                                     .stream = line.stream,
                                     .to_symbol = line.to_symbol});
  }
  Status operator()(EventLine&& line) {
    return Append(
        core::EventOp{line.waits ? core::EventOp::Kind::kWait : core::EventOp::Kind::kRecord, line.event, line.stream});
  }
  Status operator()(CallLine&& line) {
    if (line.number != recording_.calls.size() || line.number >= kCalls ||
        (line.earlier && recording_.earlier.size() >= kMostEarlier))
      return Unexpected("the next call");
    if (!line.earlier) recording_.is_pointer.emplace_back();
    call_ = &(line.earlier ? recording_.earlier : recording_.calls).emplace_back();
    return {};
  }
  Status operator()(WorkspaceLine&& line) {
    if (line.buffer != arguments_ + recording_.workspaces.size()) return Unexpected("the next workspace");
    recording_.workspaces.push_back(line.bytes);
    return {};
  }
  Status operator()(Readback&& line) {
    recording_.readbacks.push_back({line.buffer, Named(line.file), line.line});
    return {};
  }
  Status operator()(RefuseLine&& line) {
    recording_.refused = core::Refused{core::Check::kRecord, std::move(line.reason), Named(line.file), line.line};
    return {};
  }
  Status operator()(RecordedFault&& line) {
    recording_.fault = std::move(line);
    return {};
  }
  Status operator()(KeptLine&& line) {
    if (line.buffer < arguments_ || line.buffer >= arguments_ + recording_.workspaces.size())
      return Unexpected("a workspace");
    recording_.kept.insert(line.buffer);
    return {};
  }
  Status operator()(ServedLine&&) {
    recording_.served = true;
    return {};
  }
  Status operator()(ReturnedLine&& line) {
    if (line.failing) recording_.returned_failing = line.value.text();
    else recording_.returned.push_back(line.value.text());
    return {};
  }
  Status operator()(EffectLine&& line) {
    recording_.effects.push_back({std::move(line.what), std::move(line.function)});
    return {};
  }
  Status operator()(ComparedLine&& line) {
    constexpr size_t kMost = 4096;
    if (recording_.compared.size() >= kMost) return Unexpected("fewer comparisons");
    recording_.compared.push_back(static_cast<double>(line.value));
    return {};
  }
  Status operator()(DecidedLine&& line) {
    constexpr size_t kMost = 4096;
    if (recording_.decisions.size() >= kMost) return Unexpected("fewer comparisons");
    recording_.decisions.push_back({static_cast<double>(line.left), static_cast<double>(line.right), false});
    return {};
  }
  Status operator()(HostTimeLine&& line) {
    recording_.host_us = static_cast<double>(line.ns) * 1e-3;
    return {};
  }
  Status operator()(UnorderedLine&& line) {
    constexpr const char* kUnordered = "work on a stream that is not ordered with its caller's";
    recording_.unordered = core::FoundUse{.use = {.kind = core::CodeUseKind::kHost, .format = {}, .detail = kUnordered},
                                          .instruction = kUnordered,
                                          .file = Named(line.file),
                                          .line = line.line};
    return {};
  }
  Status operator()(EndLine&&) {
    if (recording_.calls.size() != kCalls) return Unexpected("three calls");
    recording_.ended = true;
    return {};
  }

 private:
  static constexpr size_t kCalls = 3, kMostEarlier = 4;

  Status Append(core::PlanOp op) {
    if (call_ == nullptr) return Unexpected("a call");
    call_->push_back(std::move(op));
    return {};
  }
  const std::string& Named(const std::string& file) const { return file.empty() ? file_ : file; }

  size_t arguments_;
  const std::string& file_;
  Recording& recording_;
  std::vector<core::PlanOp>* call_ = nullptr;  // the latest
};

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
  Matcher(const std::vector<core::PlanBuffer>& buffers, size_t arguments)
      : buffers_(buffers), others_(buffers), arguments_(arguments) {}
  // Operations of two recordings: the second's workspaces may be larger.
  Matcher(const std::vector<core::PlanBuffer>& buffers, const std::vector<core::PlanBuffer>& others, size_t arguments)
      : buffers_(buffers), others_(others), arguments_(arguments), same_recording_(false) {}

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
    if (from.buffer >= buffers_.size() || to.buffer >= others_.size()) return false;
    const auto [it, fresh] = forward_.emplace(from.buffer, to.buffer);
    const uint64_t mine = buffers_[from.buffer].bytes, theirs = others_[to.buffer].bytes;
    if (it->second != to.buffer || (same_recording_ ? mine != theirs : mine > theirs)) return false;
    from.buffer = to.buffer;
    return true;
  }
  // For a caller on the default stream, what names that stream is on the caller's.
  void RenameStream(uint32_t& a, uint32_t b) const {
    constexpr uint32_t kNamedDefault = 2;
    if (!same_recording_ && a == kNamedDefault && b == 0) a = b;
  }
  bool Rename(core::KernelLaunch& a, const core::KernelLaunch& b) {
    RenameStream(a.stream, b.stream);
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
  bool Rename(core::MemsetOp& a, const core::MemsetOp& b) {
    RenameStream(a.stream, b.stream);
    return Map(a.destination, b.destination);
  }
  bool Rename(core::CopyOp& a, const core::CopyOp& b) {
    RenameStream(a.stream, b.stream);
    return Map(a.destination, b.destination) && Map(a.source, b.source);
  }
  bool Rename(core::UploadOp& a, const core::UploadOp& b) {
    RenameStream(a.stream, b.stream);
    return Map(a.destination, b.destination);
  }
  bool Rename(core::SymbolUploadOp& a, const core::SymbolUploadOp& b) {
    RenameStream(a.stream, b.stream);
    return true;
  }
  bool Rename(core::SymbolCopyOp& a, const core::SymbolCopyOp& b) {
    RenameStream(a.stream, b.stream);
    return Map(a.buffer, b.buffer);
  }
  bool Rename(core::EventOp& a, const core::EventOp& b) {
    RenameStream(a.stream, b.stream);
    return true;
  }

  const std::vector<core::PlanBuffer>&buffers_, &others_;
  size_t arguments_;
  bool same_recording_ = true;
  std::map<uint32_t, uint32_t> forward_;
};

// What a call makes and leaves to nobody is none of the next one's: `last` are a later call's operations.
void MarkKept(const std::set<uint64_t>& kept, const std::vector<core::PlanOp>& last, core::LaunchPlan& plan) {
  const auto used_by = [](std::vector<core::PlanOp> ops) {
    std::set<uint64_t> used;
    for (core::PlanOp& op : ops)
      core::VisitPointers(op, [&](const core::DevicePointer& pointer) { used.insert(pointer.buffer); });
    return used;
  };
  const std::set<uint64_t> now = used_by(plan.ops), later = used_by(last);
  for (const uint64_t buffer : kept)
    if (buffer < plan.buffers.size()) plan.buffers[buffer].kept = now.contains(buffer) && later.contains(buffer);
}

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
  for (auto* ops : {&plan.setup, &plan.ops})
    for (core::PlanOp& op : *ops) core::VisitPointers(op, visit);
  plan.buffers = std::move(buffers);
}

}  // namespace

Result<Recording> DecodeRecording(std::string_view lines, size_t arguments, const std::string& file) {
  Recording recording;
  LineReader reader(arguments, file, recording);
  const auto read = [&](std::string_view line) -> Status {
    WW_ASSIGN(RecordingLine decoded, DecodeRecordingLine(line));
    return std::visit(reader, std::move(decoded));
  };
  for (size_t count = 1; !lines.empty(); ++count) {
    const size_t end = lines.find('\n');
    const Status status = end != std::string_view::npos && count < kLineLimit ? read(lines.substr(0, end))
                                                                              : Unexpected("a complete line");
    if (!status)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("line {} of the recording is malformed: {}", count, status.error().message));
    lines.remove_prefix(end + 1);
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
  MarkKept(a.kept, third, plan);
  RenumberWorkspaces(plan, count);
  return plan;
}

namespace {

// The plan's launches have no bytes where pointers are, also in structures: the other recording's neither.
void ClearPointers(const std::vector<core::PlanOp>& like, size_t skip, std::vector<core::PlanOp>& ops) {
  for (size_t i = 0; i < ops.size() && skip + i < like.size(); ++i) {
    const auto* wanted = std::get_if<core::KernelLaunch>(&like[skip + i]);
    auto* launch = std::get_if<core::KernelLaunch>(&ops[i]);
    if (wanted == nullptr || launch == nullptr || wanted->parameters.size() != launch->parameters.size()) continue;
    for (size_t p = 0; p < launch->parameters.size(); ++p) {
      core::KernelParameter& parameter = launch->parameters[p];
      const auto& pointers = wanted->parameters[p].pointers;
      std::erase_if(parameter.pointers, [&](const auto& at) { return !pointers.contains(at.first); });
      for (const auto& [offset, pointer] : parameter.pointers)
        if (offset + 8 <= parameter.bytes.size()) std::fill_n(parameter.bytes.begin() + offset, 8, std::byte{0});
    }
  }
}

// A workspace that grew with the sizes is cleared by more.
void ShortenMemsets(const std::vector<core::PlanOp>& like, std::vector<core::PlanOp>& ops) {
  for (size_t i = 0; i < std::min(like.size(), ops.size()); ++i) {
    const auto* wanted = std::get_if<core::MemsetOp>(&like[i]);
    auto* memset = std::get_if<core::MemsetOp>(&ops[i]);
    if (wanted != nullptr && memset != nullptr) memset->bytes = std::min(memset->bytes, wanted->bytes);
  }
}

}  // namespace

bool DependsOnEarlierCalls(const core::LaunchPlan& plan, Recording later) {
  const auto arguments =
      static_cast<size_t>(std::count_if(plan.buffers.begin(), plan.buffers.end(), [](const core::PlanBuffer& buffer) {
        return buffer.kind == core::PlanBuffer::Kind::kArgument;
      }));
  std::vector<core::PlanBuffer> others(plan.buffers.begin(), plan.buffers.begin() + static_cast<long>(arguments));
  for (const uint64_t bytes : later.workspaces) others.push_back({core::PlanBuffer::Kind::kWorkspace, "", bytes});
  Matcher matcher(plan.buffers, others, arguments);
  const auto same = [&](const std::vector<core::PlanOp>& wanted, std::vector<core::PlanOp> ops) {
    ClearPointers(wanted, 0, ops);
    return matcher.Same(wanted, 0, ops);
  };
  for (const size_t call : {1, 2})
    if (!same(plan.ops, later.calls[call])) return true;
  if (plan.setup.empty()) return !same(plan.ops, later.calls[0]);
  std::vector<core::PlanOp> whole = plan.setup;
  whole.insert(whole.end(), plan.ops.begin(), plan.ops.end());
  if (same(whole, later.calls[0])) return false;
  if (!same(plan.ops, later.calls[0])) return true;
  return std::none_of(later.earlier.begin(), later.earlier.end(), [&](std::vector<core::PlanOp>& ops) {
    if (ops.size() < plan.setup.size()) return false;
    std::vector<core::PlanOp> begin(ops.begin(), ops.begin() + static_cast<long>(plan.setup.size()));
    ShortenMemsets(plan.setup, begin);
    return same(plan.setup, std::move(begin));
  });
}

}  // namespace warpwright::source
