// nonzero and what is made of it: masked_select, masked_scatter_. And
// repeat_interleave, whose result's size is also known only to the device.
#include "ops/index/nonzero.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <c10/core/SymInt.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "ops/index/indexed.h"
#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"
#include "ops/kernel/params.h"
#include "ops/runtime/native.h"
#include "ops/runtime/outputs.h"

namespace torch_webgpu::ops {
namespace {

using at::Tensor;
using wgsl::DType;
using wgsl::Mode;

// Elements that one thread looks through.
constexpr uint32_t kChunk = 64;

WEBGPU_PARAMS(NonzeroParams, (u32x8, sizes), (u32, offset_a), (u32, count),
              (u32, rank), (u32, total), (u32, chunks));

enum class Output : uint8_t { Count, Offsets, Coordinates };

struct NonzeroVariant {
  uint8_t dtype, output, windows_a, windows_o;
  static constexpr uint8_t NonzeroVariant::* kWindows[] = {
      &NonzeroVariant::windows_a, &NonzeroVariant::windows_o};
};

wgsl::KernelText describe(const NonzeroVariant& v) {
  const auto dtype = static_cast<DType>(v.dtype);
  const auto output = static_cast<Output>(v.output);
  constexpr const char* kNames[] = {"count", "offsets", "coordinates"};
  wgsl::KernelText text;
  text.file = output == Output::Count ? "nonzero_count" : "nonzero_write";
  text.label = fmt::format("nonzero_{}_{}_w{}{}", kNames[v.output],
                           wgsl::name_of(dtype), v.windows_a, v.windows_o);
  text.compute = wgsl::compute_of(dtype);
  text.operands = {{"a", dtype, Mode::Read, v.windows_a, ""}};
  text.substitutions = {{"workgroup", std::to_string(kWorkgroup)},
                        {"chunk", std::to_string(kChunk)}};
  if (output != Output::Count) {
    text.operands.push_back({"s", DType::I32, Mode::Read, 1, ""});
    text.substitutions.emplace_back("write", output == Output::Offsets
                                                 ? "write_o(at, e);"
                                                 : "write_coordinates(e, at);");
  }
  text.operands.push_back(
      {"o", output == Output::Coordinates ? DType::I64 : DType::I32,
       Mode::Write, v.windows_o, ""});
  text.params = NonzeroParams::wgsl();
  return text;
}

std::vector<NonzeroVariant> enumerate() {
  std::vector<NonzeroVariant> all;
  for (const DType dtype : wgsl::kAllDTypes) {
    for (uint8_t output = 0; output < 3; ++output) {
      all.push_back({uint8_t(dtype), output, 1, 1});
    }
  }
  return all;
}

Family<NonzeroVariant> family(describe, enumerate);

struct RepeatVariant {
  uint8_t dtype, windows_o;
  static constexpr uint8_t RepeatVariant::* kWindows[] = {
      &RepeatVariant::windows_o};
};

wgsl::KernelText describe_repeat(const RepeatVariant& v) {
  const auto dtype = static_cast<DType>(v.dtype);
  wgsl::KernelText text;
  text.file = "repeat_rows";
  text.label =
      fmt::format("repeat_rows_{}_w{}", wgsl::name_of(dtype), v.windows_o);
  text.operands = {{"s", DType::I32, Mode::Read, 1, ""},
                   {"o", dtype, Mode::Write, v.windows_o, ""}};
  text.substitutions = {
      {"workgroup", std::to_string(kWorkgroup)},
      {"value", dtype == DType::I64 ? "vec2<u32>(low, 0u)" : "i32(low)"}};
  text.params = NonzeroParams::wgsl();
  return text;
}

std::vector<RepeatVariant> enumerate_repeats() {
  return {{uint8_t(DType::I64), 1}, {uint8_t(DType::I32), 1}};
}

Family<RepeatVariant> repeats_family(describe_repeat, enumerate_repeats);

// The running sum of int32 numbers, and its last entry.
Tensor running_sum(const Tensor& counts) {
  return at::cumsum(counts, 0, at::kInt);
}

int64_t last_of(const Tensor& sums) {
  return sums.select(0, sums.size(0) - 1).item<int32_t>();
}

// How a pass over a contiguous tensor finds the elements that are not zero.
struct Found {
  explicit Found(const Tensor& t) : source(t.contiguous()) {
    params.offset_a = offset_of(source);
    params.count = uint32_t(source.numel());
    params.chunks = uint32_t(ceil_div(params.count, kChunk));
    const Tensor counts =
        at::empty({int64_t(params.chunks)}, source.options().dtype(at::kInt));
    launch(family(variant(Output::Count, counts)), {&source, &counts}, params,
           workgroups());
    sums = running_sum(counts);
    params.total = uint32_t(last_of(sums));
  }

  void write(Output output, const Tensor& out) const {
    if (params.total == 0) return;
    launch(family(variant(output, out)), {&source, &sums, &out}, params,
           workgroups());
  }

  NonzeroVariant variant(Output output, const Tensor& out) const {
    return {uint8_t(wgsl::dtype_of(source.scalar_type())), uint8_t(output),
            windows_of(source), windows_of(out)};
  }
  uint64_t workgroups() const { return ceil_div(params.chunks, kWorkgroup); }

