// How a compiled module is encoded (base/fields.h). The cubin is a blob: the code that stores a module decides where it
// goes.
#pragma once

#include "base/fields.h"
#include "core/compiled.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const KernelResources*) {
  using T = KernelResources;
  field("kernel", &T::kernel);
  field("symbol", &T::symbol);
  field("registers", &T::registers);
  field("spill_store", &T::spill_store_bytes);
  field("spill_load", &T::spill_load_bytes);
  field("shared", &T::static_shared_bytes);
  field("local", &T::local_bytes);
  field("constant", &T::constant_bytes);
  field("max_threads", &T::max_threads_per_block);
}
template <typename V>
void Describe(V& field, const CompiledModule*) {
  using T = CompiledModule;
  field("arch", &T::arch);
  field("ptx", &T::ptx);
  field.Untold(&T::cubin);
  field("kernels", &T::kernels);
  field("log", &T::log);
  field("key", &T::key);
}

}  // namespace warpwright::core
