#include "worker/json_types.h"

namespace warpwright {
namespace {

using nlohmann::json;

// Enumerations travel as numbers; a number beyond the last is refused.
template <typename E>
E DecodeEnum(const json& j, E last) {
  const int value = j.get<int>();
  if (value < 0 || value > static_cast<int>(last)) throw DecodeError("a number outside its enumeration");
  return static_cast<E>(value);
}
template <typename E>
int EncodeEnum(E value) {
  return static_cast<int>(value);
}
Expression DecodeExpression(const json& j) {
  auto expression = Expression::Parse(j.get<std::string>());
  if (!expression) throw DecodeError(expression.error().message);
  return std::move(*expression);
}
json EncodeOptional(const std::optional<Expression>& expression) { return expression ? json(expression->text()) : json(nullptr); }
std::optional<Expression> DecodeOptional(const json& j) {
  if (j.is_null()) return std::nullopt;
  return DecodeExpression(j);
}
json EncodeList(const std::vector<Expression>& list) {
  json j = json::array();
  for (const auto& expression : list) j.push_back(expression.text());
  return j;
}
std::vector<Expression> DecodeList(const json& j) {
  std::vector<Expression> list;
  for (const auto& item : j) list.push_back(DecodeExpression(item));
  return list;
}
json EncodeScalar(const ScalarValue& value) {
  // Numbers of JSON do not tell 1 from 1.0 reliably; the key does.
  return std::visit(Overload{[](int64_t v) { return json{{"i", v}}; },
                             [](double v) { return json{{"f", std::isfinite(v) ? json(v) : json(std::to_string(v))}}; }},
                    value);
}
ScalarValue DecodeScalar(const json& j) {
  if (j.contains("i")) return j.at("i").get<int64_t>();
  const json& f = j.at("f");
  return f.is_string() ? std::strtod(f.get<std::string>().c_str(), nullptr) : f.get<double>();
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopInfo, line, depth, bound, trip_count, thread_strided, unrolled, accumulates)

void to_json(json& j, const Error& v) {
  j = {{"code", EncodeEnum(v.code)}, {"message", v.message}, {"file", v.file}, {"line", v.line}, {"column", v.column}, {"remedy", v.remedy}};
}
void from_json(const json& j, Error& v) {
  v.code = DecodeEnum(j.at("code"), ErrorCode::kCorrupt);
  v.message = j.at("message");
  v.file = j.at("file");
  v.line = j.at("line");
  v.column = j.at("column");
  v.remedy = j.at("remedy");
}

json ScalarsToJson(const std::map<std::string, ScalarValue>& scalars) {
  json j = json::object();
  for (const auto& [name, value] : scalars) j[name] = EncodeScalar(value);
  return j;
}
std::map<std::string, ScalarValue> ScalarsFromJson(const json& j) {
  std::map<std::string, ScalarValue> scalars;
  for (const auto& [name, value] : j.items()) scalars[name] = DecodeScalar(value);
  return scalars;
}

// Only what running needs: how inputs are made is the judge's business.
void to_json(json& j, const Argument& v) {
  j = {{"name", v.name}, {"line", v.line}};
  std::visit(Overload{[&](const BufferArgument& b) {
                        j["buffer"] = {{"dtype", EncodeEnum(b.dtype)}, {"shape", EncodeList(b.shape)}, {"role", EncodeEnum(b.role)},
                                       {"alignment", b.alignment}};
                      },
                      [&](const ScalarArgument& s) {
                        j["scalar"] = {{"dtype", EncodeEnum(s.dtype)}, {"value", s.value ? EncodeScalar(*s.value) : json(nullptr)}};
                      }},
             v.kind);
}
void from_json(const json& j, Argument& v) {
  v.name = j.at("name");
  v.line = j.at("line");
  if (j.contains("buffer")) {
    const json& b = j.at("buffer");
    BufferArgument buffer;
    buffer.dtype = DecodeEnum(b.at("dtype"), DType::kBool);
    buffer.shape = DecodeList(b.at("shape"));
    buffer.role = DecodeEnum(b.at("role"), Role::kScratch);
    buffer.alignment = b.at("alignment");
    v.kind = std::move(buffer);
  } else {
    const json& s = j.at("scalar");
    ScalarArgument scalar;
    scalar.dtype = DecodeEnum(s.at("dtype"), DType::kBool);
    if (!s.at("value").is_null()) scalar.value = DecodeScalar(s.at("value"));
    v.kind = scalar;
  }
}

void to_json(json& j, const KernelSpec& v) {
  json allow = json::array();
  for (const Allow a : v.allow) allow.push_back(EncodeEnum(a));
  j = {{"name", v.name}, {"file", v.file}, {"entry", v.entry}, {"args", v.args}, {"allow", allow}, {"line", v.line}, {"launch", nullptr}};
  if (v.launch)
    j["launch"] = {{"grid", EncodeList(v.launch->grid)}, {"block", EncodeList(v.launch->block)}, {"shared", EncodeOptional(v.launch->shared_bytes)}};
}
void from_json(const json& j, KernelSpec& v) {
  v.name = j.at("name");
  v.file = j.at("file");
  v.entry = j.at("entry");
  v.args = j.at("args").get<std::vector<Argument>>();
  for (const auto& a : j.at("allow")) v.allow.insert(DecodeEnum(a, kLastAllow));
  v.line = j.at("line");
  if (const json& l = j.at("launch"); !l.is_null())
    v.launch = LaunchSpec{DecodeList(l.at("grid")), DecodeList(l.at("block")), DecodeOptional(l.at("shared"))};
}

void to_json(json& j, const ParameterInfo& v) {
  j = {{"name", v.name}, {"type", v.type}, {"pointer", v.is_pointer}, {"const", v.is_const}, {"restrict", v.is_restrict},
       {"dtype", v.dtype ? json(EncodeEnum(*v.dtype)) : json(nullptr)}, {"role", v.likely_role ? json(EncodeEnum(*v.likely_role)) : json(nullptr)}};
}
void from_json(const json& j, ParameterInfo& v) {
  v.name = j.at("name");
  v.type = j.at("type");
  v.is_pointer = j.at("pointer");
  v.is_const = j.at("const");
  v.is_restrict = j.at("restrict");
  if (!j.at("dtype").is_null()) v.dtype = DecodeEnum(j.at("dtype"), DType::kBool);
  if (!j.at("role").is_null()) v.likely_role = DecodeEnum(j.at("role"), Role::kScratch);
}
void to_json(json& j, const AccessInfo& v) {
  j = {{"pointer", v.pointer}, {"pattern", EncodeEnum(v.pattern)}, {"reads", v.reads}, {"writes", v.writes}, {"width", v.vector_width},
       {"stride", v.stride}, {"depth", v.loop_depth}, {"line", v.line}};
}
void from_json(const json& j, AccessInfo& v) {
  v.pointer = j.at("pointer");
  v.pattern = DecodeEnum(j.at("pattern"), AccessPattern::kUnknown);
  v.reads = j.at("reads");
  v.writes = j.at("writes");
  v.vector_width = j.at("width");
  v.stride = j.at("stride");
  v.loop_depth = j.at("depth");
  v.line = j.at("line");
}
void to_json(json& j, const StaticFeatures& v) {
  json dtypes = json::array();
  for (const DType d : v.dtypes) dtypes.push_back(EncodeEnum(d));
  j = {{"operation", EncodeEnum(v.operation)}, {"loops", v.loops}, {"accesses", v.accesses}, {"shared", v.shared_bytes},
       {"dynamic", v.dynamic_shared}, {"counts", {v.barriers, v.atomics, v.shuffles, v.votes, v.divergent_branches, v.max_vector_width, v.independent_accumulators}},
       {"flags", {v.bounds_guard, v.one_thread_per_row, v.const_restrict, v.launch_bounds, v.vectorized, v.tensor_cores, v.async_copy, v.cooperative_groups}},
       {"math", v.math}, {"dtypes", dtypes}};
}
void from_json(const json& j, StaticFeatures& v) {
  v.operation = DecodeEnum(j.at("operation"), OperationClass::kOther);
  v.loops = j.at("loops").get<std::vector<LoopInfo>>();
  v.accesses = j.at("accesses").get<std::vector<AccessInfo>>();
  v.shared_bytes = j.at("shared");
  v.dynamic_shared = j.at("dynamic");
  int* const counts[] = {&v.barriers, &v.atomics, &v.shuffles, &v.votes, &v.divergent_branches, &v.max_vector_width, &v.independent_accumulators};
  for (size_t i = 0; i < std::size(counts); ++i) *counts[i] = j.at("counts").at(i);
  bool* const flags[] = {&v.bounds_guard, &v.one_thread_per_row, &v.const_restrict, &v.launch_bounds, &v.vectorized, &v.tensor_cores, &v.async_copy, &v.cooperative_groups};
  for (size_t i = 0; i < std::size(flags); ++i) *flags[i] = j.at("flags").at(i);
  v.math = j.at("math").get<std::set<std::string>>();
  for (const auto& d : j.at("dtypes")) v.dtypes.insert(DecodeEnum(d, DType::kBool));
}
void to_json(json& j, const KernelInfo& v) {
  j = {{"name", v.name}, {"templates", v.template_parameters}, {"parameters", v.parameters}, {"file", v.file}, {"line", v.line}, {"end", v.end_line}, {"features", v.features}};
}
void from_json(const json& j, KernelInfo& v) {
  v.name = j.at("name");
  v.template_parameters = j.at("templates").get<std::vector<std::string>>();
  v.parameters = j.at("parameters").get<std::vector<ParameterInfo>>();
  v.file = j.at("file");
  v.line = j.at("line");
  v.end_line = j.at("end");
  v.features = j.at("features").get<StaticFeatures>();
}
void to_json(json& j, const EntryInfo& v) {
  j = {{"kind", EncodeEnum(v.kind)}, {"name", v.name}, {"parameters", v.parameters}, {"kernels", v.kernels}, {"slice", v.slice_hash}, {"refusal", v.refusal},
       {"refusal_line", v.refusal_line}, {"line", v.line}, {"end", v.end_line}};
}
void from_json(const json& j, EntryInfo& v) {
  v.kind = DecodeEnum(j.at("kind"), EntryInfo::Kind::kKernel);
  v.name = j.at("name");
  v.parameters = j.at("parameters").get<std::vector<ParameterInfo>>();
  v.kernels = j.at("kernels").get<std::vector<std::string>>();
  v.slice_hash = j.at("slice");
  v.refusal = j.at("refusal");
  v.refusal_line = j.at("refusal_line");
  v.line = j.at("line");
  v.end_line = j.at("end");
}
void to_json(json& j, const Inspection& v) { j = {{"entries", v.entries}, {"kernels", v.kernels}, {"headers", v.headers}, {"warnings", v.warnings}}; }
void from_json(const json& j, Inspection& v) {
  v.entries = j.at("entries").get<std::vector<EntryInfo>>();
  v.kernels = j.at("kernels").get<std::vector<KernelInfo>>();
  v.headers = j.at("headers").get<std::vector<std::string>>();
  v.warnings = j.at("warnings").get<std::vector<std::string>>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineCounters, file, line, warp_instructions, thread_instructions, global_requests, global_sectors,
                                   shared_requests, shared_wavefronts, divergent_branches, samples, stalls)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Occupancy, blocks_per_multiprocessor, theoretical, achieved, limiter, waves)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeBreakdown, total_us, dram_us, l2_us, l1_us, shared_us, issue_us, fp32_us, fp64_us, fp16_us, integer_us,
                                   sfu_us, latency_us, atomic_us, overhead_us, limiter)

