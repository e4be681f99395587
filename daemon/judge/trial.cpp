#include "judge/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace warpwright::judge {
namespace {

constexpr uint32_t kMostUnaligned = 8, kMostInPairs = 4;  // buffers, each by itself, and every two of them
uint32_t BufferCount(const core::KernelSpec& spec) {
  return static_cast<uint32_t>(std::count_if(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    return std::holds_alternative<core::BufferArgument>(argument.kind);
  }));
}

constexpr uint64_t kTrialStream = 0x747269616cULL, kNanStream = kTrialStream + 1;

// Numbers at which arithmetic on ordinary values may change. Those that are no sizes of tiles come first.
std::vector<double> Thresholds(const std::vector<double>& named) {
  constexpr size_t kMost = 2;
  constexpr double kLeast = 0x1.0p-20, kLargest = 100;
  std::vector<double> numbers;
  for (const double number : named) {
    const double magnitude = std::fabs(number);
    const bool known = std::find(numbers.begin(), numbers.end(), magnitude) != numbers.end();
    if (magnitude >= kLeast && magnitude <= kLargest && magnitude != 1 && !known) numbers.push_back(magnitude);
  }
  const auto of_tile = [](double number) { return number >= 4 && std::exp2(std::ilogb(number)) == number; };
  std::stable_partition(numbers.begin(), numbers.end(), [&](double number) { return !of_tile(number); });
  if (numbers.size() > kMost) numbers.resize(kMost);
  return numbers;
}

}  // namespace

InputVariant SpecialVariant(const core::KernelSpec& spec) {
  if (spec.special == core::SpecialInputs::kFinite) return InputVariant::kSpecialFinite;
  return HasIntegerOutput(spec) ? InputVariant::kSpecialNumbers : InputVariant::kSpecialValues;
}

bool HasIntegerOutput(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && !core::IsFloat(buffer->dtype) &&
           (buffer->role == core::Role::kOut || buffer->role == core::Role::kInOut);
  });
}

std::vector<Placing> PlacingsOf(const core::KernelSpec& spec) {
  const uint32_t all = BufferCount(spec), buffers = std::min(all, kMostUnaligned);
  std::vector<Placing> placings = {{Pointers::kTwice}};
  if (all > kMostInPairs) placings.push_back({Pointers::kMixed});
  for (uint32_t i = 0; i < buffers && buffers > 1; ++i)
    for (const Pointers pointers : {Pointers::kSome, Pointers::kSomeTwice}) placings.push_back({pointers, 1u << i});
  for (uint32_t i = 0; i < buffers && buffers > 2 && all <= kMostInPairs; ++i)
    for (uint32_t j = 0; j < i; ++j) placings.push_back({Pointers::kSome, 1u << i | 1u << j});
  return placings;
}

bool HasNarrowAlignment(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && buffer->alignment < 256;
  });
}

std::string Trial::Describe() const {
  std::string text = c.name;
  if (variant != InputVariant::kBase) text += fmt::format(", inputs {}", Name(variant));
  if (pointers == Pointers::kLeast) text += ", pointers at their least alignment";
  if (pointers == Pointers::kTwice) text += ", pointers at twice their least alignment";
  if (pointers == Pointers::kMixed) text += ", some pointers at their least alignment";
  if (pointers == Pointers::kSome || pointers == Pointers::kSomeTwice) {
    std::string numbers;
    for (uint32_t i = 0; i < kMostUnaligned; ++i)
      if ((unaligned >> i & 1) != 0) numbers += fmt::format("{}{}", numbers.empty() ? "" : " and ", i);
    text += fmt::format(", buffer {} alone at {}its least alignment", numbers,
                        pointers == Pointers::kSomeTwice ? "twice " : "");
  }
  return text;
}

std::string Trial::Key() const {
  std::string key = fmt::format("{}/{}/{}.{}{}", Name(variant), seed, static_cast<int>(pointers), unaligned,
                                bare      ? "/bare"
                                : careful ? "/careful"
                                          : "");
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
    case Pointers::kSome: return index < kMostUnaligned && (trial.unaligned >> index & 1) != 0 ? least : 0;
    case Pointers::kSomeTwice:
      return index < kMostUnaligned && (trial.unaligned >> index & 1) != 0 && 2 * least < kAllocators ? 2 * least : 0;
    case Pointers::kMixed: return (trial.seed >> (index % 64) & 1) != 0 ? least : 0;
  }
  return 0;
}

std::vector<core::BufferContent> PlacedFor(const core::KernelSpec& spec, const Trial& trial,
                                           std::vector<core::BufferContent> buffers) {
  size_t index = 0;
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind); buffer != nullptr) {
      buffers[index].pointer_offset = PointerOffset(trial, *buffer, index);
      ++index;
    }
  return buffers;
}

Result<uint64_t> BufferBytes(const core::Argument& argument, const core::Case& c) {
  WW_ASSIGN(const std::vector<int64_t> shape, core::ShapeOf(argument, c));
  uint64_t bytes = core::SizeOf(std::get<core::BufferArgument>(argument.kind).dtype);
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return UINT64_MAX;
  return bytes;
}

// Buffers that are as long as MakeInputs makes them. nullopt: the manifest allows no such call.
static std::optional<core::UpcomingCall> UpcomingCallOf(const core::KernelSpec& spec, const Trial& trial) {
  core::UpcomingCall call{.scalars = trial.c.scalars, .buffers = {}};
  for (const core::Argument& argument : spec.args) {
    if (!std::holds_alternative<core::BufferArgument>(argument.kind)) continue;
    const auto bytes = BufferBytes(argument, trial.c);
    if (!bytes || *bytes == UINT64_MAX) return std::nullopt;
    call.buffers.push_back({.name = argument.name, .bytes = {}, .repeated_bytes = *bytes});
  }
  call.buffers = PlacedFor(spec, trial, std::move(call.buffers));
  return call;
}

