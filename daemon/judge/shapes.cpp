#include "judge/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "judge/size_relations.h"
#include "judge/whole_groups.h"

namespace warpwright::judge {
namespace {

constexpr int64_t kShort = 3;  // rows beside a long size: of each kind that kFarNeedle has
constexpr uint64_t kScalarStream = 0x7363616c6172ULL, kShapeStream = 0x7368617065ULL;

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

// Gives the integer scalars that occur in shapes new values, consistently.
class ShapeList {
 public:
  ShapeList(const core::KernelSpec& spec, const core::Case& c, const Fits& fits)
      : c_(c), fits_(fits), names_(ShapeScalars(spec)), groups_(spec) {
    seen_.insert(c.scalars);
  }
  const std::set<std::string>& names() const { return names_; }
  // change(name, index, value) -> the new value
  template <typename Change>
  void Add(Change change, int64_t least = 1) {
    core::Case odd = c_;
    int index = 0;
    for (const std::string& name : names_) {
      int64_t* const size = SizeNamed(odd, name);
      if (size == nullptr) continue;
      *size = change(name, index++, *size);
      if (*size < least) return;
    }
    groups_.Keep(odd);
    while (fits_ && !fits_(odd))
      if (!Halve(odd)) break;
    if (index == 0 || !seen_.insert(odd.scalars).second) return;
    odd.name = fmt::format("{} (odd shape of {})", Sizes(odd), c_.name);
    shapes_.push_back(std::move(odd));
  }
  // One size long, the others short.
  void AddLong(const std::string& one, int64_t length) {
    Add([&](const std::string& name, int i, int64_t n) {
      return name == one ? length : std::min<int64_t>(n, kShort + i);
    });
  }
  // Two long at once, if that fits as it is.
  void AddBothLong(const std::string& one, const std::string& other, int64_t length) {
    core::Case both = c_;
    int index = 0;
    for (const std::string& name : names_)
      if (int64_t* const size = SizeNamed(both, name))
        *size = name == one || name == other ? length + index++ : std::min<int64_t>(*size, kShort + index++);
    if (fits_ && fits_(both)) Add([&](const std::string& name, int, int64_t) { return *SizeNamed(both, name); });
  }
  std::vector<core::Case> Take() { return std::move(shapes_); }

 private:
  static int64_t* SizeNamed(core::Case& c, const std::string& name) {
    const auto found = c.scalars.find(name);
    return found == c.scalars.end() ? nullptr : std::get_if<int64_t>(&found->second);
  }
  // Whether any was more than one. What is one more than a power of two stays so.
  bool Halve(core::Case& odd) const {
    bool smaller = false;
    for (const std::string& name : names_)
      if (int64_t* const size = SizeNamed(odd, name); size != nullptr && *size > 1) {
        *size = *size / 2 | (*size & 1);
        smaller = true;
      }
    groups_.Keep(odd);
    return smaller;
  }
  std::string Sizes(core::Case& odd) const {
    std::string list;
    for (const std::string& name : names_)
      if (const int64_t* const size = SizeNamed(odd, name))
        list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, *size);
    return list;
  }

  const core::Case& c_;
  const Fits& fits_;
  const std::set<std::string> names_;
  const WholeGroups groups_;
  std::vector<core::Case> shapes_;
  std::set<std::map<std::string, core::ScalarValue>> seen_;
};

}  // namespace

bool LeavesNothingToWrite(const core::KernelSpec& spec, const core::Case& c) {
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn || buffer->role == core::Role::kScratch) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape || std::find(shape->begin(), shape->end(), 0) == shape->end()) return false;
  }
  return true;
}

