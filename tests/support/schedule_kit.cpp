#include "tests/support/schedule_kit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/computation_evaluate.h"
#include "core/outside_terms.h"
#include "schedule/expression_code.h"
#include "tests/support/sim_kit.h"

namespace warpwright::testing {
namespace {

using core::DType;

int64_t ElementsOf(const core::TensorArgument& tensor, const SizeNumbers& sizes) {
  int64_t elements = 1;
  for (const auto& extent : tensor.shape) elements *= extent.Evaluate(sizes).value();
  return elements;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) parts.emplace_back();
    else if ((c != ' ' && c != '\n') || !parts.back().empty()) parts.back() += c;
  }
  return parts;
}

// "dim3(a, b)", or one extent.
core::Dim3 GridOf(std::string text, const SizeNumbers& sizes) {
  if (text.starts_with("dim3(")) text = text.substr(5, text.size() - 6);
  core::Dim3 grid;
  uint32_t* const extents[] = {&grid.x, &grid.y, &grid.z};
  const auto parts = SplitAtCommas(text);
  for (size_t i = 0; i < parts.size(); ++i)
    *extents[i] = static_cast<uint32_t>(core::Expression::Parse(parts[i]).value().Evaluate(sizes).value());
  return grid;
}

// Statements and heads of branches, each as one line without comments.
std::vector<std::string> StatementsOf(const std::string& text) {
  std::vector<std::string> statements(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.compare(begin, 2, "//") == 0) continue;
    statements.back() += (statements.back().empty() ? "" : " ") + line.substr(begin);
    if (line.ends_with(';') || line.ends_with('{') || line.ends_with('}')) statements.emplace_back();
  }
  statements.pop_back();
  return statements;
}

constexpr uint64_t kIndices = 12;  // that integer inputs have, from -1 on

// What a launcher does, of the statements that schedules write: numbers, branches on them, launches, cleared outputs.
class Runner {
 public:
  Runner(const schedule::Problem& problem, const schedule::Code& code, uint64_t infinite,
         const std::map<std::string, std::string>& in_place, const std::map<std::string, double>& factors)
      : problem_(problem),
        code_(code),
        sizes_(problem.input.cases.front().sizes),
        infinite_(infinite),
        in_place_(in_place),
        factors_(factors),
        kit_(Ptx()) {}

  ScheduleRun Run() {
    for (const core::TensorArgument& tensor : problem_.form.tensors) AddTensor(tensor);
    for (const auto& [output, input] : in_place_)
      tensors_.at(output).address = tensors_.at(input).address, tensors_.at(output).data = tensors_.at(input).data;
    for (const std::string& scalar : problem_.form.scalars)
      arguments_.scalars[scalar] = FactorOf(scalar) * (0.25 + Draw());
    Reference();
    for (const std::string& statement : StatementsOf(code_.launch)) {
      Execute(statement);
      if (!result_.fault.empty()) return result_;
    }
    Compare();
    return result_;
  }

 private:
  struct Tensor {
    uint64_t address = 0;
    std::byte* data = nullptr;
    std::vector<double> values;
    std::vector<int64_t> integers;
  };

  int64_t ValueOf(const std::string& text) const {
    std::string plain = std::regex_replace(text, std::regex(R"(static_cast<[\w ]+>)"), "");
    plain = std::regex_replace(plain, std::regex(R"(sizeof\((int|float)\))"), "4");
    return core::Expression::Parse(plain).value().Evaluate(sizes_).value();
  }
  bool Holds(const std::string& condition) const {
    std::smatch sides;
    if (!std::regex_match(condition, sides, std::regex("(.*) (>|<|<=) (.*)")))
      throw std::runtime_error("a condition of the launcher: " + condition);
    const int64_t left = ValueOf(sides[1]), right = ValueOf(sides[3]);
    return sides[2] == ">" ? left > right : sides[2] == "<" ? left < right : left <= right;
  }

