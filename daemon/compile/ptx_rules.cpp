#include "compile/ptx_rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>

namespace warpwright::compile {
namespace {

// Delimiters of PTX tokens. Rules match whole tokens, so that a kernel may be called "evict_last" and a variable
// "vprintf_calls".
constexpr const char* kBetween = " \t\r\v\f,;{}()[]|!";
constexpr const char* kBlank = " \t\r\v\f";

// "%clock64", "%globaltimer_lo", "%pm3", "%envreg17": they distinguish one launch from another. So does the ID that the
// driver assigns to a grid; and the multiprocessor that a block runs on distinguishes a device from a simulator. Two
// hold where the barrier of a cooperative grid is, whose other bits a simulator draws anew for every launch.
bool IsTimeRegister(std::string_view token) {
  if (token == "%envreg1" || token == "%envreg2") return false;
  for (const std::string_view name :
       {"%clock", "%globaltimer", "%pm", "%envreg", "%gridid", "%smid", "%nsmid", "%warpid", "%nwarpid"}) {
    if (token.substr(0, name.size()) != name) continue;
    const std::string_view rest = token.substr(name.size());
    if (rest.find_first_not_of("0123456789_hilo") == std::string_view::npos) return true;
  }
  return false;
}

// An opcode or its modifiers: "nanosleep.u32", "ld.global.L2::evict_last.f32".
std::optional<core::Allow> NeedOfOpcode(std::string_view token) {
  if (token.find('.') == std::string_view::npos)
    return std::nullopt;  // all of these have modifiers; a plain name is a symbol
  bool opcode = true;
  while (!token.empty()) {
    const size_t dot = std::min(token.find('.'), token.size());
    const std::string_view part = token.substr(0, dot);
    if (opcode && part == "nanosleep") return core::Allow::kClock;
    if (opcode && (part == "createpolicy" || part == "applypriority")) return core::Allow::kCachePolicy;
    // A policy for cache_hint need not come from createpolicy: a constant suffices.
    if (!opcode &&
        (part.find("evict_last") != std::string_view::npos || part.find("cache_hint") != std::string_view::npos))
      return core::Allow::kCachePolicy;
    opcode = false;
    token.remove_prefix(std::min(dot + 1, token.size()));
  }
  return std::nullopt;
}

// The line with each comment replaced by a blank: inline assembly may put a comment between any two tokens, and the
// assembler ignores it. `open`: whether the line begins inside a comment; on return, whether it ends inside one.
std::string WithoutComments(std::string_view line, bool& open) {
  std::string kept;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view pair = line.substr(i, 2);
    if (open) {
      open = pair != "*/";
      if (!open) ++i;
    } else if (!quoted && pair == "/*") {
      open = true;
      kept += ' ';
      ++i;
    } else if (!quoted && pair == "//") {
      break;
    } else {
      quoted = quoted != (line[i] == '"');
      kept += line[i];
    }
  }
  return kept;
}

// The first permission that the line needs and does not have.
std::optional<core::Allow> NeedOf(std::string_view line, const std::set<core::Allow>& allowed) {
  const bool declares = line.find(".func") != std::string_view::npos;
  for (size_t begin = 0; (begin = line.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const std::string_view token = line.substr(begin, line.find_first_of(kBetween, begin) - begin);
    begin += token.size();
    std::optional<core::Allow> need = NeedOfOpcode(token);
    if (IsTimeRegister(token)) need = core::Allow::kClock;
    if (token == "vprintf" && !declares) need = core::Allow::kPrintf;
    if (token == "malloc" && !declares) need = core::Allow::kState;  // the device's heap outlives the launch
    if (need && allowed.count(*need) == 0) return need;
  }
  return std::nullopt;
}

std::string Trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, std::min<size_t>(line.find_last_not_of(" \t;,") - begin + 1, 120));
}

// .file directives, which NVRTC writes at the end.
std::map<int, std::string> FileTable(const std::string& ptx) {
  std::map<int, std::string> files;
  for (size_t at = ptx.find(".file"); at != std::string::npos; at = ptx.find(".file", at + 1)) {
    int index = 0;
    const size_t open = ptx.find('"', at), close = open == std::string::npos ? open : ptx.find('"', open + 1);
    if (close != std::string::npos && std::sscanf(ptx.c_str() + at, ".file %d", &index) == 1)
      files[index] = ptx.substr(open + 1, close - open - 1);
  }
  return files;
}