bool HasEmptyBuffer(const core::KernelSpec& spec, const core::Case& c) {
  return std::any_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
    if (!std::holds_alternative<core::BufferArgument>(argument.kind)) return false;
    const auto shape = core::ShapeOf(argument, c);
    return shape && std::find(shape->begin(), shape->end(), 0) != shape->end();
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

std::vector<core::Case> OddShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                  VerificationLevel effort, const Fits& fits) {
  ShapeList shapes(spec, c, fits);
  const std::set<std::string>& names = shapes.names();
  const auto add = [&](auto change) { shapes.Add(change); };
  add([](const std::string&, int, int64_t n) { return n - 1; });
  add([](const std::string&, int, int64_t n) { return n + 1; });
  if (effort == VerificationLevel::kQuick) return shapes.Take();
  add([](const std::string&, int i, int64_t n) { return PrimeBelow(std::min<int64_t>(n - 2, 1009) - 10 * i); });
  add([](const std::string&, int i, int64_t) { return int64_t{17} + 2 * i; });
  for (const std::string& one : names)
    add([&](const std::string& name, int, int64_t n) { return name == one ? 1 : std::min<int64_t>(n, 67); });
  for (const std::string& one : names)
    shapes.Add([&](const std::string& name, int, int64_t n) { return name == one ? 0 : std::min<int64_t>(n, 67); }, 0);
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
                                   const Fits& fits) {
  constexpr double kElements = 1 << 20;
  ShapeList shapes(spec, c, fits);
  const std::set<std::string>& names = shapes.names();
  if (names.empty()) return {};
  const base::CounterRandom random(secret, kShapeStream + 1);
  const double root = std::pow(kElements, 1 / static_cast<double>(names.size()));
  const auto drawn = static_cast<int64_t>(random.Below(0, 64));
  // A row alone ends some blocks beyond a thousand of a thousand threads, all that one block can scan the totals of.
  const int64_t beyond = names.size() == 1 ? 5'000 + 1'000 * drawn : 1 + drawn;
  shapes.Add([&](const std::string&, int i, int64_t) { return static_cast<int64_t>(root) + beyond + i; });
  if (names.size() <= 2)
    shapes.Add([&](const std::string&, int, int64_t) { return names.size() == 1 ? int64_t{1} << 20 : int64_t{512}; });
  uint64_t stream = 1;
  for (const std::string& one : names)
    if (names.size() > 1) shapes.AddLong(one, 65'537 + static_cast<int64_t>(random.Below(stream++, 1'024)));
  // The product of an index with another size is beyond 32 bits, though no buffer is.
  for (auto one = names.begin(); one != names.end(); ++one)
    for (auto other = std::next(one); other != names.end(); ++other)
      shapes.AddBothLong(*one, *other, 92'000 + static_cast<int64_t>(random.Below(stream++, 1'024)));
  // One size several times the others, and the others several times it: strides, and rows shorter than blocks.
  for (const std::string& one : names) {
    if (names.size() == 1) break;
    shapes.Add([&](const std::string& name, int i, int64_t) { return name == one ? 335 + i : int64_t{67} + i; });
    shapes.Add([&](const std::string& name, int i, int64_t) { return name == one ? 33 : int64_t{160} + i; });
  }
  return shapes.Take();
}

std::vector<core::Case> SweptShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                    const Fits& fits) {
  constexpr double kShortest = 80, kLongest = 40'000, kStep = 1.3;
  ShapeList shapes(spec, c, fits);
  const base::CounterRandom random(secret, kShapeStream + 3);
  uint64_t draws = 0;
  for (const std::string& one : shapes.names())
    for (double length = kShortest; length < kLongest; length *= kStep)
      shapes.AddLong(one, static_cast<int64_t>(length * std::pow(kStep, random.Uniform(draws++) / 16)));
  return shapes.Take();
}

std::vector<core::Case> ShapesAround(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                     const std::vector<int64_t>& sizes, const Fits& fits) {
  ShapeList shapes(spec, c, fits);
  const base::CounterRandom random(secret, kShapeStream + 5);
  uint64_t draws = 0;
  for (const int64_t size : sizes)
    for (const std::string& one : shapes.names()) {
      for (const int64_t length : {size, size + 1}) shapes.AddLong(one, length);
      // Behind it too: what begins there need not go wrong at its beginning.
      for (const int64_t part : {16, 5})
        shapes.AddLong(one,
                       size + 2 + static_cast<int64_t>(random.Below(draws++, static_cast<uint64_t>(size / part) + 1)));
    }
  return shapes.Take();
}

