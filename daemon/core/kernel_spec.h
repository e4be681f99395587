// What the manifest specifies for one entry: its arguments, its cases, what is allowed. Values only; config/manifest.h
// reads them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/build_options.h"
#include "core/dtype.h"
#include "core/expression.h"

namespace warpwright::core {

enum class Role { kIn, kOut, kInOut, kScratch };  // scratch: content undefined before and after
std::string_view Name(Role role);

// How an input buffer is filled. Integer bounds may use scalar arguments: {integers: [0, "C - 1"]}.
struct Init {
  enum class Kind { kDefault, kNormal, kUniform, kPareto, kLognormal, kConstant, kIntegers, kFile };
  Kind kind = Kind::kDefault;           // normal(0, 1) for floats, else integers in [0, 127]
  double a = 0;                         // mean, low, alpha, mu, value
  double b = 1;                         // deviation, high, -, sigma
  std::optional<Expression> low, high;  // kIntegers, inclusive
  std::string path, tensor;             // kFile: safetensors in the repository, and the tensor's name
};

struct BufferArgument {
  DType dtype = DType::kF32;
  std::vector<Expression> shape;
  Role role = Role::kIn;
  Init init;
  int64_t alignment = 256;  // bytes that callers guarantee for the pointer; odd-pointer cases use it as the offset
};
using ScalarValue = std::variant<int64_t, double>;
struct ScalarArgument {
  DType dtype = DType::kI32;
  std::optional<ScalarValue> value;  // for every case that does not give its own
};
struct Argument {
  std::string name;
  std::variant<BufferArgument, ScalarArgument> kind;
  int line = 0;  // in the manifest
};

enum class DeviceKind { kSim, kCuda };

struct Case {
  std::string name;  // unique within the kernel; built from the scalars if not given: "N=1024,C=768"
  std::map<std::string, ScalarValue> scalars;  // every scalar argument
  double weight = 1;  // of its time in the gain; 0: verified only (the default of cases for the simulator alone)
  std::set<DeviceKind> on = {DeviceKind::kSim, DeviceKind::kCuda};
  int line = 0;
};

// The launch of an entry that is a __global__ function. 1 to 3 dimensions each.
struct LaunchSpec {
  std::vector<Expression> grid;
  std::vector<Expression> block;
  std::optional<Expression> shared_bytes;
};

// kState: a launch may leave module variables changed, visible to the next launch. kSharedWorkspace: callers never have
// two calls on two streams at once, which then may share what the candidate keeps between calls.
enum class Allow {
  kTf32,
  kNondeterministic,
  kClock,
  kCachePolicy,
  kPrintf,
  kReducedPrecision,
  kState,
  kBuildDependent,
  kSharedWorkspace
};
inline constexpr Allow kLastAllow = Allow::kSharedWorkspace;
std::string_view Name(Allow allow);
std::optional<Allow> ParseAllow(std::string_view name);

// What counts where inputs are infinite or not a number (judge/special_values.h).
enum class SpecialInputs : uint8_t {
  kReliable,  // what a caller can rely on whatever the order of operations: the default
  kStrict,    // the original's classes of values everywhere
  kFinite,    // nothing: callers pass finite numbers
};
std::string_view Name(SpecialInputs special);  // "finite_inputs": as the manifest says it
constexpr SpecialInputs Last(SpecialInputs) { return SpecialInputs::kFinite; }

// An output that callers put in the place of an input; the names of two arguments.
struct InPlacePair {
  std::string output, input;
};

// A relaxation of the default comparison; shown with every result.
struct Tolerance {
  std::optional<double> relative;
};

struct KernelSpec {
  std::string name;
  std::string file;   // relative to the repository, '/'-separated
  std::string entry;  // "softmax_forward", "ns::f", "f<float, 4>"
  BuildOptions build;
  std::vector<Argument> args;
  std::vector<Case> cases;
  std::optional<LaunchSpec> launch;
  Tolerance tolerance;
  std::set<Allow> allow;
  SpecialInputs special = SpecialInputs::kReliable;
  // Not given: found out by trying the original with every pair of like buffers. Empty: callers never do that.
  std::optional<std::vector<InPlacePair>> alias;
  std::optional<Expression> accumulation;  // length of the longest sum in an output element, if the user states it
  int line = 0;

  const Argument* Find(std::string_view argument) const;
};

// A tool without whose word nothing is accepted. Others are heard where they are installed.
enum class RequiredTool : uint8_t { kNvcc, kComputeSanitizer };
std::string_view Name(RequiredTool tool);  // "nvcc", "compute-sanitizer"
constexpr RequiredTool Last(RequiredTool) { return RequiredTool::kComputeSanitizer; }

struct Policy {
  double min_speedup = 1.05;
  int max_rounds = 10;
  double max_minutes = 30;  // per kernel
  int max_repairs = 3;      // per failed candidate
  std::set<RequiredTool> require;
};

// What warpwright may publish on the forge for this repository. An operator's limits (config/operator_file.h) take
// precedence.
struct PullRequestPolicy {
  bool enabled = true;
  bool draft = false;
  std::vector<std::string> labels = {"performance"};
  std::vector<std::string> reviewers;  // user names, or "team:name"
  int max_open = 3;
  int max_per_day = 5;
};

// Nightly runs: every entry is timed against its own history.
struct NightlyPolicy {
  bool enabled = true;
  double threshold = 1.03;                    // a smaller slowdown is not reported, however significant
  std::string branch = "warpwright-history";  // holds the history of the last 400 nightly runs
};

// A kernel with a question mark of `warpwright init` that nobody replaced: it waits, the others do not.
struct UnansweredKernel {
  std::string name;
  Error question;  // where it is, and an example of an answer
};

struct Manifest {
  std::string path;    // for messages
  std::string digest;  // SHA-256 of the file as read
  std::vector<KernelSpec> kernels;
  std::vector<UnansweredKernel> unanswered;  // none of `kernels`
  Policy policy;
  PullRequestPolicy pull_requests;
  NightlyPolicy nightly;
};

// The integer scalars of a case, for expressions. Floating-point scalars are omitted.
std::map<std::string, int64_t> IntegerScalars(const Case& c);
// The shape of a buffer argument in a case; an Error names the argument and the expression. Negative sizes are errors.
Result<std::vector<int64_t>> ShapeOf(const Argument& argument, const Case& c);
// As the callee receives it: SizeOf(dtype) bytes, little endian.
std::vector<std::byte> ScalarBytes(const ScalarArgument& argument, const ScalarValue& value);

}  // namespace warpwright::core
