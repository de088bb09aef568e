#include "ops/kernel/parts.h"

#include <ATen/ops/as_strided.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "ops/kernel/launch.h"

namespace torch_webgpu::ops {
namespace {

using Views = c10::SmallVector<at::Tensor, 6>;

Views views_of(std::span<const at::Tensor* const> tensors, uint64_t units,
               uint64_t begin, uint64_t count) {
  Views views;
  for (const at::Tensor* tensor : tensors) {
    if (!tensor->defined() || count == units) {
      views.push_back(*tensor);
      continue;
    }
    const int64_t each = tensor->numel() / int64_t(units);
    views.push_back(
        at::as_strided(*tensor, {int64_t(count) * each}, {1},
                       tensor->storage_offset() + int64_t(begin) * each));
  }
  return views;
}

uint32_t bindings_of(const Views& views) {
  uint32_t bindings = 0;
  for (const at::Tensor& view : views)
    bindings += view.defined() ? windows_of(view) : 0;
  return bindings;
}

}  // namespace

void for_parts(const Division& division,
               std::initializer_list<const at::Tensor*> tensors,
               c10::function_ref<void(const Part&)> run) {
  const uint64_t units = division.units;
  const auto views = [&](uint64_t begin, uint64_t size) {
    return views_of({tensors.begin(), tensors.size()}, units, begin,
                    std::min(size, units - begin));
  };
  const auto fits = [&](uint64_t size) {
    for (uint64_t begin = 0; begin < units; begin += size) {
      if (bindings_of(views(begin, size)) > division.bindings) return false;
    }
    return true;
  };
  uint64_t size = units;
  while (size > division.multiple && !fits(size))
    size = ceil_div(ceil_div(size, 2), division.multiple) * division.multiple;
  for (uint64_t begin = 0; begin < units; begin += size) {
    const Views parts = views(begin, size);
    run({begin, std::min(size, units - begin), parts});
  }
}

}  // namespace torch_webgpu::ops