  void Execute(const std::string& statement) {
    static const std::regex kBranch(R"(if \((.*)\) \{)"), kIf(R"(if \((.*)\) (\w+ = .*;|\w+<<<.*;))"),
        kSet(R"((?:const )?(?:int )?(\w+) = (.*);)"), kLaunch(R"((\w+)(?:<1>)?<<<(.*?)>>>\((.*)\);)"),
        kClear(R"(cudaMemset(?:Async)?\((\w+), 0, .*\);)");
    std::smatch match;
    if (statement == "}") return branches_.pop_back();
    if (statement == "} else {") return branches_.back().flip();
    // Wide accesses are not run: see Ptx.
    const bool wide = statement.find("is_aligned(") != std::string::npos || statement.find(" % ") != std::string::npos;
    if (statement.starts_with("if (") && wide) return branches_.push_back(false);
    if (std::regex_match(statement, match, kBranch)) return branches_.push_back(Holds(match[1]));
    if (std::find(branches_.begin(), branches_.end(), false) != branches_.end()) return;
    static const std::regex kGrid(R"(dim3 grid(\(.*\));)");
    if (std::regex_match(statement, match, kGrid)) {
      grid_ = GridOf("dim3" + match[1].str(), sizes_);
    } else if (statement.starts_with("if (grid.")) {
      return;  // no test has that many
    } else if (std::regex_match(statement, match, kIf)) {
      if (Holds(match[1])) Execute(match[2]);
    } else if (std::regex_match(statement, match, kLaunch)) {
      const auto shape = SplitAtCommas(match[2]);
      Launch(match[1], shape[0] == "grid" ? grid_ : GridOf(shape[0], sizes_), GridOf(shape[1], sizes_),
             shape.size() > 2 ? static_cast<uint32_t>(ValueOf(shape[2])) : 0, SplitAtCommas(match[3]));
    } else if (std::regex_match(statement, match, kClear)) {
      const Tensor& tensor = tensors_.at(match[1]);
      const auto bytes = kit_.memory().Find(tensor.address)->bytes;
      std::memset(tensor.data, 0, bytes);
      kit_.memory().MarkWritten(tensor.address, bytes);
    } else if (std::regex_match(statement, match, kSet)) {
      sizes_[match[1]] = ValueOf(match[2]);
    } else if (!statement.starts_with("cudaFuncSetAttribute")) {
      throw std::runtime_error("a statement of the launcher: " + statement);
    }
  }

  std::string Ptx() const {
    std::string text = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#define INFINITY __int_as_float(0x7f800000)\n";
    std::set<std::string> written;
    for (const std::string& helper : code_.helpers)
      if (written.insert(helper).second) text += helper;
    text += code_.kernels;
    // Kernels for neighbours by one access as those for single elements: templates have no plain name.
    const std::regex packs("template <int kWidth>\\n__global__");
    if (std::regex_search(text, packs))
      text = "constexpr int kWidth = 1;\n" + std::regex_replace(text, packs, "__global__");
    text = std::regex_replace(text, std::regex("__global__ void"), "extern \"C\" __global__ void");
    return sim::CompileToPtx(text);
  }
  double Draw() { return std::uniform_real_distribution<double>(-1, 1)(random_); }

  void AddTensor(const core::TensorArgument& tensor) {
    const auto elements = static_cast<size_t>(ElementsOf(tensor, sizes_));
    const size_t size = core::SizeOf(tensor.dtype);
    const bool changed = std::any_of(in_place_.begin(), in_place_.end(),
                                     [&](const auto& shared) { return shared.second == tensor.name; });
    auto buffer = kit_.Make<std::byte>(tensor.name, elements * size, tensor.read, !tensor.written && !changed);
    Tensor& kept = tensors_[tensor.name];
    kept = {buffer.address, buffer.data, std::vector<double>(elements)};
    if (!tensor.read) return;
    const double factor = FactorOf(tensor.name);
    for (size_t i = 0; i < elements; ++i) {
      const bool integer = !core::IsFloat(tensor.dtype), infinite = infinite_ > 0 && random_() % infinite_ == 0;
      const double value = integer    ? static_cast<double>(random_() % kIndices) - 1
                           : infinite ? INFINITY
                                      : factor * Draw();
      core::StoreFromDouble(tensor.dtype, buffer.data, i, value);
      kept.values[i] = core::LoadAsDouble(tensor.dtype, buffer.data, i);
      if (integer) kept.integers.push_back(static_cast<int64_t>(kept.values[i]));
    }
    arguments_.tensors[tensor.name] = {.real = kept.values, .integers = kept.integers};
  }

  double FactorOf(const std::string& argument) const {
    const auto found = factors_.find(argument);
    return found == factors_.end() ? 1 : found->second;
  }

  // Before the run, since arguments may be changed in place.
  void Reference() {
    const core::ErrorModel model{.accumulation = problem_.in_double ? DType::kF64 : DType::kF32};
    const core::Computation form = core::WithZerosOutside(problem_.form);
    auto evaluator = core::ComputationEvaluator::Compile(form, sizes_, {.errors = model});
    if (!evaluator) throw std::runtime_error(evaluator.error().Format());
    auto expected = evaluator->Run(arguments_);
    if (!expected) throw std::runtime_error(expected.error().Format());
    expected_ = std::move(*expected);
  }

