// x[i, j], x[i, j] = values: any number of index tensors and masks.
#include <ATen/ExpandUtils.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/index/scatter.h"
#include "ops/kernel/dtype.h"
#include "ops/runtime/fallback.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using OptionalTensors = torch::List<std::optional<Tensor>>;

// The index tensors of one shape, as int64 or int32, in the order of self's
// dimensions; undefined where a dimension is not indexed.
struct Indices {
  Tensor self;  // its indexed dimensions lie side by side
  std::vector<Tensor> indices;
  int64_t begin = 0, end = 0;  // the indexed dimensions
};

Indices prepare(const Tensor& self, const at::IOptTensorListRef& list) {
  at::native::checkIndexTensorTypes(list, /*allow_int=*/true);
  TORCH_CHECK_INDEX(int64_t(list.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(),
                    " (got ", list.size(), ")");
  Indices result{self, at::native::expandTensors(self, list, true)};
  TORCH_CHECK_INDEX(int64_t(result.indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim());
  try {
    result.indices = at::expand_outplace(result.indices);
  } catch (const c10::Error&) {
    std::string shapes;
    for (const Tensor& index : result.indices) {
      if (index.defined()) shapes += c10::str(" ", index.sizes());
    }
    TORCH_CHECK_INDEX(false,
                      "shape mismatch: indexing tensors could not be broadcast "
                      "together with shapes",
                      shapes);
  }
  result.indices.resize(self.dim());
  if (!at::native::hasContiguousSubspace(result.indices)) {
    std::tie(result.self, result.indices) =
        at::native::transposeToFront(self, result.indices);
  }
  while (result.begin < self.dim() && !result.indices[result.begin].defined()) {
    ++result.begin;
  }
  result.end = result.begin;
  while (result.end < self.dim() && result.indices[result.end].defined()) {
    const Tensor& index = result.indices[result.end];
    TORCH_CHECK_INDEX(result.self.size(result.end) != 0 || index.numel() == 0,
                      "index is out of bounds for dimension with size 0");
    ++result.end;
  }
  return result;
}

// The walk over the result's sizes: those before the indexed dimensions, the
// indices' own, those behind.
Indexing walk_of(const Indices& given, const Tensor& self) {
  Indexing result;
  result.op = "index";
  result.wraps = true;
  const auto keep = [&](int64_t from, int64_t to) {
    for (int64_t d = from; d < to; ++d) {
      result.sizes.push_back(self.size(d));
      result.self_strides.push_back(self.stride(d));
      result.index_strides.push_back(0);
    }
  };
  result.self_offset = self.storage_offset();
  keep(0, given.begin);
  const int64_t count = given.end - given.begin;
  if (count > 0) {
    const at::TensorList indices(&given.indices[given.begin], count);
    result.index = indices[0];
    if (count == 1) {
      result.kind = indices[0].scalar_type() == at::kLong ? IndexKind::Long
                                                          : IndexKind::Int;
      result.bound = self.size(given.begin);
      result.stride = self.stride(given.begin);
    } else {
      result.kind = IndexKind::Offset;
      result.stride = 1;
      if (indices[0].numel() != 0) {
        result.index = join_indices(result.op, indices,
                                    self.sizes().slice(given.begin, count),
                                    self.strides().slice(given.begin, count));
      }
    }
    result.index_offset = result.index.storage_offset();
    result.indexed_begin = given.begin;
    result.indexed_end = given.begin + result.index.dim();
    for (int64_t d = 0; d < result.index.dim(); ++d) {
      result.sizes.push_back(result.index.size(d));
      result.self_strides.push_back(0);
      result.index_strides.push_back(result.index.stride(d));
    }
  }
  keep(given.end, self.dim());
  return result;
}

// A new tensor for the result, its memory ordered as torch orders it.
Tensor make_result(const Tensor& self, const Indexing& walk) {
  const Tensor source =
      self.as_strided(walk.sizes, walk.self_strides, walk.self_offset);
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .declare_static_dtype_and_device(self.scalar_type(), self.device())
      .add_owned_output(Tensor())
      .add_owned_const_input(source);
  if (walk.index.defined()) {
    config.add_owned_const_input(walk.index.as_strided(
        walk.sizes, walk.index_strides, walk.index_offset));
  }
  return config.build().output();
}

Tensor index_tensor(const Tensor& self, const OptionalTensors& list) {
  const Indices given = prepare(self, list);
  const Indexing walk = walk_of(given, given.self);
  const Tensor out = make_result(given.self, walk);
  indexed_read(given.self, walk, out);
  return out;
}

Tensor& index_out(const Tensor& self, const OptionalTensors& list,
                  Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "index: expected out to have dtype ", self.scalar_type(),
              ", but got ", out.scalar_type());
  const Tensor result = index_tensor(self, list);
  resize_out(out, result.sizes());
  return out.copy_(result);
}

// A single mask, when the assignment is a masked fill: x[mask] = number. The
// mask is given self's dimensions.
Tensor lone_mask(const Tensor& self, const OptionalTensors& list) {
  Tensor mask;
  int64_t before = 0;
  for (const std::optional<Tensor>& entry : list) {
    if (!entry || !entry->defined()) {
      before += mask.defined() ? 0 : 1;
      continue;
    }
    if (mask.defined() || entry->scalar_type() != at::kBool) return {};
    mask = *entry;
  }
  if (!mask.defined() || before + mask.dim() > self.dim()) return {};
  for (int64_t d = 0; d < mask.dim(); ++d) {
    if (mask.size(d) != self.size(before + d)) return {};
  }
  for (int64_t d = before + mask.dim(); d < self.dim(); ++d) {
    mask = mask.unsqueeze(-1);
  }
  return mask.to(self.device());
}

Tensor& index_put_impl_(Tensor& self, const OptionalTensors& list,
                        const Tensor& values_, bool accumulate, bool unsafe) {
  TORCH_CHECK_INDEX(int64_t(list.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(),
                    " (got ", list.size(), ")");
  TORCH_CHECK_INDEX(self.scalar_type() == values_.scalar_type(),
                    "Index put requires the source and destination dtypes "
                    "match, got ",
                    self.scalar_type(), " for the destination and ",
                    values_.scalar_type(), " for the source.");
  if (accumulate && !wgsl::has_dtype(self.scalar_type())) {
    const Tensor result =
        cpu_call("aten::index_put", "", {self, list, values_, accumulate})[0]
            .toTensor();
    return self.copy_(result);
  }
  const bool number = values_.numel() == 1 && !accumulate &&
                      wgsl::has_dtype(self.scalar_type());
  if (const Tensor mask = number ? lone_mask(self, list) : Tensor();
      mask.defined()) {
    return self.masked_fill_(mask, values_.to(self.device()).reshape({}));
  }
  const Tensor values = values_.to(self.device());
  const Indices given = prepare(self, list);
  if (given.begin == given.end) {  // no index tensor at all
    return accumulate ? self.add_(values) : self.copy_(values);
  }
  const auto make = [&](const Tensor& t) { return walk_of(given, t); };
  combine_into(given.self, make, values,
               accumulate ? Combine::Add : Combine::Assign);
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("index.Tensor", &index_tensor);
  m.impl("index.Tensor_out", &index_out);
  m.impl("_index_put_impl_", &index_put_impl_);
}

}  // namespace torch_webgpu::ops
