// What kernel stubs and rewritten launches call. Compiled into every host slice; record_runtime.cpp is behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace ww {

// The line of the user's file: what is compiled lacks the lines that are empty in the host slice, so that changes of
// device code leave it as it is (recorder_build.cpp); which line is which comes with a run's input.
int UserLine(const char* file, int line);
// The place of a call, as its last parameters.
#define WW_HERE const char *ww_file = __builtin_FILE(), int ww_line = ::ww::UserLine(__builtin_FILE(), __builtin_LINE())

[[noreturn]] void AssertFailed(const char* condition, const char* file, int line);

struct ParameterLayout {
  uint32_t bytes;
  bool pointer;
  bool writes;  // pointer to something not const
};
struct Kernel {
  Kernel(std::string kernel_name, std::vector<ParameterLayout> layout)
      : name(std::move(kernel_name)), parameters(std::move(layout)) {}
  std::string name;
  std::vector<ParameterLayout> parameters;
};
struct Symbol {
  const char* name;
  const void* address;
  size_t bytes;
};
extern const Symbol* const symbols;  // of the file: __device__ and __constant__ variables
extern const size_t symbol_count;
void Call();  // the entry with the case's arguments, made by the harness

// ---- names, in source form

// Anonymous namespaces have no name in source.
inline std::string WithoutAnonymous(std::string text) {
  for (const std::string hidden : {"{anonymous}::", "<unnamed>::"}) {
    for (size_t at = text.find(hidden); at != std::string::npos; at = text.find(hidden)) text.erase(at, hidden.size());
  }
  return text;
}
// "const char* ww::TypePretty() [with T = ns::F]" -> "ns::F"
inline std::string Bound(const char* pretty) {
  std::string text(pretty);
  const size_t begin = text.find(" = ") + 3;
  text = text.substr(begin, text.rfind(']') - begin);
  return WithoutAnonymous(std::move(text));
}
template <typename T>
const char* TypePretty() {
  return __PRETTY_FUNCTION__;
}
template <auto V>
const char* ValuePretty() {
  return __PRETTY_FUNCTION__;
}
template <typename T>
std::string TypeName() {
  return Bound(TypePretty<T>());
}
template <auto V>
std::string ValueName() {
  std::string name = Bound(ValuePretty<V>());
  if (name.compare(0, 3, "(& ") == 0) name = "&" + name.substr(3, name.size() - 4);
  return name;
}
template <auto K>
std::string PointerName() {
  return ValueName<K>();
}
// "void ns::k(T*, int) [with T = float]" -> "ns::k"
inline std::string PlainName(const char* pretty) {
  std::string text = WithoutAnonymous(pretty);
  text = text.substr(0, text.find('('));
  const size_t space = text.rfind(' ');
  return space == std::string::npos ? text : text.substr(space + 1);
}
template <typename... Arguments>
std::string Instance(std::string name, const Arguments&... arguments) {
  std::string list;
  ((list += (list.empty() ? "" : ", ") + arguments), ...);
  if (sizeof...(arguments) > 0) name += "<" + list + ">";
  return name;
}
inline std::string Overload(const std::string& name, const std::string& type) {
  return "static_cast<" + type + ">(" + name + ")";
}

template <typename... Parameters>
std::vector<ParameterLayout> Layout() {
  return {ParameterLayout{static_cast<uint32_t>(sizeof(Parameters)), std::is_pointer_v<Parameters>,
                          std::is_pointer_v<Parameters> && !std::is_const_v<std::remove_pointer_t<Parameters>>}...};
}

// ---- launching

// While a kernel is being identified by its address, its stub says who it is and touches no argument.
extern bool identifying;
void Identified(const Kernel& kernel);
void RecordLaunch(const Kernel& kernel, const std::vector<std::vector<unsigned char>>& arguments);

template <typename T>
std::vector<unsigned char> BytesOf(const T& value) {
  std::vector<unsigned char> bytes(sizeof(T));
  if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T>) {
    alignas(T) unsigned char copy[sizeof(T)];
    std::memcpy(copy, &value, sizeof(T));
    __builtin_clear_padding(reinterpret_cast<T*>(copy));  // else the plan would hold what the stack held
    std::memcpy(bytes.data(), copy, sizeof(T));
  } else {
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
  return bytes;
}
template <typename... Arguments>
void Launch(const Kernel& kernel, const Arguments&... arguments) {
  if (identifying) return Identified(kernel);
  RecordLaunch(kernel, {BytesOf(arguments)...});
}

// ---- the entry's arguments

void* BufferAddress(size_t index);
const unsigned char* ScalarBytes(size_t index, size_t bytes);
template <typename T>
T* TypedBuffer(size_t index) {
  return static_cast<T*>(BufferAddress(index));
}
struct AnyPointer {
  size_t index;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(const_cast<std::remove_const_t<T>*>(TypedBuffer<std::remove_const_t<T>>(index)));
  }
};
template <typename T>
T Scalar(size_t index) {
  T value;
  std::memcpy(static_cast<void*>(&value), ScalarBytes(index, sizeof(T)), sizeof(T));
  return value;
}

}  // namespace ww