  Tensor source, sums;
  NonzeroParams params;
};

bool has_coordinates(const at::TensorBase& self) {
  return is_native(self) && self.dim() <= 8;
}
constexpr TensorsAt<&has_coordinates, 0> takes_nonzero;

Tensor find_nonzero(const Tensor& self) {
  const auto options = self.options().dtype(at::kLong);
  if (self.numel() == 0) return at::empty({0, self.dim()}, options);
  Found found(self);
  found.params.rank = uint32_t(self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    found.params.sizes[d] = uint32_t(self.size(self.dim() - 1 - d));
  }
  // Coordinates of one dimension lie side by side, as on the CPU.
  const Tensor rows =
      at::empty({self.dim(), int64_t(found.params.total)}, options);
  if (self.dim() > 0) found.write(Output::Coordinates, rows);
  return rows.t();
}

Tensor& nonzero_out(const Tensor& self, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kLong,
              "nonzero: expected out to have dtype int64, but got ",
              out.scalar_type());
  const Tensor result = find_nonzero(self);
  resize_out(out, result.sizes());
  return out.copy_(result);
}

void check_mask(const char* name, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, name,
              ": expected a mask of dtype bool, but got ", mask.scalar_type());
}

// The walk over flat self by offsets.
Indexing by_offsets(const Tensor& flat, const Tensor& offsets) {
  Indexing walk = along_dim("masked", flat, 0, offsets);
  walk.kind = IndexKind::Offset;
  return walk;
}

Tensor select_masked(const Tensor& self_, const Tensor& mask_) {
  TORCH_CHECK(
      mask_.scalar_type() == at::kBool || mask_.scalar_type() == at::kByte,
      "masked_select: expected a mask of dtype bool, but got ",
      mask_.scalar_type());
  const auto [mask, self] = at::expand_outplace(mask_, self_);
  if (self->numel() == 0) return at::empty({0}, self_.options());
  const Tensor offsets = nonzero_offsets(*mask);
  const Tensor flat = self->contiguous().view({-1});
  const Tensor out = at::empty({offsets.size(0)}, self_.options());
  indexed_read(flat, by_offsets(flat, offsets), out);
  return out;
}

Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select: expected out to have dtype ", self.scalar_type(),
              ", but got ", out.scalar_type());
  const Tensor result = select_masked(self, mask);
  resize_out(out, result.sizes());
  return out.copy_(result);
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask_,
                        const Tensor& source) {
  check_mask("masked_scatter_", mask_);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: self and source must have the same dtype, but "
              "got ",
              self.scalar_type(), " and ", source.scalar_type());
  const Tensor mask = mask_.expand(self.sizes());
  if (self.numel() == 0) return self;
  const Tensor offsets = nonzero_offsets(mask);
  const int64_t count = offsets.size(0);
  TORCH_CHECK(source.numel() >= count, "masked_scatter_: the mask has ", count,
              " true elements, but source has only ", source.numel());
  const Tensor whole = self.contiguous();
  const Tensor flat = whole.view({-1});
  indexed_write(flat, by_offsets(flat, offsets),
                source.reshape({-1}).narrow(0, 0, count), Combine::Assign);
  if (!whole.is_same(self)) self.copy_(whole);
  return self;
}

Tensor repeat_interleave(const Tensor& repeats,
                         std::optional<c10::SymInt> output_size) {
  TORCH_CHECK(repeats.dim() == 1,
              "repeat_interleave: expected repeats of one dimension, but got ",
              repeats.dim());
  TORCH_CHECK(
      repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
      "repeat_interleave: expected repeats of dtype int64 or int32, "
      "but got ",
      repeats.scalar_type());
  if (repeats.size(0) == 0) return at::empty({0}, repeats.options());
  const Tensor sums = running_sum(repeats.to(at::kInt));
  NonzeroParams params;
  params.count = uint32_t(repeats.size(0));
  const int64_t total = output_size ? output_size->expect_int() : last_of(sums);
  params.total = uint32_t(total);
  const Tensor out = at::empty({total}, repeats.options());
  const RepeatVariant v{uint8_t(wgsl::dtype_of(repeats.scalar_type())),
                        windows_of(out)};
  launch(repeats_family(v), {&sums, &out}, params,
         ceil_div(params.total, kWorkgroup));
  return out;
}

}  // namespace

Tensor nonzero_offsets(const Tensor& t) {
  const Found found(t);
  const Tensor offsets =
      at::empty({int64_t(found.params.total)}, t.options().dtype(at::kInt));
  found.write(Output::Offsets, offsets);
  return offsets;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  native<"nonzero", &find_nonzero, takes_nonzero>(m);
  native<"nonzero.out", &nonzero_out, takes_nonzero>(m);
  m.impl("masked_select", &select_masked);
  m.impl("masked_select.out", &masked_select_out);
  m.impl("masked_scatter_", &masked_scatter_);
  m.impl("repeat_interleave.Tensor", &repeat_interleave);
}

}  // namespace torch_webgpu::ops
