#include "judge/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"

namespace warpwright::judge {
namespace {

constexpr uint64_t kTrialStream = 0x747269616cULL, kShapeStream = 0x7368617065ULL;

bool HasIntegerOutput(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && !core::IsFloat(buffer->dtype) &&
           (buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut);
  });
}

bool HasNarrowAlignment(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && buffer->alignment < 256;
  });
}

std::set<std::string> ShapeScalars(const core::KernelSpec& spec) {
  std::set<std::string> names;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (const core::Expression& extent : buffer->shape)
        for (const std::string& name : extent.Variables()) names.insert(name);
  return names;
}

bool IsPrime(int64_t n) {
  if (n < 2) return false;
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}
int64_t PrimeBelow(int64_t n) {
  while (n > 2 && !IsPrime(n)) --n;
  return std::max<int64_t>(n, 2);
}

}  // namespace

std::string Trial::Describe() const {
  std::string text = c.name;
  if (variant != InputVariant::kBase) text += fmt::format(", inputs {}", Name(variant));
  if (pointers == Pointers::kLeast) text += ", pointers at their least alignment";
  if (pointers == Pointers::kTwice) text += ", pointers at twice their least alignment";
  if (pointers == Pointers::kMixed) text += ", some pointers at their least alignment";
  return text;
}

std::string Trial::Key() const {
  std::string key = fmt::format("{}/{}/{}{}", Name(variant), seed, static_cast<int>(pointers), bare ? "/bare" : "");
  for (const double number : named) key += fmt::format("/{}", number);
  for (const auto& [name, value] : c.scalars)
    std::visit([&, n = name](auto v) { key += fmt::format("/{}={}", n, v); }, value);
  return key;
}

int64_t PointerOffset(const Trial& trial, const core::BufferArgument& buffer, size_t index) {
  constexpr int64_t kAllocators = 256;
  const int64_t least = buffer.alignment < kAllocators ? buffer.alignment : 0;
  switch (trial.pointers) {
    case Pointers::kAligned: return 0;
    case Pointers::kLeast: return least;
    case Pointers::kTwice: return 2 * least < kAllocators ? 2 * least : 0;
    case Pointers::kMixed: return (trial.seed >> (index % 64) & 1) != 0 ? least : 0;
  }
  return 0;
}

bool NeedsSize(const Trial& trial) {
  switch (trial.variant) {
    case InputVariant::kNeedle:
    case InputVariant::kLowNeedle:
    case InputVariant::kExactIntegers:
    case InputVariant::kTies:
    case InputVariant::kZeroRuns:
    case InputVariant::kIntegerEqual:
    case InputVariant::kIntegerBeyond: return true;
    default: return trial.check == core::Check::kSecretSeed;
  }
}

std::vector<Trial> PlanTrials(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                              VerificationLevel effort, const std::vector<double>& named) {
  const base::CounterRandom seeds(secret, kTrialStream);
  std::vector<Trial> trials;
  const auto add = [&](core::Check check, InputVariant variant) -> Trial& {
    return trials.emplace_back(Trial{.check = check, .c = c, .variant = variant, .seed = seeds.Bits(trials.size())});
  };
  const bool full = effort == VerificationLevel::kFull;
  for (int i = 0; i < (full ? 3 : 1); ++i) add(core::Check::kSecretSeed, InputVariant::kBase);
  if (HasNarrowAlignment(spec)) {
    add(core::Check::kPointerOffset, InputVariant::kBase).pointers = Pointers::kLeast;
    for (const Pointers pointers : {Pointers::kTwice, Pointers::kMixed}) {
      if (!full) break;
      Trial& trial = add(core::Check::kPointerOffset, InputVariant::kBase);
      trial.pointers = pointers;
      trial.bare = true;
    }
  }
  if (full && IntegerVariantApplies(spec))
    for (const InputVariant variant :
         {InputVariant::kIntegerEqual, InputVariant::kIntegerSorted, InputVariant::kIntegerBeyond})
      add(core::Check::kDistributions, variant).bare = true;
  if (!VariantApplies(spec)) return trials;
  add(core::Check::kDistributions, InputVariant::kSignMix);
  add(core::Check::kExactIntegers, InputVariant::kExactIntegers);
  add(core::Check::kNeedle, InputVariant::kNeedle);
  add(core::Check::kScaleLadder, InputVariant::kScaleUp);
  if (full) add(core::Check::kScaleLadder, InputVariant::kScaleDown);
  // Among unordered values the winner of a comparison depends on the order of the scan: no NaN where an output is an
  // index.
  add(core::Check::kSpecialValues,
      HasIntegerOutput(spec) ? InputVariant::kSpecialNumbers : InputVariant::kSpecialValues);
  if (!full) return trials;
  add(core::Check::kSpecialValues, InputVariant::kMaxFinite);
  add(core::Check::kNeedle, InputVariant::kLowNeedle);
  // Atomic additions of floats flush subnormal numbers: where any order of sums is allowed, they are expected.
  const bool flushes = spec.allow.contains(core::Allow::kNondeterministic);
  if (!spec.allow.contains(core::Allow::kReducedPrecision) && !flushes)
    for (const InputVariant variant : {InputVariant::kTiny, InputVariant::kSubnormal})
      add(core::Check::kScaleLadder, variant);
  for (const InputVariant variant :
       {InputVariant::kNormal, InputVariant::kUniform, InputVariant::kPareto, InputVariant::kLognormal,
        InputVariant::kConstant, InputVariant::kTies, InputVariant::kSorted, InputVariant::kWide,
        InputVariant::kBufferScales, InputVariant::kZeroRuns, InputVariant::kEqualRows}) {
    if (variant == InputVariant::kEqualRows && flushes) continue;  // one of its rows is subnormal
    add(core::Check::kDistributions, variant);
  }
  if (!named.empty()) {
    Trial& trial = add(core::Check::kDistributions, InputVariant::kNamed);
    trial.named = named;
    trial.bare = true;
  }
  return trials;
}