void to_json(json& j, const LaunchReport& v) {
  json counters = json::object();
  for (const auto& field : Fields(v.counters)) counters[std::string(field.name)] = field.value;
  j = {{"kernel", v.kernel}, {"registers", v.registers}, {"threads", v.threads_per_block}, {"shared", v.shared_bytes_per_block},
       {"blocks_total", v.blocks_total}, {"blocks_run", v.blocks_run}, {"counters", counters}, {"lines", v.lines}, {"occupancy", v.occupancy}, {"time", v.time},
       {"metrics", v.metrics}, {"unmeasured", v.unmeasured}};
}
void from_json(const json& j, LaunchReport& v) {
  v.kernel = j.at("kernel");
  v.registers = j.at("registers");
  v.threads_per_block = j.at("threads");
  v.shared_bytes_per_block = j.at("shared");
  v.blocks_total = j.at("blocks_total");
  v.blocks_run = j.at("blocks_run");
  for (const auto& [name, value] : j.at("counters").items())
    if (!SetField(v.counters, name, value.get<uint64_t>())) throw DecodeError("unknown counter " + name);
  v.lines = j.at("lines").get<std::vector<LineCounters>>();
  v.occupancy = j.at("occupancy").get<Occupancy>();
  v.time = j.at("time").get<TimeBreakdown>();
  v.metrics = j.at("metrics").get<std::map<std::string, double>>();
  v.unmeasured = j.at("unmeasured").get<std::set<std::string>>();
}

