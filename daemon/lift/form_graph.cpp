#include "lift/form_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace warpwright::lift {
namespace {

using core::Function;

// Of an accumulator of a maximum before the first element: not a value that data of any format reaches.
constexpr double kLowest = -1e30;

constexpr double kLargestExact = 0x1p33;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 12) + (hash >> 4);
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}
uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value == 0 ? 0.0 : value); }

double Rounded(double value, int digits) {
  std::array<char, 40> text;
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::general, digits).ptr;
  std::from_chars(text.begin(), end, value);
  return value;
}

double Apply(Function function, double x) {
  switch (function) {
    case Function::kExp: return std::exp(x);
    case Function::kSqrt: return std::sqrt(x);
    case Function::kRsqrt: return 1 / std::sqrt(x);
    case Function::kLog: return std::log(x);
    case Function::kAbs: return std::fabs(x);
    case Function::kTanh: return std::tanh(x);
    case Function::kFloor: return std::floor(x);
    case Function::kCeil: return std::ceil(x);
    case Function::kTrunc: return std::trunc(x);
    case Function::kRound: return std::round(x);
    case Function::kRint: return std::nearbyint(x);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

double RoundLiteral(double value, bool is_double) {
  if (!std::isfinite(value) || value == 0) return value;
  // Integers, also those that floats do not hold: masks, multipliers of hashes.
  if (std::fabs(value) < kLargestExact && value == std::nearbyint(value)) return value;
  const double six = Rounded(value, 6);
  if (is_double) {
    const double fifteen = Rounded(value, 15);
    return std::fabs(value - six) <= 4e-16 * std::fabs(value) ? six : fifteen;
  }
  if (std::fabs(value - six) <= 1.3e-7 * std::fabs(value)) return six;
  return Rounded(value, 7);
}

const double* FormGraph::AsConstant(FormId id) const {
  return nodes_[id].op == FormOp::kConstant ? &nodes_[id].value : nullptr;
}

bool FormGraph::Before(FormId a, FormId b) const {
  const FormNode &x = nodes_[a], &y = nodes_[b];
  if (x.signature != y.signature) return x.signature < y.signature;
  if (x.place != y.place) return x.place < y.place;
  return a < b;
}

// The number of terms with the same signature does not count in sums and maxima, where it is the extent of a reduction;
// in products, from three factors on.
constexpr uint32_t kReducedFactors = 3;
uint64_t FormGraph::SignatureOf(const FormNode& node, std::span<const FormTerm> terms) const {
  // A multiple of something may be that thing itself elsewhere, where the factor is 1.
  if (node.op == FormOp::kLinear && terms.size() == 1 && node.value == 0 && terms[0].coefficient != 1 &&
      nodes_[terms[0].node].op != FormOp::kLinear)
    return nodes_[terms[0].node].signature;
  uint64_t hash = Mix(0x51ed270b, static_cast<uint64_t>(node.op));
  hash = Mix(hash, node.mode);
  hash = Mix(hash, node.buffer);
  const bool set =
      node.op == FormOp::kLinear || node.op == FormOp::kMax || node.op == FormOp::kMin || node.op == FormOp::kArg;
  uint64_t previous = 0;
  double previous_exponent = 0;
  uint32_t repeated = 0;
  for (const FormTerm& term : terms) {
    const uint64_t signature = nodes_[term.node].signature;
    if (set && signature == previous) continue;
    if (node.op == FormOp::kProduct) {
      // Of expanded recurrences, numbers of steps do not count at all.
      const bool power = expands_ && term.coefficient > 0;
      const double exponent = power ? 1 : term.coefficient;
      repeated = signature == previous && exponent == previous_exponent ? repeated + 1 : 0;
      if (repeated >= (expands_ ? 1 : kReducedFactors)) continue;
      previous_exponent = exponent;
      hash = Mix(hash, Bits(exponent));
    }
    previous = signature;
    hash = Mix(hash, signature);
  }
  if (node.op == FormOp::kLinear) hash = Mix(hash, node.value != 0);
  return hash;
}

bool FormGraph::HasData(const FormNode& node, std::span<const FormTerm> terms) const {
  if (node.op == FormOp::kConstant || node.op == FormOp::kScalar) return false;
  if (node.op != FormOp::kLinear && node.op != FormOp::kProduct) return true;
  return std::any_of(terms.begin(), terms.end(), [this](const FormTerm& term) { return nodes_[term.node].has_data; });
}

FormId FormGraph::Intern(FormNode node, std::vector<FormTerm> terms) {
  uint64_t key = Mix(static_cast<uint64_t>(node.op) << 24 | static_cast<uint64_t>(node.mode) << 16 | node.buffer,
                     static_cast<uint64_t>(node.element));
  key = Mix(key, Bits(node.value));
  for (const FormTerm& term : terms) key = Mix(Mix(key, term.node), Bits(term.coefficient));
  const auto is_same = [&](FormId id) {
    const FormNode& other = nodes_[id];
    return other.op == node.op && other.mode == node.mode && other.buffer == node.buffer &&
           other.element == node.element && Bits(other.value) == Bits(node.value) && other.count == terms.size() &&
           std::equal(terms.begin(), terms.end(), terms_.begin() + other.first);
  };
  if (const FormId known = ids_.Find(key, is_same)) return known;
  if (terms_.size() + terms.size() > limit_) {
    full_ = true;
    return 0;
  }
  node.first = static_cast<uint32_t>(terms_.size());
  node.count = static_cast<uint32_t>(terms.size());
  node.signature = SignatureOf(node, terms);
  node.has_data = HasData(node, terms);
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  nodes_.push_back(node);
  const auto id = static_cast<FormId>(nodes_.size() - 1);
  ids_.Insert(key, id);
  return id;
}

FormId FormGraph::Constant(double value) {
  return Intern({.op = FormOp::kConstant, .value = value == 0 ? 0 : value}, {});
}
int64_t FormGraph::PlaceOf(uint16_t buffer, int64_t element) const {
  if (buffer >= shapes_.size()) return element;
  int64_t place = 0;
  for (size_t d = shapes_[buffer].size(); d-- > 1;) {
    const int64_t extent = std::max<int64_t>(shapes_[buffer][d], 1);
    place = place * extent + element % extent;
    element /= extent;
  }
  return place * (int64_t{1} << 20) + element;
}

FormId FormGraph::Load(uint16_t buffer, int64_t element) {
  return Intern({.op = FormOp::kLoad, .buffer = buffer, .element = element, .place = PlaceOf(buffer, element)}, {});
}
FormId FormGraph::Scalar(uint16_t position) { return Intern({.op = FormOp::kScalar, .buffer = position}, {}); }
FormId FormGraph::Gather(uint16_t buffer, FormId index) {
  if (const double* c = AsConstant(index)) return Load(buffer, static_cast<int64_t>(*c));
  const FormNode node = nodes_[index];
  const double offset = node.op == FormOp::kLinear ? node.value : 0;
  if (offset != 0) index = Linear(-offset, {{index, 1}});
  return Intern({.op = FormOp::kGather,
                 .buffer = buffer,
                 .element = static_cast<int64_t>(offset),
                 .place = static_cast<int64_t>(offset)},
                {{index, 1}});
}

FormId FormGraph::OfOne(FormOp op, FormId term) {
  if (nodes_[term].op == op || nodes_[term].op == FormOp::kConstant) return term;
  return Intern({.op = op}, {{term, 1}});
}

FormId FormGraph::EmptySum(FormId like, int64_t element) {
  FormNode node = nodes_[like];
  node.element = element;
  node.count = 0;
  nodes_.push_back(node);
  return static_cast<FormId>(nodes_.size() - 1);
}

// Runs of terms that have one signature and one coefficient: sums within the sum. `terms` are sorted.
template <typename F>
void FormGraph::ForEachRun(std::span<const FormTerm> terms, const F& visit) const {
  size_t begin = 0;
  for (size_t i = 1; i <= terms.size(); ++i) {
    if (i < terms.size() && nodes_[terms[i].node].signature == nodes_[terms[begin].node].signature) continue;
    const auto run = terms.subspan(begin, i - begin);
    const double first = run[0].coefficient;
    visit(run, std::all_of(run.begin(), run.end(), [&](const FormTerm& t) {
            return std::fabs(t.coefficient - first) <= 1e-7 * std::fabs(first);
          }));
    begin = i;
  }
}

void FormGraph::AddTerm(const FormTerm& term, double& value, std::vector<FormTerm>& flat) {
  const FormNode node = nodes_[term.node];
  if (node.op == FormOp::kConstant) {
    value += term.coefficient * node.value;
    return;
  }
  if (node.op != FormOp::kLinear) {
    flat.push_back(term);
    return;
  }
  value += term.coefficient * node.value;
  if (term.coefficient == 1) {
    flat.insert(flat.end(), terms(term.node).begin(), terms(term.node).end());
    return;
  }
  // A scaled sum stays a sum of its own: x - mean is no weighted sum of all x.
  const std::vector<FormTerm> inner(terms(term.node).begin(), terms(term.node).end());
  if (inner.size() == 1 && inner[0].coefficient == 1 && node.value == 0) {
    flat.push_back(term);
    return;
  }
  std::vector<std::pair<std::vector<FormTerm>, double>> sums;
  ForEachRun(inner, [&](std::span<const FormTerm> run, bool uniform) {
    if (uniform && run.size() > 1) {
      sums.emplace_back(std::vector<FormTerm>(run.begin(), run.end()), run[0].coefficient);
      return;
    }
    for (const FormTerm& t : run) flat.push_back({t.node, term.coefficient * t.coefficient});
  });
  for (auto& [sum, coefficient] : sums) flat.push_back({SumOf(std::move(sum)), term.coefficient * coefficient});
}

FormId FormGraph::SumOf(std::vector<FormTerm> run) {
  for (FormTerm& term : run) term.coefficient = 1;
  return Intern({.op = FormOp::kLinear}, std::move(run));
}

FormId FormGraph::Linear(double value, const std::vector<FormTerm>& terms) {
  std::vector<FormTerm> flat;
  flat.reserve(terms.size());
  for (const FormTerm& term : terms) AddTerm(term, value, flat);
  const auto before = [this](const FormTerm& a, const FormTerm& b) {
    return a.node != b.node && Before(a.node, b.node);
  };
  std::sort(flat.begin(), flat.end(), before);
  std::vector<FormTerm> combined;
  combined.reserve(flat.size());
  for (const FormTerm& term : flat) {
    if (!combined.empty() && combined.back().node == term.node) combined.back().coefficient += term.coefficient;
    else combined.push_back(term);
  }
  std::erase_if(combined, [](const FormTerm& term) { return std::fabs(term.coefficient) < 1e-12; });
  for (FormTerm& term : combined) term.coefficient = RoundLiteral(term.coefficient, exact_);
  value = RoundLiteral(value, exact_);
  if (MergePlainSums(combined)) combined = Sorted(std::move(combined));
  // A run with one coefficient other than 1 is that coefficient times a sum.
  std::vector<FormTerm> nested;
  std::vector<std::pair<std::vector<FormTerm>, double>> sums;
  ForEachRun(combined, [&](std::span<const FormTerm> run, bool uniform) {
    if (uniform && run.size() > 1 && run[0].coefficient != 1)
      sums.emplace_back(std::vector<FormTerm>(run.begin(), run.end()), run[0].coefficient);
    else nested.insert(nested.end(), run.begin(), run.end());
  });
  if (!sums.empty()) {
    for (auto& [sum, coefficient] : sums) nested.push_back({SumOf(std::move(sum)), coefficient});
    std::sort(nested.begin(), nested.end(), before);
    combined = std::move(nested);
  }
  // Data is finite: a score that a mask has made infinite stays so.
  if (combined.empty() || std::fabs(value) >= -kLowest) return Constant(value);
  if (combined.size() == 1 && combined[0].coefficient == 1 && value == 0) return combined[0].node;
  if (value == 0)
    if (const FormId centred = CentredSquares(combined)) return centred;
  return Intern({.op = FormOp::kLinear, .value = value}, std::move(combined));
}

std::vector<FormTerm> FormGraph::Sorted(std::vector<FormTerm> terms) const {
  std::sort(terms.begin(), terms.end(),
            [this](const FormTerm& a, const FormTerm& b) { return a.node != b.node && Before(a.node, b.node); });
  return terms;
}

// Of real numbers.
bool FormGraph::IsPositive(FormId id) const {
  const FormNode& node = nodes_[id];
  const auto inner = terms(id);
  const auto positive = [this](const FormTerm& term) { return IsPositive(term.node); };
  if (node.op == FormOp::kConstant) return node.value > 0;
  if (node.op == FormOp::kLinear)
    return node.value >= 0 && std::all_of(inner.begin(), inner.end(),
                                          [&](const FormTerm& term) { return term.coefficient > 0 && positive(term); });
  if (node.op == FormOp::kProduct || node.op == FormOp::kMin) return std::all_of(inner.begin(), inner.end(), positive);
  if (node.op == FormOp::kMax) return std::any_of(inner.begin(), inner.end(), positive);
  return IsCallOf(id, Function::kExp);
}

FormId FormGraph::Extremum(FormOp op, const std::vector<FormId>& args) {
  std::vector<FormTerm> flat;
  double constant =
      op == FormOp::kMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  for (const FormId id : args) {
    if (const double* c = AsConstant(id)) {
      constant = op == FormOp::kMax ? std::max(constant, *c) : std::min(constant, *c);
    } else if (nodes_[id].op == op) {
      for (const FormTerm& inner : terms(id)) {
        if (const double* known = AsConstant(inner.node)) {
          constant = op == FormOp::kMax ? std::max(constant, *known) : std::min(constant, *known);
        } else {
          flat.push_back(inner);
        }
      }
    } else {
      flat.push_back({id, 1});
    }
  }
  const bool identity = op == FormOp::kMax ? constant <= kLowest : constant >= -kLowest;
  if (!identity) flat.push_back({Constant(constant), 1});
  std::sort(flat.begin(), flat.end(),
            [this](const FormTerm& a, const FormTerm& b) { return a.node != b.node && Before(a.node, b.node); });
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return Constant(constant);
  if (flat.size() == 1 && (args.size() == 1 || AsConstant(flat[0].node))) return flat[0].node;
  return Intern({.op = op}, std::move(flat));
}

FormId FormGraph::Call(Function function, std::vector<FormId> args) {
  if (function == Function::kReciprocal) return Product({{args[0], -1}});
  if (function == Function::kExp2 || function == Function::kExp10)
    return Call(Function::kExp, {Linear(0, {{args[0], function == Function::kExp2 ? M_LN2 : M_LN10}})});
  if (function == Function::kLog2 || function == Function::kLog10)
    return Linear(0, {{Call(Function::kLog, args), 1 / (function == Function::kLog2 ? M_LN2 : M_LN10)}});
  if (args.size() == 1) {
    if (const double* c = AsConstant(args[0])) {
      const double folded = Apply(function, *c);
      if (!std::isnan(folded)) return Constant(folded);
    }
    if (function == Function::kAbs) {
      const FormNode& inner = nodes_[args[0]];
      if (inner.op == FormOp::kCall && static_cast<Function>(inner.mode) == Function::kAbs) return args[0];
      if (inner.op == FormOp::kLinear && terms(args[0])[0].coefficient < 0) args[0] = Linear(0, {{args[0], -1}});
    }
  }
  if (function == Function::kPower)
    if (const double* c = AsConstant(args[1]); c != nullptr && *c == std::trunc(*c) && std::fabs(*c) <= 16)
      return Product({{args[0], *c}});
  std::vector<FormTerm> terms;
  for (const FormId id : args) terms.push_back({id, 1});
  return Intern({.op = FormOp::kCall, .mode = static_cast<uint8_t>(function)}, std::move(terms));
}

bool FormGraph::IsInteger(FormId id) const {
  const FormNode& node = nodes_[id];
  if (node.op == FormOp::kLoad || node.op == FormOp::kGather)
    return node.buffer < integer_buffers_.size() && integer_buffers_[node.buffer];
  if (node.op == FormOp::kConstant) return node.value == std::trunc(node.value);
  if (node.op != FormOp::kLinear || node.value != std::trunc(node.value)) return false;
  const std::span<const FormTerm> inner = terms(id);
  return std::all_of(inner.begin(), inner.end(), [this](const FormTerm& term) {
    return term.coefficient == std::trunc(term.coefficient) && IsInteger(term.node);
  });
}

// A sum of integers that equals a number, without what all coefficients share: 33 i + 32 = 65 is i = 1, and 33 i + 32 =
// 64 never holds. 0: nothing to simplify.
FormId FormGraph::CompareIntegers(core::Comparison comparison, FormId sum, double number) {
  const FormNode node = nodes_[sum];
  if (node.op != FormOp::kLinear || !IsInteger(sum)) return 0;
  int64_t common = 0;
  for (const FormTerm& term : terms(sum)) common = std::gcd(common, static_cast<int64_t>(term.coefficient));
  const double rest = number - node.value;
  if (common == 1 && node.value == 0) return 0;
  const double quotient = rest / static_cast<double>(common);
  if (quotient != std::trunc(quotient)) return Constant(comparison == core::Comparison::kNotEqual);
  std::vector<FormTerm> scaled(terms(sum).begin(), terms(sum).end());
  for (FormTerm& term : scaled) term.coefficient /= static_cast<double>(common);
  return Compare(comparison, Linear(0, scaled), Constant(quotient));
}

FormId FormGraph::Compare(core::Comparison comparison, FormId left, FormId right) {
  using core::Comparison;
  const double *a = AsConstant(left), *b = AsConstant(right);
  if (left == right) return Constant(comparison == Comparison::kLessEqual || comparison == Comparison::kEqual);
  if (a && b) {
    switch (comparison) {
      case Comparison::kLess: return Constant(*a < *b);
      case Comparison::kLessEqual: return Constant(*a <= *b);
      case Comparison::kEqual: return Constant(*a == *b);
      case Comparison::kNotEqual: return Constant(*a != *b);
    }
  }
  // Data is finite: it is compared with an accumulator's first value, or tested for infinity.
  for (const double* c : {a, b}) {
    if (!c || std::fabs(*c) < -kLowest) continue;
    if (comparison == Comparison::kEqual) return Constant(0);
    if (comparison == Comparison::kNotEqual) return Constant(1);
    return Constant((c == a) == (*c < 0));
  }
  // A sum of exponentials is not zero.
  if (b && *b <= 0 && IsPositive(left)) return Constant(comparison == Comparison::kNotEqual);
  if (a && *a <= 0 && IsPositive(right)) return Constant(comparison != Comparison::kEqual);
  const bool symmetric = comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
  if (symmetric && (a || b))
    if (const FormId simpler = CompareIntegers(comparison, a ? right : left, a ? *a : *b)) return simpler;
  if (symmetric && Before(right, left)) std::swap(left, right);
  return Intern({.op = FormOp::kCompare, .mode = static_cast<uint8_t>(comparison)}, {{left, 1}, {right, 1}});
}

}  // namespace warpwright::lift
