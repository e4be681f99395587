// What the judge itself costs at the sizes of GPUs: everything that it does between a candidate's runs.
//   bench_judge [--json] [--share S] [--digest] [PART OF A NAME]...
// Kernels are functions on the host that stand for a GPU ("cuda:0"); their time is taken off. Of each entry, for
// recording (Prepare), one quick and one full evaluation: seconds by the wall clock, of processor time, of it what runs
// on one core (twice what the main thread takes on two cores, less what all take), and how many runs of kernels they
// took.
// --share makes every shape that much smaller. --digest also prints what was decided and noted, for a comparison of two
// builds.
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/page_reuse.h"
#include "base/parallel.h"
#include "judge/judge.h"
#include "tests/support/computation_samples.h"
#include "tests/support/kernel_pair_forms.h"
#include "tests/unit/judge/specs.h"

namespace {

using namespace warpwright;
using nlohmann::json;
namespace samples = warpwright::testing;
using Clock = std::chrono::steady_clock;

struct Cost {
  double wall_s = 0, processor_s = 0, main_s = 0;
  static Cost Now() {
    rusage usage{}, main{};
    ::getrusage(RUSAGE_SELF, &usage);
    ::getrusage(RUSAGE_THREAD, &main);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return {std::chrono::duration<double>(Clock::now().time_since_epoch()).count(),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), seconds(main.ru_utime) + seconds(main.ru_stime)};
  }
  Cost Since(const Cost& begin) const {
    return {wall_s - begin.wall_s, processor_s - begin.processor_s, main_s - begin.main_s};
  }
  // The rest is on all cores alike.
  double OneCore() const {
    const double cores = std::max(1u, std::thread::hardware_concurrency());
    return cores < 2 ? processor_s : std::max(0.0, (cores * main_s - processor_s) / (cores - 1));
  }
};

using Sizes = std::map<std::string, size_t>;
template <typename T>
using Pointers = std::map<std::string, T*>;
// One version of a kernel; `split` is how a candidate that rounds differently orders its sums.
struct Kernel {
  std::function<void(const Pointers<float>&, const Sizes&, bool split)> in_f32;
  std::function<void(const Pointers<double>&, const Sizes&, bool split)> in_f64;
};
struct Entry {
  std::string name;
  core::KernelSpec spec;
  std::optional<core::Computation> form;
  Kernel kernel;
};

template <typename F>
Kernel Both(F f) {
  return {f, f};
}

// A device that runs both versions on the host.
class HostDevice final : public core::Evaluator {
 public:
  explicit HostDevice(const Entry& entry) : entry_(entry) {}
  Cost spent;
  int runs = 0;