std::vector<core::UpcomingCall> UpcomingCalls(const core::KernelSpec& spec, std::span<const Trial> later) {
  std::vector<core::UpcomingCall> calls;
  for (const Trial& trial : later.first(std::min(later.size(), kMostUpcoming)))
    if (auto call = UpcomingCallOf(spec, trial)) calls.push_back(std::move(*call));
  return calls;
}

bool NeedsSize(const Trial& trial) {
  switch (trial.variant) {
    case InputVariant::kNeedle:
    case InputVariant::kDominant:
    case InputVariant::kExactIntegers:
    case InputVariant::kTies:
    case InputVariant::kZeroRuns:
    case InputVariant::kIntegerEqual:
    case InputVariant::kIntegerBeyond: return true;
    default: return trial.check == core::Check::kSecretSeed;
  }
}

// Beside sums that grow long, what code that is vectorized, or divides its work otherwise, leaves out: values that are
// no ordinary numbers, and places of pointers. Lognormal numbers are all positive: their sums are as long as they get.
bool NeedsProductionSize(const Trial& trial) {
  const bool few = trial.variant == InputVariant::kInfiniteRows || trial.variant == InputVariant::kInfiniteColumns ||
                   trial.variant == InputVariant::kLoneNan;
  return NeedsSize(trial) || (HasSpecialInputs(trial) && !few) || trial.variant == InputVariant::kLognormal ||
         (trial.check == core::Check::kPointerOffset && trial.pointers != Pointers::kSome &&
          trial.pointers != Pointers::kSomeTwice);
}

bool HasSpecialInputs(const Trial& trial) {
  switch (trial.variant) {
    case InputVariant::kSpecialValues:
    case InputVariant::kSpecialNumbers:
    case InputVariant::kSpecialFinite:
    case InputVariant::kZerosFacing:
    case InputVariant::kInfiniteRows:
    case InputVariant::kInfiniteColumns:
    case InputVariant::kOldValues:
    case InputVariant::kLoneNan:
    case InputVariant::kMaxFinite:
    case InputVariant::kTiny:
    case InputVariant::kSubnormal: return true;
    default: return false;
  }
}
bool HasInfiniteScalar(const Trial& trial) {
  return std::any_of(trial.c.scalars.begin(), trial.c.scalars.end(), [](const auto& scalar) {
    return std::visit([](auto value) { return std::isinf(static_cast<double>(value)); }, scalar.second);
  });
}
bool LacksTruth(const Trial& trial) { return trial.bare || (HasSpecialInputs(trial) && !trial.careful); }

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
    if (full) {  // others at sizes that ask for vectors (generated_shapes.h)
      Trial& trial = add(core::Check::kPointerOffset, InputVariant::kBase);
      trial.pointers = Pointers::kTwice;
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
  add(core::Check::kSpecialValues, SpecialVariant(spec));
  if (!full) return trials;
  add(core::Check::kSpecialValues, InputVariant::kMaxFinite);
  if (spec.special != core::SpecialInputs::kFinite)
    for (const InputVariant variant : {InputVariant::kInfiniteRows, InputVariant::kInfiniteColumns})
      add(core::Check::kSpecialValues, variant);
  if (SpecialVariant(spec) == InputVariant::kSpecialValues)
    for (const InputVariant variant : {InputVariant::kZerosFacing, InputVariant::kLoneNan})
      add(core::Check::kSpecialValues, variant);
  if (SpecialVariant(spec) == InputVariant::kSpecialValues && OldValuesApply(spec))
    add(core::Check::kSpecialValues, InputVariant::kOldValues);
  add(core::Check::kNeedle, InputVariant::kDominant);
  // Atomic additions of floats flush subnormal numbers: where any order of sums is allowed, they are expected.
  const bool flushes = spec.allow.contains(core::Allow::kNondeterministic);
  if (!spec.allow.contains(core::Allow::kReducedPrecision) && !flushes)
    for (const InputVariant variant : {InputVariant::kTiny, InputVariant::kSubnormal})
      add(core::Check::kScaleLadder, variant);
  for (const InputVariant variant :
       {InputVariant::kNormal, InputVariant::kUniform, InputVariant::kPareto, InputVariant::kLognormal,
        InputVariant::kConstant, InputVariant::kTies, InputVariant::kSorted, InputVariant::kWide,
        InputVariant::kBufferScales, InputVariant::kZeroRuns, InputVariant::kOffset, InputVariant::kEqualRows}) {
    if (variant == InputVariant::kEqualRows && flushes) continue;  // one of its rows is subnormal
    add(core::Check::kDistributions, variant);
  }
  if (!named.empty()) {
    Trial& trial = add(core::Check::kDistributions, InputVariant::kNamed);
    trial.named = named;
    trial.bare = true;
  }
  for (const double number : Thresholds(named))
    add(core::Check::kDistributions, InputVariant::kAroundNamed).named = {number};
  return trials;
}

std::vector<Trial> NanTrials(const core::Case& c, uint64_t secret) {
  const base::CounterRandom seeds(secret, kNanStream);
  std::vector<Trial> trials;
  for (const InputVariant variant : {InputVariant::kSpecialValues, InputVariant::kLoneNan})
    trials.push_back(
        {.check = core::Check::kSpecialValues, .c = c, .variant = variant, .seed = seeds.Bits(trials.size())});
  return trials;
}

}  // namespace warpwright::judge