  void Launch(const std::string& kernel, core::Dim3 grid, core::Dim3 block, uint32_t shared,
              const std::vector<std::string>& values) {
    const sim::KernelInfo* info = kit_.program().Find(kernel);
    if (info == nullptr) throw std::runtime_error("no kernel " + kernel);
    std::vector<std::byte> bytes(info->parameter_bytes);
    for (size_t i = 0; i < values.size(); ++i) {
      std::byte* const to = bytes.data() + info->parameters[i].offset;
      if (const auto tensor = tensors_.find(values[i]); tensor != tensors_.end()) {
        std::memcpy(to, &tensor->second.address, sizeof(uint64_t));
      } else if (const auto size = sizes_.find(values[i]); size != sizes_.end()) {
        const auto narrow = static_cast<int32_t>(size->second);
        std::memcpy(to, &narrow, sizeof(narrow));
      } else {
        const auto scalar = static_cast<float>(arguments_.scalars.at(values[i]));
        std::memcpy(to, &scalar, sizeof(scalar));
      }
    }
    if (!kit_.RunWith(kernel, grid, block, shared, bytes))
      result_.fault = fmt::format("{} (line {})", kit_.fault.message, kit_.fault.line);
    result_.counters = kit_.counters;
  }

  void Compare() {
    for (const core::TensorResult& expected : expected_) {
      for (size_t i = 0; i < expected.integers.size() && result_.mismatch.empty(); ++i) {
        const double got = core::LoadAsDouble(expected.dtype, tensors_.at(expected.name).data, i);
        if (expected.written[i] != 0 && got != static_cast<double>(expected.integers[i]))
          result_.mismatch = fmt::format("{}[{}]: {} instead of {}", expected.name, i, got, expected.integers[i]);
      }
      for (size_t i = 0; i < expected.real.size() && result_.mismatch.empty(); ++i) {
        if (expected.written[i] == 0) continue;
        const double got = core::LoadAsDouble(expected.dtype, tensors_.at(expected.name).data, i);
        const double wanted = expected.real[i];
        const bool same = got == wanted || (std::isnan(got) && std::isnan(wanted));
        if (!same && !(std::abs(got - wanted) <= expected.errors[i]))
          result_.mismatch = fmt::format("{}[{}]: {} instead of {} (at most {} off)", expected.name, i, got,
                                         expected.real[i], expected.errors[i]);
      }
    }
  }

  const schedule::Problem& problem_;
  const schedule::Code& code_;
  SizeNumbers sizes_;  // and the launcher's own numbers
  core::Dim3 grid_;
  std::vector<bool> branches_;  // that are open: whether they are taken
  const uint64_t infinite_;
  const std::map<std::string, std::string>& in_place_;
  const std::map<std::string, double>& factors_;
  std::mt19937_64 random_{1};
  sim::SimKit kit_;
  core::ArgumentValues arguments_;
  std::map<std::string, Tensor> tensors_;
  std::vector<core::TensorResult> expected_;
  ScheduleRun result_;
};

}  // namespace

schedule::Problem ProblemOf(const core::Computation& form, const SizeNumbers& sizes, const std::string& entry) {
  schedule::Problem problem;
  problem.input.computation = form;
  auto even = sizes;  // sizes for which vectors of two to eight are aligned: what they take is written as well
  for (auto& [name, size] : even) size = (size + 7) / 8 * 8;
  problem.input.cases = {{sizes, 1}, {even, 0}};
  problem.input.chip.multiprocessors = 132;
  problem.input.chip.arch = "sm_90";
  problem.form = schedule::Fused(form);
  problem.structure = core::StructureOf(problem.form);
  problem.entry.name = entry;
  for (const auto& tensor : form.tensors) {
    schedule::EntryParameter parameter{.name = tensor.name, .type = schedule::CTypeOf(tensor.dtype), .buffer = true};
    parameter.is_const = !tensor.written;
    parameter.dtype = tensor.dtype;
    problem.entry.parameters.push_back(std::move(parameter));
    problem.in_double |= tensor.dtype == DType::kF64;
  }
  for (const auto& size : form.sizes) problem.entry.parameters.push_back({.name = size, .type = "int"});
  for (const auto& scalar : form.scalars) problem.entry.parameters.push_back({.name = scalar, .type = "float"});
  problem.fresh_name = [](const std::string& name) { return name; };
  problem.shared_name = problem.fresh_name;
  return problem;
}

schedule::Code CodeOf(const schedule::Problem& problem, const schedule::Schedule& schedule,
                      schedule::ParameterValues parameters) {
  for (const auto& parameter : schedule.parameters)
    parameters.try_emplace(std::string(parameter.name), parameter.values.front());
  const auto groups = schedule::GroupsOf(problem.form, schedule::Joining::kShapes);
  if (groups.size() != 1) throw std::runtime_error(fmt::format("{} groups", groups.size()));
  auto outcome = schedule.emit(problem, groups.front(), parameters);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome)) throw std::runtime_error(refusal->reason);
  return std::get<schedule::Code>(std::move(outcome));
}

ScheduleRun RunOnSimulator(const schedule::Problem& problem, const schedule::Code& code, uint64_t infinite,
                           const std::map<std::string, std::string>& in_place,
                           const std::map<std::string, double>& factors) {
  return Runner(problem, code, infinite, in_place, factors).Run();
}

}  // namespace warpwright::testing