std::vector<core::Case> AlignedShapes(const core::KernelSpec& spec, const core::Case& c, const Fits& fits) {
  constexpr int64_t kSizes[] = {64, 32, 128, 256};
  ShapeList shapes(spec, c, fits);
  shapes.Add([&](const std::string&, int i, int64_t) { return kSizes[static_cast<size_t>(i) % std::size(kSizes)]; });
  return shapes.Take();
}

std::vector<core::Case> CountedShapes(const core::KernelSpec& spec, const core::Case& c, const Fits& fits) {
  constexpr int64_t kBlocks = 132, kCounter = 65'536;  // one for each multiprocessor of a large chip
  const auto is_of_integers = [&](bool output) {
    return std::any_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      if (buffer == nullptr || core::IsFloat(buffer->dtype) || buffer->role == core::Role::kScratch) return false;
      return (buffer->role != core::Role::kIn) == output;
    });
  };
  if (!is_of_integers(true)) return {};
  const bool of_integers = is_of_integers(false);
  // What as long an output has is one integer for each number, and no count of them.
  const auto is_counted_over = [&](const std::string& name) {
    return of_integers || std::none_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
             const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
             if (buffer == nullptr || core::IsFloat(buffer->dtype) || buffer->role == core::Role::kIn) return false;
             return std::any_of(buffer->shape.begin(), buffer->shape.end(), [&](const core::Expression& extent) {
               const std::vector<std::string> variables = extent.Variables();
               return std::find(variables.begin(), variables.end(), name) != variables.end();
             });
           });
  };
  ShapeList shapes(spec, c, fits);
  std::set<std::string> names = shapes.names();
  std::erase_if(names, [&](const std::string& name) { return !is_counted_over(name); });
  // So many bins as ever: values that no bin is for are not counted.
  const auto add = [&](int64_t count) {
    for (const std::string& one : names)
      shapes.Add([&](const std::string& name, int, int64_t n) {
        if (name == one) return count;
        return !of_integers && !is_counted_over(name) ? n : std::min<int64_t>(n, 2);
      });
  };
  add(kBlocks * kCounter + 1);
  // Sums of bytes into 64 bits, where 32 hold the largest no more.
  const auto has = [&](std::initializer_list<core::DType> dtypes, bool output) {
    return std::any_of(spec.args.begin(), spec.args.end(), [&](const core::Argument& argument) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      return buffer != nullptr && (buffer->role != core::Role::kIn) == output &&
             std::find(dtypes.begin(), dtypes.end(), buffer->dtype) != dtypes.end();
    });
  };
  constexpr int64_t kWord = int64_t{1} << 32;
  if (has({core::DType::kI64}, true) && has({core::DType::kI8, core::DType::kU8}, false))
    add(kWord / (has({core::DType::kU8}, false) ? UINT8_MAX : INT8_MAX) + 1);
  return shapes.Take();
}