// The assembler accepts blanks and line ends before a modifier ("nanosleep .u32 100"): joins the opcode and its
// modifiers into one token.
std::string WithJoinedModifiers(std::string_view line) {
  std::string joined;
  for (const char c : line) {
    if (c == '.' && !joined.empty()) {
      const size_t word = joined.find_last_not_of(kBlank);
      if (word != std::string::npos &&
          (std::isalnum(static_cast<unsigned char>(joined[word])) != 0 || joined[word] == '_'))
        joined.resize(word + 1);
    }
    joined += c;
  }
  return joined;
}
// Whether the line ends after an opcode or one of its modifiers, so that the next line may continue it. Directives end
// with their line.
bool IsUnfinished(std::string_view line) {
  const size_t statement = line.find_first_not_of(kBlank, line.find_last_of(";{}") + 1),
               last = line.find_last_not_of(kBlank);
  return statement != std::string_view::npos && statement <= last && line[statement] != '.' &&
         (std::isalnum(static_cast<unsigned char>(line[last])) != 0 || line[last] == '_');
}

// Visits the lines of PTX, each with the source line from .loc.
template <typename Visit>  // (const std::string& line, int file, int source_line)
void ForEachLine(const std::string& ptx, Visit visit) {
  std::istringstream lines(ptx);
  int file = 0, source_line = 0;
  bool comment = false;
  constexpr size_t kLongestStatement = 4096;
  std::string pending;
  for (std::string raw; std::getline(lines, raw);) {
    const size_t begin = raw.find_first_not_of(" \t");
    if (begin != std::string::npos && raw.compare(begin, 4, ".loc") == 0)
      std::sscanf(raw.c_str() + begin, ".loc %d %d", &file, &source_line);
    pending += WithoutComments(raw, comment);
    if (IsUnfinished(pending) && pending.size() < kLongestStatement) {
      pending += ' ';
      continue;
    }
    // No line is skipped: inline assembly may put several statements on one line.
    visit(WithJoinedModifiers(pending), file, source_line);
    pending.clear();
  }
  visit(WithJoinedModifiers(pending), file, source_line);
}

// The number of significant bits decides which type is narrower; a type that is not listed is not a floating-point
// type. Packed forms (f16x2) count as their element.
struct FloatType {
  core::NumberFormat format;
  int bits;
};
using F = core::NumberFormat;
constexpr FloatType kFloatTypes[] = {{F::kF64, 53}, {F::kF32, 24}, {F::kTF32, 11}, {F::kF16, 11},
                                     {F::kBF16, 8}, {F::kE4M3, 4}, {F::kE5M2, 3},  {F::kE3M2, 3},
                                     {F::kE2M3, 4}, {F::kE2M1, 2}, {F::kUE8M0, 1}};
std::string_view Element(std::string_view type) {
  const size_t x = type.find_last_of('x');
  if (x == std::string_view::npos || x + 2 != type.size() || x < 3) return type;
  return type.substr(0, x);
}
const FloatType* FindFloat(std::string_view part) {
  for (const FloatType& type : kFloatTypes)
    if (core::Name(type.format) == Element(part)) return &type;
  return nullptr;
}
std::optional<F> IntegerInput(std::string_view part) {
  for (const auto& [ptx, format] :
       {std::pair{"s8", F::kI8}, {"u8", F::kU8}, {"s4", F::kI4}, {"u4", F::kU4}, {"b1", F::kB1}})
    if (part == ptx) return format;
  return std::nullopt;
}
bool Rounds(std::string_view operation) {
  for (const std::string_view name : {"add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2",
                                      "tanh", "sin", "cos", "atom", "red"})
    if (operation == name) return true;
  return false;
}