  Result<core::Inspection> Inspect(const core::SourceRef&) override { return core::Inspection{}; }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    return core::RewriteOutcome(core::Rewritten{request.source.text, {}, request.entry});
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override {
    return core::SpliceOutcome(core::Rewritten{request.edited, {}});
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    const Cost begin = Cost::Now();
    core::Executed run;
    run.modelled = false;
    const bool split = request.source.text.find("candidate") != std::string::npos;
    if (request.options.keep_outputs) run.buffers = Outputs(request.spec, request.scalars, request.buffers, split);
    core::LaunchReport launch;
    launch.kernel = "k";
    run.launches = {launch};
    run.time_us = 100;
    Account(begin);
    return core::ExecuteOutcome(std::move(run));
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override {
    const Cost begin = Cost::Now();
    core::Timed timed;
    for (int i = 0; i < request.options.blocks * request.options.pairs_per_block; ++i)
      timed.pairs.push_back({.block = request.options.first_block + i / request.options.pairs_per_block,
                             .candidate_first = i % 2 == 0,
                             .original_us = 100,
                             .candidate_us = 80.0 + i % 3});
    timed.kept = {{0, Outputs(request.spec, request.scalars, request.buffers, false),
                   Outputs(request.spec, request.scalars, request.buffers, true)}};
    Account(begin);
    return core::TimeOutcome(std::move(timed));
  }

 private:
  void Account(const Cost& begin) {
    const Cost part = Cost::Now().Since(begin);
    spent.wall_s += part.wall_s;
    spent.processor_s += part.processor_s;
    spent.main_s += part.main_s;
    ++runs;
  }
  template <typename T>
  void Launch(const std::vector<std::string>& names, std::vector<std::vector<std::byte>>& bytes, const Sizes& sizes,
              bool split, const std::function<void(const Pointers<T>&, const Sizes&, bool)>& kernel) const {
    Pointers<T> pointers;
    for (size_t i = 0; i < names.size(); ++i) pointers[names[i]] = reinterpret_cast<T*>(bytes[i].data());
    kernel(pointers, sizes, split);
  }
  std::vector<base::Bytes> Outputs(const core::KernelSpec& spec,
                                   const std::map<std::string, core::ScalarValue>& scalars,
                                   const std::vector<core::BufferContent>& contents, bool split) const {
    Sizes sizes;
    for (const auto& [name, value] : scalars)
      if (const auto* whole = std::get_if<int64_t>(&value)) sizes[name] = static_cast<size_t>(*whole);
    std::vector<std::string> names;
    std::vector<std::vector<std::byte>> bytes;
    bool wide = false;
    for (const core::BufferContent& content : contents) {
      names.push_back(content.name);
      const auto& buffer = std::get<core::BufferArgument>(spec.Find(content.name)->kind);
      wide = buffer.dtype == core::DType::kF64;
      bytes.push_back(content.bytes.Copy());
    }
    // In place: the output's place is the input's.
    if (wide) Launch<double>(names, bytes, sizes, split, entry_.kernel.in_f64);
    else Launch<float>(names, bytes, sizes, split, entry_.kernel.in_f32);
    std::vector<base::Bytes> results;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const auto& buffer = std::get<core::BufferArgument>(spec.Find(contents[i].name)->kind);
      // Inputs come back as they were sent, as the worker's do.
      if (buffer.role == core::Role::kIn && !IsPlaceOfAnother(contents, i)) results.push_back(contents[i].bytes);
      else results.emplace_back(std::move(bytes[i]));
    }
    for (size_t i = 0; i < contents.size(); ++i)
      if (contents[i].same_as) std::swap(results[*contents[i].same_as], results[i]);
    return results;
  }
  static bool IsPlaceOfAnother(const std::vector<core::BufferContent>& contents, size_t i) {
    return std::any_of(contents.begin(), contents.end(), [&](const auto& content) { return content.same_as == i; });
  }

  const Entry& entry_;
};