void to_json(json& j, const Fault& v) {
  j = {{"kind", EncodeEnum(v.kind)}, {"message", v.message}, {"kernel", v.kernel}, {"file", v.file}, {"line", v.line},
       {"block", {v.block[0], v.block[1], v.block[2]}}, {"thread", {v.thread[0], v.thread[1], v.thread[2]}}};
}
void from_json(const json& j, Fault& v) {
  v.kind = DecodeEnum(j.at("kind"), Fault::Kind::kIllegalInstruction);
  v.message = j.at("message");
  v.kernel = j.at("kernel");
  v.file = j.at("file");
  v.line = j.at("line");
  for (size_t i = 0; i < 3; ++i) {
    v.block[i] = j.at("block").at(i);
    v.thread[i] = j.at("thread").at(i);
  }
}
void to_json(json& j, const Refused& v) { j = {{"check", v.check}, {"reason", v.reason}, {"file", v.file}, {"line", v.line}}; }
void from_json(const json& j, Refused& v) {
  v.check = j.at("check");
  v.reason = j.at("reason");
  v.file = j.at("file");
  v.line = j.at("line");
}

void to_json(json& j, const ExecuteOptions& v) {
  j = {{"counters", v.counters}, {"keep", v.keep_outputs}, {"guard", v.guard_bytes}, {"seed", v.seed}, {"sample", v.sample_instructions},
       {"limit", v.instruction_limit}, {"blocks", nullptr}, {"depth", EncodeEnum(v.depth)}, {"poison", v.poison}, {"exact", EncodeEnum(v.exact_memory)}, {"runs", v.runs},
       {"perturbation", EncodeEnum(v.perturbation)}};
  if (v.block_limit) j["blocks"] = {v.block_limit->x, v.block_limit->y, v.block_limit->z};
}
void from_json(const json& j, ExecuteOptions& v) {
  v.counters = j.at("counters");
  v.keep_outputs = j.at("keep");
  v.guard_bytes = j.at("guard");
  v.seed = j.at("seed");
  v.sample_instructions = j.at("sample");
  v.instruction_limit = j.at("limit");
  if (const json& b = j.at("blocks"); !b.is_null()) v.block_limit = Dim3{b.at(0), b.at(1), b.at(2)};
  v.depth = DecodeEnum(j.at("depth"), CounterDepth::kSpeedOfLight);
  v.poison = j.at("poison");
  v.exact_memory = DecodeEnum(j.at("exact"), ExactMemory::kBegins);
  v.runs = j.at("runs");
  v.perturbation = DecodeEnum(j.at("perturbation"), Perturbation::kNoise);
}
// Declared in the header, so not by nlohmann's macro alone, which makes inline functions.
#define WW_JSON_TYPE(Type, ...)                                                                                                   \
  void to_json(json& nlohmann_json_j, const Type& nlohmann_json_t) {                                                              \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                                                      \
  }                                                                                                                               \
  void from_json(const json& nlohmann_json_j, Type& nlohmann_json_t) {                                                            \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))                                                    \
  }
WW_JSON_TYPE(TimingOptions, seed, first_block, blocks, pairs_per_block, launches_per_sample, original_us, kept_pairs, hot)
WW_JSON_TYPE(TimedDrift, relative_rms, different_class, unwritten)
WW_JSON_TYPE(TimedPair, block, candidate_first, original_us, candidate_us, original_mhz, candidate_mhz, drift)
WW_JSON_TYPE(GuardViolation, buffer, offset, bytes)
#undef WW_JSON_TYPE

}  // namespace warpwright