namespace {

// Gives the integer scalars that occur in shapes new values, consistently.
class ShapeList {
 public:
  ShapeList(const core::KernelSpec& spec, const core::Case& c) : c_(c), names_(ShapeScalars(spec)) {
    seen_.insert(c.scalars);
  }
  const std::set<std::string>& names() const { return names_; }
  // change(name, index, value) -> the new value
  template <typename Change>
  void Add(Change change, int64_t least = 1) {
    core::Case odd = c_;
    int index = 0;
    std::string list;
    for (const std::string& name : names_) {
      const auto found = odd.scalars.find(name);
      if (found == odd.scalars.end() || !std::holds_alternative<int64_t>(found->second)) continue;
      const int64_t value = change(name, index++, std::get<int64_t>(found->second));
      if (value < least) return;
      found->second = value;
      list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, value);
    }
    if (index == 0 || !seen_.insert(odd.scalars).second) return;
    odd.name = fmt::format("{} (odd shape of {})", list, c_.name);
    shapes_.push_back(std::move(odd));
  }
  std::vector<core::Case> Take() { return std::move(shapes_); }

 private:
  const core::Case& c_;
  const std::set<std::string> names_;
  std::vector<core::Case> shapes_;
  std::set<std::map<std::string, core::ScalarValue>> seen_;
};

// An empty dimension asks for nothing but not to fail where it empties every output; what a mean of nothing is, nobody
// relies on, and a stride of zero is no size.
bool LeavesNothingToWrite(const core::KernelSpec& spec, const core::Case& c) {
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn || buffer->role == core::Role::kScratch) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape || std::find(shape->begin(), shape->end(), 0) == shape->end()) return false;
  }
  return true;
}

}  // namespace