constexpr auto kElu = []<typename T>(const Pointers<T>& p, const Sizes& sizes, bool split) {
  const T *in = p.at("in"), alpha = T(1.5);
  T* out = p.at("out");
  base::ParallelFor(sizes.at("n"), [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const T e = std::exp(in[i]);
      out[i] = in[i] > 0 ? in[i] : split ? std::fma(alpha, e, -alpha) : alpha * (e - 1);
    }
  });
};
constexpr auto kRowSum = []<typename T>(const Pointers<T>& p, const Sizes& sizes, bool split) {
  const T* in = p.at("in");
  T* out = p.at("out");
  const size_t columns = sizes.at("C");
  base::ParallelFor(
      sizes.at("N"),
      [=](size_t begin, size_t end) {
        for (size_t r = begin; r < end; ++r) {
          T sums[8] = {}, sum = 0;
          for (size_t c = 0; c < columns; ++c) sums[split ? c % 8 : 0] += in[r * columns + c];
          for (const T part : sums) sum += part;
          out[r] = sum;
        }
      },
      64);
};
// Blocks of threads, and a sum of what they have.
constexpr auto kLongSum = []<typename T>(const Pointers<T>& p, const Sizes& sizes, bool split) {
  const T* in = p.at("in");
  const size_t count = sizes.at("C"), parts = split ? 4096 : 1024;
  std::vector<T> sums(parts);
  for (size_t c = 0; c < count; ++c) sums[c % parts] += in[c];
  for (size_t half = parts / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  *p.at("out") = sums[0];
};
constexpr auto kSoftmax = []<typename T>(const Pointers<T>& p, const Sizes& sizes, bool split) {
  const T* in = p.at("in");
  T* out = p.at("out");
  const size_t columns = sizes.at("C");
  base::ParallelFor(
      sizes.at("N"),
      [=](size_t begin, size_t end) {
        for (size_t r = begin; r < end; ++r) {
          const T* x = in + r * columns;
          T most = -INFINITY, sums[8] = {}, sum = 0;
          for (size_t c = 0; c < columns; ++c) most = std::fmax(most, x[c]);
          for (size_t c = 0; c < columns; ++c) sums[split ? c % 8 : 0] += out[r * columns + c] = std::exp(x[c] - most);
          for (const T part : sums) sum += part;
          for (size_t c = 0; c < columns; ++c) out[r * columns + c] /= sum;
        }
      },
      64);
};
constexpr auto kProduct = []<typename T>(const Pointers<T>& p, const Sizes& sizes, bool split) {
  const T *a = p.at("in"), *b = p.at("w");
  T* out = p.at("out");
  const size_t inner = sizes.at("C"), columns = sizes.at("M"), half = split ? inner / 2 : 0;
  base::ParallelFor(
      sizes.at("N"),
      [=](size_t begin, size_t end) {
        std::vector<T> first(columns), second(columns);
        for (size_t r = begin; r < end; ++r) {
          std::fill(first.begin(), first.end(), T{}), std::fill(second.begin(), second.end(), T{});
          for (size_t k = 0; k < inner; ++k) {
            const T x = a[r * inner + k];
            T* to = k < half ? second.data() : first.data();
            for (size_t c = 0; c < columns; ++c) to[c] += x * b[k * columns + c];
          }
          for (size_t c = 0; c < columns; ++c) out[r * columns + c] = split ? first[c] + second[c] : first[c];
        }
      },
      8);
};

core::Computation EluForm() {
  samples::StageBuilder out("out", {"n"});
  out.Output();
  const auto x = out.Read("in", {samples::V(0)});
  const auto grown =
      out.Product({out.Number(1.5), out.Subtract({out.Apply(core::Function::kExp, {x}), out.Number(1)})});
  out.Select({out.Compare(core::Comparison::kLess, {out.Number(0), x}), x, grown});
  core::Computation form{.tensors = {samples::Input("in", {"n"}), samples::Output("out", {"n"})}};
  form.stages = {out.stage};
  return samples::Finished(std::move(form));
}

std::vector<Entry> Entries(double share) {
  const auto so_many = [&](double n) { return static_cast<int64_t>(std::max(64.0, n * share)); };
  std::vector<Entry> entries;
  const int64_t elements = so_many(25e6);
  entries.push_back({"elu, 25 million", ElementwiseSpec(core::DType::kF32, elements), EluForm(), Both(kElu)});
  entries.push_back({"elu, 25 million, a candidate with equal bits", ElementwiseSpec(core::DType::kF32, elements),
                     EluForm(),
                     Both([](const auto& pointers, const Sizes& sizes, bool) { kElu(pointers, sizes, false); })});
  entries.push_back({"sums of 16,384 rows of 1,024", RowSumSpec(core::DType::kF32, so_many(16384), 1024),
                     samples::SumForm(), Both(kRowSum)});
  core::KernelSpec long_sum = RowSumSpec(core::DType::kF32, 1, so_many(33'554'432));
  for (core::Argument& argument : long_sum.args)
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind); buffer != nullptr && argument.name == "in")
      buffer->init = {.kind = core::Init::Kind::kUniform, .a = 0, .b = 1};  // a sum that does not cancel
  entries.push_back({"sum of one row of 33,554,432", long_sum, samples::SumForm(), Both(kLongSum)});
  entries.push_back(
      {"softmax of 8,192 rows of 2,048", SoftmaxSpec(so_many(8192), 2048), samples::SoftmaxForm(), Both(kSoftmax)});
  core::KernelSpec product = samples::MatmulSpec(core::DType::kF32);
  product.cases[0].scalars = {{"N", so_many(4096)}, {"C", int64_t{256}}, {"M", int64_t{2048}}};
  entries.push_back({"product 4,096 x 256 x 2,048, without a form", product, std::nullopt, Both(kProduct)});
  entries.push_back({"product 4,096 x 256 x 2,048", product, samples::MatmulForm(core::DType::kF32), Both(kProduct)});
  // As manifests have them: a small case for the simulator, which a GPU verifies too, and the one that counts.
  for (Entry& entry : entries) {
    core::Case small = entry.spec.cases[0];
    small.name = "small";
    small.on = {core::DeviceKind::kSim};
    for (auto& [name, value] : small.scalars) value = std::min<int64_t>(std::get<int64_t>(value), name == "n" ? 59 : 9);
    entry.spec.cases[0].name = "production";
    entry.spec.cases[0].on = {core::DeviceKind::kCuda};
    entry.spec.cases.insert(entry.spec.cases.begin(), std::move(small));
  }
  return entries;
}

