#include "ops/reduce/reduce.h"

#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/irange.h>

#include <algorithm>

#include "ops/kernel/launch.h"
#include "ops/kernel/profile.h"
#include "ops/reduce/reduce_kernel.h"
#include "ops/reduce/reduce_plan.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::DType;

// A kernel writes whole words of a contiguous tensor of its own.
bool is_writable(const at::Tensor& out, const at::Tensor& self) {
  return out.is_contiguous() &&
         out.storage_offset() % lanes_of(wgsl::dtype_of(out.scalar_type())) ==
             0 &&
         !same_buffer(out, self);
}

void set_walk(const Axes& axes, wgsl::params::Walk& walk,
              wgsl::params::u32x8& strides) {
  for (uint32_t d = 0; d < axes.rank; ++d)
    walk.add(std::max(axes.sizes[d], 1u));  // an empty one is never walked
  strides = axes.strides;
}

uint64_t workgroups(const ReduceVariant& v, uint64_t items) {
  const uint64_t workers = v.access == ReduceAccess::Column
                               ? ceil_div(items, 4)
                               : ceil_div(items, lanes_of(v.o));
  return v.threads == 1 ? ceil_div(workers, kReduceWorkgroup) : workers;
}

void run(Reduction op, const at::Tensor& self, DimMask dims,
         const at::Tensor& out, const at::Tensor& second,
         ReduceNumbers numbers) {
  Axes kept, reduced;
  split_axes(self, dims, is_indexed(op), kept, reduced);
  if (!kept.fits || !reduced.fits) {
    // More than 8 dimensions that do not merge: brought into order first.
    at::DimVector order;
    DimMask last;
    for (const auto d : c10::irange(self.dim())) {
      if (!dims[d]) order.push_back(d);
    }
    for (const auto d : c10::irange(self.dim())) {
      if (!dims[d]) continue;
      last[order.size()] = true;
      order.push_back(d);
    }
    return run(op, self.permute(order).contiguous(), last, out, second,
               numbers);
  }
  const DType a = wgsl::dtype_of(self.scalar_type());
  const DType o = wgsl::dtype_of(out.scalar_type());
  const Plan plan = choose(profile(), kept, reduced, offset_of(self) % 4 == 0);
  const uint8_t windows_q = second.defined() ? windows_of(second) : uint8_t(1);
  ReduceVariant v{op,
                  ReduceStage::Only,
                  compute_for(op, a, o),
                  a,
                  o,
                  plan.access,
                  plan.threads,
                  windows_of(self),
                  windows_of(out),
                  windows_q,
                  0};
  ReduceParams p;
  p.outputs = uint32_t(kept.count);
  p.count = uint32_t(reduced.count);
  p.splits = plan.splits;
  p.chunk = uint32_t(ceil_div(ceil_div(reduced.count, plan.splits), 4) * 4);
  p.a_offset = offset_of(self);
  p.o_offset = offset_of(out);
  p.q_offset = second.defined() ? offset_of(second) : 0;
  p.divisor = float(numbers.divisor);
  p.order = float(numbers.order);
  set_walk(kept, p.kept, p.kept_a);
  set_walk(reduced, p.reduced, p.reduced_a);

  const auto finish = [&](const ReduceVariant& variant,
                          const at::Tensor& from) {
    const uint64_t groups = workgroups(variant, p.outputs);
    if (second.defined()) {
      launch(reduce_kernel(variant), {&from, &out, &second}, p, groups);
    } else {
      launch(reduce_kernel(variant), {&from, &out}, p, groups);
    }
  };
  if (plan.splits == 1) return finish(v, self);

  const int64_t items = int64_t(p.outputs) * p.splits;
  const at::Tensor parts =
      at::empty({4 * items}, self.options().dtype(at::kInt));
  v.op = first_stage_of(op);
  v.stage = ReduceStage::First;
  v.o = DType::I32;
  v.windows_o = windows_of(parts);
  v.windows_q = 1;
  launch(reduce_kernel(v), {&self, &parts}, p, workgroups(v, uint64_t(items)));

  v.op = op;
  v.stage = ReduceStage::Last;
  v.compute = last_compute(op, v.compute);
  v.a = DType::I32;
  v.o = o;
  v.access = ReduceAccess::Element;
  v.threads = last_threads(kept.count, plan.splits);
  v.windows_a = windows_of(parts);
  v.windows_o = windows_of(out);
  v.windows_q = windows_q;
  p.count = p.chunk = p.splits;
  p.splits = 1;
  finish(v, parts);
}

}  // namespace

DimMask reduced_dims(const at::TensorBase& self, at::OptionalIntArrayRef dims,
                     bool empty_is_none) {
  if (dims && dims->empty() && !empty_is_none) dims = std::nullopt;
  return at::dim_list_to_bitset(dims, size_t(self.dim()));
}

at::DimVector reduced_shape(const at::TensorBase& self, DimMask dims,
                            bool keepdim) {
  at::DimVector shape;
  for (const auto d : c10::irange(self.dim())) {
    if (!dims[d]) {
      shape.push_back(self.size(d));
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

int64_t reduced_count(const at::TensorBase& self, DimMask dims) {
  int64_t count = 1;
  for (const auto d : c10::irange(self.dim())) {
    if (dims[d]) count *= self.size(d);
  }
  return count;
}

void check_result_dtype(const at::Tensor& out, at::ScalarType expected) {
  TORCH_CHECK(out.scalar_type() == expected,
              "Expected out tensor to have dtype ", expected, ", but got ",
              out.scalar_type(), " instead");
}

void reduce(Reduction op, const at::Tensor& self, DimMask dims,
            const at::Tensor& out, const at::Tensor& second,
            ReduceNumbers numbers) {
  if (out.numel() == 0) return;
  const DType a = wgsl::dtype_of(self.scalar_type());
  const DType o = wgsl::dtype_of(out.scalar_type());
  if (!is_direct(op, a, o)) {
    TORCH_INTERNAL_ASSERT(a != o && !is_truth(op));
    return reduce(op, self.to(out.scalar_type()), dims, out, second, numbers);
  }
  const bool first_fits = is_writable(out, self);
  const bool second_fits = !second.defined() || (is_writable(second, self) &&
                                                 !same_buffer(second, out));
  if (first_fits && second_fits) {
    return run(op, self, dims, out, second, numbers);
  }
  constexpr auto dense = at::MemoryFormat::Contiguous;
  const at::Tensor first_result = first_fits ? out : at::empty_like(out, dense);
  const at::Tensor second_result =
      second_fits ? second : at::empty_like(second, dense);
  run(op, self, dims, first_result, second_result, numbers);
  if (!first_fits) out.copy_(first_result);
  if (!second_fits) second.copy_(second_result);
}

}  // namespace torch_webgpu::ops