std::vector<core::Case> OddShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                  VerificationLevel effort) {
  ShapeList shapes(spec, c);
  const std::set<std::string>& names = shapes.names();
  const auto add = [&](auto change) { shapes.Add(change); };
  add([](const std::string&, int, int64_t n) { return n - 1; });
  add([](const std::string&, int, int64_t n) { return n + 1; });
  if (effort == VerificationLevel::kQuick) return shapes.Take();
  add([](const std::string&, int i, int64_t n) { return PrimeBelow(std::min<int64_t>(n - 2, 1009) - 10 * i); });
  add([](const std::string&, int i, int64_t) { return int64_t{17} + 2 * i; });
  for (const std::string& one : names)
    add([&](const std::string& name, int, int64_t n) { return name == one ? 1 : std::min<int64_t>(n, 67); });
  for (const std::string& one : names) {
    core::Case empty = c;
    if (const auto size = empty.scalars.find(one); size != empty.scalars.end()) size->second = int64_t{0};
    if (!LeavesNothingToWrite(spec, empty)) continue;
    shapes.Add([&](const std::string& name, int, int64_t n) { return name == one ? 0 : std::min<int64_t>(n, 67); }, 0);
  }
  const base::CounterRandom random(secret, kShapeStream);
  // Long in one dimension and short in the others, beyond sizes at which code takes another path; which dimension,
  // nobody knows. Of a single dimension also beyond 65,535, where grids end in y and z and 16-bit indices wrap: with
  // others, a block for each of so many short rows would take too long here.
  for (const int64_t least : {int64_t{65'536}, int64_t{2'048}}) {
    if (least > 2'048 && names.size() > 1) continue;
    const auto stream = static_cast<uint64_t>(least);
    const auto chosen = static_cast<int>(random.Below(stream, std::max<size_t>(names.size(), 1)));
    const int64_t length = least + 1 + static_cast<int64_t>(random.Below(stream + 1, 1'024));
    add([&](const std::string&, int i, int64_t n) { return i == chosen ? length : std::min<int64_t>(n, 2 + i); });
  }
  // What vector accesses and tiles ask for: multiples of 4, 8 and 16 that are no multiples of 32, and powers of two.
  constexpr int64_t kMultiples[][4] = {{36, 20, 44, 52}, {40, 24, 72, 56}, {48, 112, 80, 16}, {64, 32, 128, 256}};
  for (const auto& multiples : kMultiples)
    add([&](const std::string&, int i, int64_t) { return multiples[static_cast<size_t>(i) % std::size(multiples)]; });
  // Near the declared sizes, on both sides.
  for (const uint64_t which : {128, 192})
    add([&](const std::string&, int i, int64_t n) {
      const auto half = static_cast<uint64_t>(std::max<int64_t>(n / 2, 1));
      const auto step = static_cast<int64_t>(random.Below(which + static_cast<uint64_t>(i), half));
      return which == 128 ? n - step : n + step;
    });
  for (const uint64_t which : {0, 64})
    add([&](const std::string&, int i, int64_t n) {
      return n < 2 ? n
                   : 1 + static_cast<int64_t>(
                             random.Below(which + static_cast<uint64_t>(i), static_cast<uint64_t>(n - 1)));
    });
  return shapes.Take();
}

std::vector<core::Case> LongShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                   const std::vector<int64_t>& sizes) {
  constexpr int64_t kShort = 2;
  constexpr double kElements = 1 << 20;
  ShapeList shapes(spec, c);
  const std::set<std::string>& names = shapes.names();
  if (names.empty()) return {};
  const base::CounterRandom random(secret, kShapeStream + 1);
  const auto one_long = [&](const std::string& one, int64_t length) {
    shapes.Add([&](const std::string& name, int i, int64_t n) {
      return name == one ? length : std::min<int64_t>(n, kShort + i);
    });
  };
  const double root = std::pow(kElements, 1 / static_cast<double>(names.size()));
  const auto drawn = static_cast<int64_t>(random.Below(0, 64));
  shapes.Add([&](const std::string&, int i, int64_t) { return static_cast<int64_t>(root) + 1 + drawn + i; });
  if (names.size() <= 2)
    shapes.Add([&](const std::string&, int, int64_t) { return names.size() == 1 ? int64_t{1} << 20 : int64_t{512}; });
  uint64_t stream = 1;
  for (const std::string& one : names)
    if (names.size() > 1) one_long(one, 65'537 + static_cast<int64_t>(random.Below(stream++, 1'024)));
  // One size several times the others, and the others several times it: strides, and rows shorter than blocks.
  for (const std::string& one : names) {
    if (names.size() == 1) break;
    shapes.Add([&](const std::string& name, int i, int64_t) { return name == one ? 335 + i : int64_t{67} + i; });
    shapes.Add([&](const std::string& name, int i, int64_t) { return name == one ? 33 : int64_t{160} + i; });
  }
  for (const int64_t size : sizes)
    for (const std::string& one : names) one_long(one, size + 1);
  return shapes.Take();
}

std::vector<core::Case> TiledShapes(const core::KernelSpec& spec, const core::Case& c) {
  ShapeList shapes(spec, c);
  if (shapes.names().size() < 3) return {};  // tried whole
  for (const int64_t length : {1024, 1100}) shapes.Add([&](const std::string&, int, int64_t) { return length; });
  return shapes.Take();
}

std::vector<core::Case> OtherScalars(const core::KernelSpec& spec, const core::Case& c, uint64_t secret) {
  const base::CounterRandom random(secret, kTrialStream + 1);
  constexpr int kDrawn = 3;
  uint64_t draws = 0;
  const auto change = [&](int which, double value) {
    switch (which) {
      case 0: return 0.75 * value;
      case 1: return std::ldexp(value, -8);
      case 2: return 0.0;
      case 3: return 1.0;
      default: return random.Uniform(draws++) * std::max(1.0, 2 * std::fabs(value));
    }
  };
  std::vector<core::Case> others;
  for (int which = 0; which < 4 + kDrawn; ++which) {
    core::Case other = c;
    for (const core::Argument& argument : spec.args) {
      const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
      const auto found = other.scalars.find(argument.name);
      if (scalar == nullptr || !core::IsFloat(scalar->dtype) || found == other.scalars.end()) continue;
      found->second = change(which, std::visit([](auto value) { return static_cast<double>(value); }, found->second));
    }
    if (other.scalars == c.scalars) continue;
    other.name += ", with other scalars";
    others.push_back(std::move(other));
  }
  return others;
}

std::vector<core::Case> ReducedShapes(const core::KernelSpec& spec, const core::Case& c, double share) {
  std::vector<core::Case> shapes;
  for (const std::string& name : ShapeScalars(spec)) {
    const auto found = c.scalars.find(name);
    if (found == c.scalars.end() || !std::holds_alternative<int64_t>(found->second)) continue;
    const auto value = std::get<int64_t>(found->second);
    const auto reduced = static_cast<int64_t>(static_cast<double>(value) * share);
    if (reduced < 1 || reduced >= value) continue;  // even one element of it is too much work
    core::Case smaller = c;
    smaller.scalars[name] = reduced;
    smaller.name = fmt::format("{} with {}={}", c.name, name, reduced);
    shapes.push_back(std::move(smaller));
  }
  return shapes;
}

}  // namespace warpwright::judge