json Measure(const Entry& entry, bool digest) {
  const auto folder = *base::TemporaryDirectory::Create("bench");
  HostDevice trusted(entry), untrusted(entry);
  judge::JudgeOptions options;
  options.repository = folder.path();
  options.secret_seed = 4711;
  if (entry.form)
    options.lift = [&]() -> Result<core::LiftOutcome> {
      return core::LiftOutcome(core::Lifted{.computation = *entry.form, .shapes = 3, .verified = true});
    };
  judge::Judge judge(entry.spec, {"/tmp", "k.cu", "// original\n"}, "cuda:0", trusted, options);
  json row = {{"entry", entry.name}};
  const auto measured = [&](const char* name, const auto& what) {
    trusted.spent = untrusted.spent = {};
    trusted.runs = untrusted.runs = 0;
    const Cost begin = Cost::Now();
    const std::string outcome = what();
    const Cost judged = Cost::Now().Since(begin).Since(trusted.spent).Since(untrusted.spent);
    row[name] = {{"wall_s", judged.wall_s},
                 {"processor_s", judged.processor_s},
                 {"one_core_s", judged.OneCore()},
                 {"runs", trusted.runs + untrusted.runs},
                 {"outcome", outcome}};
  };
  const auto evaluate = [&](judge::VerificationLevel level) -> std::string {
    const auto verdict = judge.Evaluate({"/tmp", "k.cu", "// candidate\n"}, untrusted, level);
    if (!verdict) return "error: " + verdict.error().message;
    if (!core::Passed(*verdict)) return core::VerdictMessage(*verdict);
    if (digest)
      for (const std::string& note : std::get<core::Measured>(*verdict).notes) row["notes"].push_back(note);
    return "passed";
  };
  measured("record", [&]() -> std::string {
    const auto baseline = judge.Prepare();
    for (const judge::CaseStatus& status : baseline ? baseline->cases : std::vector<judge::CaseStatus>())
      if (!status.verified) row["notes"].push_back(status.name + ": " + status.note);
    return !baseline                          ? "error: " + baseline.error().message
           : core::Passed(baseline->original) ? baseline->truth
                                              : core::VerdictMessage(baseline->original);
  });
  measured("candidate", [&] { return evaluate(judge::VerificationLevel::kQuick); });
  measured("next candidate", [&] { return evaluate(judge::VerificationLevel::kQuick); });
  measured("acceptance", [&] { return evaluate(judge::VerificationLevel::kFull); });
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  base::KeepFreedPages();
  bool print_json = false, digest = false;
  double share = 1;
  std::vector<std::string> parts;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") print_json = true;
    else if (option == "--digest") digest = true;
    else if (option == "--share" && i + 1 < argc) share = std::strtod(argv[++i], nullptr);
    else parts.push_back(option);
  }
  json result = {{"cores", std::thread::hardware_concurrency()}, {"share", share}, {"rows", json::array()}};
  for (const Entry& entry : Entries(share)) {
    if (!parts.empty() && std::none_of(parts.begin(), parts.end(),
                                       [&](const auto& part) { return entry.name.find(part) != std::string::npos; }))
      continue;
    json row = Measure(entry, digest);
    if (!print_json) {
      std::printf("%s\n", entry.name.c_str());
      for (const char* phase : {"record", "candidate", "next candidate", "acceptance"})
        std::printf("  %-15s %6.2f s wall, %6.2f s processor, %6.2f s on one core, %3d runs: %s\n", phase,
                    row[phase]["wall_s"].get<double>(), row[phase]["processor_s"].get<double>(),
                    row[phase]["one_core_s"].get<double>(), row[phase]["runs"].get<int>(),
                    row[phase]["outcome"].get<std::string>().c_str());
      if (row.contains("notes"))
        for (const auto& note : row["notes"]) std::printf("    %s\n", note.get<std::string>().c_str());
      std::fflush(stdout);
    }
    result["rows"].push_back(std::move(row));
  }
  if (print_json) std::printf("%s\n", result.dump(1).c_str());
}
