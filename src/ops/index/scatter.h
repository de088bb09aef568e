#pragma once

#include <c10/util/FunctionRef.h>

#include "ops/index/indexed.h"

namespace torch_webgpu::ops {

// The walk over a tensor that stands in for self (of its sizes and dtype, or
// wider).
using MakeIndexing = c10::function_ref<Indexing(const at::Tensor&)>;

// indexed_write that adds up 16-bit floats in float32.
void combine_into(const at::Tensor& self, MakeIndexing,
                  const at::Tensor& values, Combine);

}  // namespace torch_webgpu::ops