std::vector<core::Case> ShapesBeyondShorts(const core::KernelSpec& spec, const core::Case& c, uint64_t secret) {
  const Fits any;
  ShapeList shapes(spec, c, any);
  const base::CounterRandom random(secret, kShapeStream + 4);
  uint64_t draws = 0;
  for (const std::string& one : shapes.names())
    shapes.AddLong(one, 2 * (int64_t{UINT16_MAX} + 2) + static_cast<int64_t>(random.Below(draws++, 30'000)));
  return shapes.Take();
}

namespace {

// The elements of the largest buffer; nothing where the shape has no meaning, or takes more than a simulator has.
std::optional<double> LargestBuffer(const core::KernelSpec& spec, const core::Case& c) {
  constexpr double kMostBytes = 192.0 * (1ull << 30);
  double largest = 0, bytes = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) return std::nullopt;
    double elements = 1;
    for (const int64_t extent : *shape) elements *= static_cast<double>(extent);
    largest = std::max(largest, elements);
    bytes += elements * static_cast<double>(core::SizeOf(buffer->dtype));
  }
  return bytes <= kMostBytes ? std::optional(largest) : std::nullopt;
}

// The case with a value of `name` for which the largest buffer has more than `elements`, or with the largest value that
// its type holds; `beyond` is added, and the sum is odd.
std::optional<core::Case> WithElements(const core::KernelSpec& spec, const core::Case& c, const std::string& name,
                                       double elements, int64_t beyond) {
  const core::Argument* argument = spec.Find(name);
  const auto* scalar = argument != nullptr ? std::get_if<core::ScalarArgument>(&argument->kind) : nullptr;
  if (scalar == nullptr || !c.scalars.contains(name)) return std::nullopt;
  const int64_t most = scalar->dtype == core::DType::kI32   ? INT32_MAX
                       : scalar->dtype == core::DType::kU32 ? int64_t{UINT32_MAX}
                       : scalar->dtype == core::DType::kI64 ? int64_t{1} << 34
                                                            : 0;
  core::Case huge = c;
  // Launchers add the size of a block, rounding up, and loops that stride over a grid go one stride beyond the end.
  constexpr int64_t kStride = 1 << 26;
  int64_t low = 1, high = most - kStride - beyond;
  while (low < high) {  // buffers grow with the size
    const int64_t middle = low + (high - low) / 2;
    huge.scalars[name] = middle;
    const auto largest = LargestBuffer(spec, huge);
    if (!largest || *largest > elements) high = middle;
    else low = middle + 1;
  }
  if (high < 1) return std::nullopt;
  const int64_t value = (low + beyond) | 1;
  huge.scalars[name] = value;
  huge.name = fmt::format("{}={} (huge shape of {})", name, value, c.name);
  const auto largest = LargestBuffer(spec, huge);
  const auto before = LargestBuffer(spec, c);
  if (!largest || !before || *largest <= *before) return std::nullopt;
  return huge;
}

}  // namespace

std::vector<HugeShape> HugeShapesOf(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                    const std::vector<double>& named) {
  constexpr double kWord = 4294967296.0, kSigned = 2147483648.0;
  constexpr int kLeastDrawn = 21, kDrawn = 10;  // exponents of 2
  constexpr size_t kMostNamed = 4;
  const std::set<std::string> names = ShapeScalars(spec);
  const base::CounterRandom random(secret, kShapeStream + 2);
  uint64_t draws = 0;
  const auto beyond = [&] { return static_cast<int64_t>(random.Below(draws++, 1'000)); };
  std::vector<HugeShape> shapes;
  const auto add = [&](const std::string& name, std::initializer_list<double> counts) {
    HugeShape shape;
    for (const double elements : counts)
      if (auto huge = WithElements(spec, c, name, elements, beyond())) shape.largest_first.push_back(std::move(*huge));
    if (!shape.largest_first.empty()) shapes.push_back(std::move(shape));
  };
  for (const std::string& name : names) add(name, {kWord, kSigned});
  size_t tried = 0;
  for (const double number : named) {
    if (number > 4 * kWord || tried++ >= kMostNamed) continue;
    for (const std::string& name : names) add(name, {number});
  }
  if (!names.empty()) {
    auto name = names.begin();
    std::advance(name, random.Below(draws++, names.size()));
    add(*name, {std::exp2(kLeastDrawn + kDrawn * random.Uniform(draws++))});
  }
  return shapes;
}

std::vector<core::Case> TiledShapes(const core::KernelSpec& spec, const core::Case& c) {
  const Fits any;
  ShapeList shapes(spec, c, any);
  if (shapes.names().size() < 3) return {};  // tried whole
  for (const int64_t length : {1024, 1100}) shapes.Add([&](const std::string&, int, int64_t) { return length; });
  return shapes.Take();
}

namespace {

// Whether in every declared case some size is a multiple of it: of a group, a head, a tile.
bool DividesSizes(const core::KernelSpec& spec, const std::string& name, const std::set<std::string>& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [&](const std::string& size) {
    return std::all_of(spec.cases.begin(), spec.cases.end(), [&](const core::Case& c) {
      const core::Sizes at = core::IntegerScalars(c);
      const auto whole = at.find(size), part = at.find(name);
      return whole != at.end() && part != at.end() && part->second > 1 && whole->second % part->second == 0;
    });
  });
}

// Each floating-point scalar by itself.
std::vector<core::Case> WithEachScalar(const core::KernelSpec& spec, const core::Case& c, double value) {
  std::vector<core::Case> others;
  for (const core::Argument& argument : spec.args) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    if (scalar == nullptr || !core::IsFloat(scalar->dtype) || !c.scalars.contains(argument.name)) continue;
    core::Case& other = others.emplace_back(c);
    other.scalars[argument.name] = value;
    other.name += fmt::format(", with {}={}", argument.name, value);
  }
  return others;
}

}  // namespace

std::vector<core::Case> OtherScalars(const core::KernelSpec& spec, const core::Case& c, uint64_t secret) {
  const base::CounterRandom random(secret, kScalarStream);
  constexpr int kDrawn = 3;
  uint64_t draws = 0;
  const auto change = [&](int which, double value) {
    switch (which) {
      case 0: return 0.75 * value;
      case 1: return std::ldexp(value, -8);
      case 2: return 0.0;
      case 3: return 1.0;
      case 4: return -value;
      default: return random.Uniform(draws++) * std::max(1.0, 2 * std::fabs(value));
    }
  };
  std::vector<core::Case> others;
  for (int which = 0; which < 5 + kDrawn; ++which) {
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
  // One of several that is 0 may mean that something is left out, which the others' zeros would hide.
  std::vector<core::Case> zero = WithEachScalar(spec, c, 0);
  if (zero.size() > 1) std::move(zero.begin(), zero.end(), std::back_inserter(others));
  return others;
}

std::vector<core::Case> WithoutScalars(const core::KernelSpec& spec, const core::Case& c) {
  return WithEachScalar(spec, c, 0);
}
std::vector<core::Case> WithInfiniteScalars(const core::KernelSpec& spec, const core::Case& c) {
  return WithEachScalar(spec, c, std::numeric_limits<double>::infinity());
}

namespace {

// Whether the two differ in two numbers, each of which is 0 in one of them and 1 in the other.
bool AreToggled(const core::Case& c, const core::Case& other) {
  size_t toggled = 0;
  for (const auto& [name, value] : c.scalars) {
    const core::ScalarValue& to = other.scalars.at(name);
    if (value == to) continue;
    const auto *before = std::get_if<int64_t>(&value), *after = std::get_if<int64_t>(&to);
    if (before == nullptr || after == nullptr || (*before != 0 && *before != 1) || *after != 1 - *before) return false;
    ++toggled;
  }
  return toggled == 2;
}

}  // namespace

std::vector<core::Case> OtherIntegers(const core::KernelSpec& spec, const core::Case& c) {
  const std::set<std::string> sizes = ShapeScalars(spec);
  const SizeRelations relations = SizeRelations::Of(spec);
  std::vector<core::Case> others;
  for (const core::Argument& argument : spec.args) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    const auto found = c.scalars.find(argument.name);
    if (scalar == nullptr || core::IsFloat(scalar->dtype) || found == c.scalars.end()) continue;
    if (sizes.contains(argument.name) || relations.Has(argument.name) || relations.IsOfWindow(argument.name)) continue;
    const auto value = static_cast<int64_t>(std::visit([](auto v) { return static_cast<double>(v); }, found->second));
    std::set<int64_t> values = {1};
    if (value == 0 || value == 1) values = {1 - value, -1, 2, 5};  // a flag, or a code: those that nobody declared
    else if (value > 1 && !DividesSizes(spec, argument.name, sizes)) values.insert({-1, value + 1, 2 * value + 1});
    if (scalar->dtype == core::DType::kI64) values.insert(value + (int64_t{5} << 32));
    for (const int64_t to : values) {
      if (to == value || (to < 0 && scalar->dtype == core::DType::kU32)) continue;
      if (scalar->dtype == core::DType::kBool && to != 1 - value) continue;
      core::Case& other = others.emplace_back(c);
      other.scalars[argument.name] = to;
      other.name += fmt::format(", with {}={}", argument.name, to);
    }
  }
  // Two at once: flags that have a path for both.
  constexpr size_t kMostPairs = 6;
  const size_t alone = others.size();
  for (size_t a = 0; a < alone; ++a)
    for (size_t b = 0; b < a && others.size() < alone + kMostPairs; ++b) {
      core::Case both = others[a];
      for (const auto& [name, value] : others[b].scalars)
        if (value != c.scalars.at(name)) both.scalars[name] = value;
      both.name += others[b].name.substr(c.name.size());
      if (AreToggled(c, both)) others.push_back(std::move(both));
    }
  return others;
}

std::vector<core::Case> DecidedShapes(const core::KernelSpec& spec, const core::Case& c,
                                      const std::vector<core::Decision>& decisions, const Fits& fits) {
  constexpr size_t kMost = 24;
  std::vector<core::Case> shapes;
  std::set<std::map<std::string, core::ScalarValue>> seen = {c.scalars};
  const auto add = [&](const std::string& name, core::ScalarValue value) {
    core::Case other = c;
    other.scalars[name] = value;
    if (shapes.size() >= kMost || !seen.insert(other.scalars).second || (fits && !fits(other))) return;
    std::visit([&](auto v) { other.name = fmt::format("{} with {}={}", c.name, name, v); }, value);
    shapes.push_back(std::move(other));
  };
  const auto change = [&](const core::Argument& argument, const core::Decision& decision) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    const auto found = c.scalars.find(argument.name);
    if (scalar == nullptr || found == c.scalars.end()) return;
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, found->second);
    if (core::IsFloat(scalar->dtype)) {
      // Compared as it is.
      const auto rounded = static_cast<float>(value);
      for (const auto& [mine, other] : {std::pair{decision.left, decision.right}, {decision.right, decision.left}})
        if (mine == value || static_cast<float>(mine) == rounded) add(argument.name, other);
      return;
    }
    const double apart = decision.right - decision.left;
    if (!(std::fabs(apart) <= INT32_MAX)) return;
    for (const double to : {value + apart, value - apart}) {
      if (to < 1 || to > INT32_MAX) continue;
      const auto size = static_cast<int64_t>(to);
      add(argument.name, size);
      if (!decision.equality)
        add(argument.name, size > static_cast<int64_t>(value) ? size + 1 : std::max<int64_t>(size - 1, 1));
    }
  };
  for (const core::Decision& decision : decisions)
    for (const core::Argument& argument : spec.args) change(argument, decision);
  return shapes;
}

std::vector<core::Case> ReducedShapes(const core::KernelSpec& spec, const core::Case& c, double share) {
  std::vector<core::Case> shapes;
  const WholeGroups groups(spec);
  for (const std::string& name : ShapeScalars(spec)) {
    const auto found = c.scalars.find(name);
    if (found == c.scalars.end() || !std::holds_alternative<int64_t>(found->second)) continue;
    const auto value = std::get<int64_t>(found->second);
    const auto reduced = static_cast<int64_t>(static_cast<double>(value) * share);
    if (reduced < 1 || reduced >= value) continue;  // even one element of it is too much work
    core::Case smaller = c;
    smaller.scalars[name] = reduced;
    groups.Keep(smaller);
    if (smaller.scalars == c.scalars) continue;
    smaller.name = fmt::format("{} with {}={}", c.name, name, std::get<int64_t>(smaller.scalars[name]));
    shapes.push_back(std::move(smaller));
  }
  return shapes;
}

}  // namespace warpwright::judge