std::vector<std::string_view> PartsOf(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= opcode.size();) {
    const size_t dot = std::min(opcode.find('.', begin), opcode.size());
    parts.push_back(opcode.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return parts;
}

using Kind = core::CodeUseKind;

// mma.….D.A.B.C, wgmma.mma_async.….D.A.B, wmma.mma.….D.C (of f16 inputs) or with all four.
void AddProduct(const std::vector<std::string_view>& parts, std::vector<core::CodeUse>& uses) {
  std::vector<std::string_view> types;
  for (const std::string_view part : parts)
    if (FindFloat(part) != nullptr || IntegerInput(part) || part == "s32") types.push_back(part);
  if (types.empty()) return;
  const bool implied = parts[0] == "wmma" && types.size() == 2;
  for (size_t i = 1; i < std::min<size_t>(3, types.size()); ++i) {
    const std::string_view input = implied ? "f16" : types[i];
    const FloatType* type = FindFloat(input);
    if (type != nullptr && type->bits < 24) uses.push_back({Kind::kProducts, type->format, {}});
    if (type == nullptr)
      if (const auto format = IntegerInput(input)) uses.push_back({Kind::kProducts, *format, {}});
  }
  if (const FloatType* sum = FindFloat(types[0]); sum != nullptr && sum->bits < 24)
    uses.push_back({Kind::kSums, sum->format, {}});
}

// What an opcode with its modifiers does less exactly than f32 or f64 would.
std::vector<core::CodeUse> UsesOf(std::string_view opcode) {
  const std::vector<std::string_view> parts = PartsOf(opcode);
  std::vector<core::CodeUse> uses;
  if (parts.size() < 2) return uses;
  const auto has = [&](std::string_view part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
  const FloatType* last = FindFloat(parts.back());
  if (parts[0] == "cvt" && parts.size() >= 3) {
    const FloatType* to = FindFloat(parts[parts.size() - 2]);
    if (to != nullptr && last != nullptr && to->bits < last->bits) uses.push_back({Kind::kConversion, to->format, {}});
    return uses;
  }
  if (parts[0] == "mma" || parts[0] == "wgmma" || parts[0] == "tcgen05" || (parts[0] == "wmma" && parts[1] == "mma"))
    AddProduct(parts, uses);
  if (last == nullptr) return uses;
  if ((parts[0] == "atom" || parts[0] == "red") && has("add")) uses.push_back({Kind::kUnorderedSums, last->format, {}});
  if (Rounds(parts[0]) && last->bits < 24) uses.push_back({Kind::kArithmetic, last->format, {}});
  if (has("approx") || has("full")) uses.push_back({Kind::kApproximate, {}, std::string(parts[0])});
  else if (has("ftz") && Rounds(parts[0])) uses.push_back({Kind::kFlushed, {}, {}});
  return uses;
}

std::vector<std::string_view> TokensOf(std::string_view line) {
  std::vector<std::string_view> tokens;
  for (size_t begin = 0; (begin = line.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    tokens.push_back(line.substr(begin, line.find_first_of(kBetween, begin) - begin));
    begin += tokens.back().size();
  }
  return tokens;
}

// "0f3F800000", a number that is the same in f16 and in bf16.
bool IsExactInHalves(std::string_view literal) {
  uint32_t bits = 0;
  if (literal.size() != 10 || !literal.starts_with("0f")) return false;
  const auto [end, error] = std::from_chars(literal.data() + 2, literal.data() + 10, bits, 16);
  if (error != std::errc() || end != literal.data() + 10) return false;
  const uint32_t exponent = bits >> 23 & 0xff;
  return (bits & 0x7fffffff) == 0 || ((bits & 0xffff) == 0 && exponent >= 127 - 14 && exponent <= 127 + 15);
}

// Registers that hold such a number wherever they are written: padding with __float2half(0.0f) rounds nothing.
std::set<std::string, std::less<>> ExactRegisters(const std::string& ptx) {
  std::set<std::string, std::less<>> exact, others;
  ForEachLine(ptx, [&](const std::string& line, int, int) {
    const std::vector<std::string_view> tokens = TokensOf(line);
    if (tokens.empty()) return;
    if (tokens.size() == 3 && tokens[0] == "mov.f32" && IsExactInHalves(tokens[2])) {
      exact.emplace(tokens[1]);
      return;
    }
    // What a plain instruction writes comes first; whatever else is on a line may be written.
    const bool plain = std::count(line.begin(), line.end(), ';') == 1 && line.find('{') == std::string::npos &&
                       tokens[0].find_first_of("@:") == std::string_view::npos && !tokens[0].starts_with("call");
    const bool converts = tokens.size() == 3 && tokens[0].starts_with("cvt.rn.");
    for (size_t k = 1; k < tokens.size() && (k == 1 || (!plain && !converts)); ++k) others.emplace(tokens[k]);
  });
  std::erase_if(exact, [&](const std::string& name) { return others.contains(name); });
  return exact;
}

}  // namespace

core::CodeUses FindPrecision(const std::string& ptx) {
  core::CodeUses found;
  const auto files = FileTable(ptx);
  const auto exact = ExactRegisters(ptx);
  ForEachLine(ptx, [&](const std::string& line, int file, int source_line) {
    if (const auto tokens = TokensOf(line);
        tokens.size() == 3 && tokens[0].starts_with("cvt.rn.") && exact.contains(tokens[2]))
      return;
    for (size_t begin = 0; (begin = line.find_first_not_of(kBetween, begin)) != std::string::npos;) {
      const std::string_view token = std::string_view(line).substr(begin, line.find_first_of(kBetween, begin) - begin);
      begin += token.size();
      if (token[0] == '.' || token[0] == '%') continue;
      for (core::CodeUse& use : UsesOf(token)) {
        const auto name = files.find(file);
        found.insert({.use = std::move(use),
                      .instruction = Trimmed(line),
                      .file = name != files.end() ? name->second : "",
                      .line = source_line});
      }
    }
  });
  return found;
}

std::vector<PtxViolation> FindPtxViolations(const std::string& ptx, const std::set<core::Allow>& allowed) {
  std::vector<PtxViolation> violations;
  const auto files = FileTable(ptx);
  ForEachLine(ptx, [&](const std::string& line, int file, int source_line) {
    const auto need = NeedOf(line, allowed);
    if (!need) return;
    const auto found = files.find(file);
    violations.push_back({Trimmed(line), *need, found != files.end() ? found->second : "", source_line});
  });
  return violations;
}

}  // namespace warpwright::compile
