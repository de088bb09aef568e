#include "ops/pointwise/pointwise.h"

#include <ATen/ops/empty.h>
#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ops/kernel/family.h"
#include "ops/kernel/launch.h"

namespace torch_webgpu::ops {
namespace {

using wgsl::Compute;
using wgsl::DType;
using wgsl::Mode;

// clang-format off
#define POINTWISE_PARAMS(X) \
  X(u32x8, sizes) \
  X(u32x8, stride_a) \
  X(u32x8, stride_b) \
  X(u32x8, stride_c) \
  X(u64, value_a) \
  X(u64, value_b) \
  X(u64, value_c) \
  X(u64, s0) \
  X(u64, s1) \
  X(u64, s2) \
  X(u64, s3) \
  X(u32, offset_a) \
  X(u32, offset_b) \
  X(u32, offset_c) \
  X(u32, offset_o) \
  X(u32, count) \
  X(u32, rank)
// clang-format on
WEBGPU_PARAMS(PointwiseParams, POINTWISE_PARAMS);

constexpr const char* kNames[] = {"a", "b", "c"};
constexpr int kMaxInputs = 3;

struct PointwiseVariant {
  OpId op;
  uint8_t dtype;     // of the inputs; of the output of a copy
  uint8_t in_dtype;  // the same, except for a copy
  uint8_t strided;
  uint8_t modes[kMaxInputs];
};

std::vector<PointwiseOp>& table() {
  static auto* rows = new std::vector<PointwiseOp>;
  return *rows;
}

constexpr const char* kDenseIndex = "  let index_{} = p.offset_{} + e;\n";
constexpr const char* kStridedHead =
    "  for (var d = 0u; d < p.rank; d++) {\n"
    "    let size = p.sizes[d >> 2u][d & 3u];\n"
    "    let at = rest % size;\n"
    "    rest /= size;\n";

// How the kernel finds the inputs' elements of output element e.
std::string index_text(const PointwiseOp& op, bool strided) {
  std::string text;
  if (!strided) {
    for (int i = 0; i < op.inputs; ++i) {
      text += fmt::format(fmt::runtime(kDenseIndex), kNames[i], kNames[i]);
    }
    return text;
  }
  std::string loop = kStridedHead;
  for (int i = 0; i < op.inputs; ++i) {
    text += fmt::format("  var index_{0} = p.offset_{0};\n", kNames[i]);
    loop += fmt::format(
        "    index_{0} += at * p.stride_{0}[d >> 2u][d & 3u];\n", kNames[i]);
  }
  return text + "  var rest = e;\n" + loop + "  }\n";
}

std::string scalar_text(const PointwiseOp& op, Compute compute) {
  std::string text;
  for (int i = 0; i < op.scalars; ++i) {
    text += compute == Compute::I64
                ? fmt::format("  let s{0} = p.s{0};\n", i)
                : fmt::format("  let s{0} = bitcast<{1}>(p.s{0}.x);\n", i,
                              wgsl::name_of(compute));
  }
  return text;
}

DType output_dtype(const PointwiseOp& op, DType dtype) {
  return op.result == Result::Predicate ? DType::Bool : dtype;
}

// Predicates read bool tensors as bytes: one kernel for both.
DType kernel_dtype(const PointwiseOp& op, DType dtype) {
  const bool byte = op.result == Result::Predicate && dtype == DType::Bool;
  return byte ? DType::U8 : dtype;
}

wgsl::KernelText describe(const PointwiseVariant& v) {
  const PointwiseOp& op = pointwise_op(v.op);
  const auto dtype = static_cast<DType>(v.dtype);
  const auto in_dtype = static_cast<DType>(v.in_dtype);
  const Compute compute = wgsl::compute_of(dtype);
  wgsl::KernelText text;
  text.file = "pointwise";
  text.compute = compute;
  text.params = PointwiseParams::wgsl();
  text.label = fmt::format("{}_{}", op.name, wgsl::name_of(dtype));
  if (in_dtype != dtype) {
    text.label += fmt::format("_from_{}", wgsl::name_of(in_dtype));
  }
  text.label += v.strided ? "_strided_" : "_";
  for (int i = 0; i < op.inputs; ++i) {
    const auto mode = static_cast<Mode>(v.modes[i]);
    const bool mask = op.mask == i;
    const DType of = mask ? DType::Bool : in_dtype;
    text.label += mode == Mode::Read ? 'r' : mode == Mode::Shared ? 'i' : 's';
    text.operands.push_back({kNames[i], of, mode, 1, "o"});
    text.repeat.push_back(kNames[i]);
    text.substitutions.emplace_back(std::string("convert_") + kNames[i],
                                    mask ? "" : wgsl::conversion(of, dtype));
  }
  text.operands.push_back({"o", output_dtype(op, dtype), Mode::Write, 1, ""});
  const bool predicate = op.result == Result::Predicate;
  text.substitutions.emplace_back("index", index_text(op, v.strided));
  text.substitutions.emplace_back("scalars", scalar_text(op, compute));
  text.substitutions.emplace_back("result",
                                  predicate ? "u32" : wgsl::name_of(compute));
  text.substitutions.emplace_back(
      "expression", predicate ? fmt::format("select(0u, 1u, {})", op.expression)
                              : op.expression);
  text.substitutions.emplace_back("workgroup", std::to_string(kWorkgroup));
  return text;
}

// The modes of the inputs that prepare() below can produce.
std::vector<std::array<Mode, kMaxInputs>> modes_of(const PointwiseOp& op) {
  constexpr auto R = Mode::Read, I = Mode::Shared, S = Mode::Scalar,
                 N = Mode::Absent;
  if (op.inputs == 1) {
    if (op.casts) return {{R, N, N}, {S, N, N}};
    return {{R, N, N}, {I, N, N}};
  }
  if (op.mask == 1 && op.inputs == 2) return {{R, R, N}, {I, R, N}};
  if (op.inputs == 2) {
    return {{R, R, N}, {R, S, N}, {S, R, N}, {I, R, N}, {I, S, N}, {I, I, N}};
  }
  std::vector<std::array<Mode, kMaxInputs>> all;
  for (const Mode a : {R, I}) {
    if (op.mask == 0 && a == I) continue;  // a mask is never the output
    for (const Mode b : {R, S}) {
      if (op.mask == 1 && b == S) continue;
      for (const Mode c : {R, S})
        all.push_back({a, b, c});
    }
  }
  return all;
}

std::vector<PointwiseVariant> enumerate() {
  std::vector<PointwiseVariant> all;
  for (OpId id = 0; id < table().size(); ++id) {
    const PointwiseOp& op = table()[id];
    for (const DType dtype : op.dtypes) {
      for (const DType in : wgsl::kAllDTypes) {
        if (in != dtype && !op.casts) continue;
        if (kernel_dtype(op, dtype) != dtype) continue;
        for (const auto& modes : modes_of(op)) {
          if (modes[0] == Mode::Scalar && op.inputs == 1 && in != dtype) {
            continue;
          }
          for (const uint8_t strided : {0, 1}) {
            if (strided && op.inputs == 1 && modes[0] != Mode::Read) continue;
            PointwiseVariant v{id, uint8_t(dtype), uint8_t(in), strided, {}};
            for (int i = 0; i < kMaxInputs; ++i)
              v.modes[i] = uint8_t(modes[i]);
            all.push_back(v);
          }
        }
      }
    }
  }
  return all;
}

Family<PointwiseVariant> family(describe, enumerate);

uint32_t to_u32(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= std::numeric_limits<uint32_t>::max(),
              "webgpu kernels index up to 2^32 - 1 elements, got ", value);
  return uint32_t(value);
}

void set(wgsl::params::u32x8& to, const std::array<int64_t, 8>& from,
         int rank) {
  for (int d = 0; d < rank; ++d)
    to[d] = to_u32(from[d]);
}

bool same_view(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && a.element_size() == b.element_size();
}

using Tensors = std::array<const at::Tensor*, kMaxInputs>;  // null: a scalar

// True when walking out in memory order is walking each input by one.
bool all_dense(const Tensors& inputs, const at::Tensor& out) {
  const bool contiguous = out.is_contiguous();
  return std::ranges::all_of(inputs, [&](const at::Tensor* input) {
    return input == nullptr ||
           (input->sizes() == out.sizes() &&
            (contiguous ? input->is_contiguous()
                        : input->strides() == out.strides()));
  });
}

constexpr wgsl::params::u32 PointwiseParams::* kOffsets[] = {
    &PointwiseParams::offset_a, &PointwiseParams::offset_b,
    &PointwiseParams::offset_c};
constexpr wgsl::params::u64 PointwiseParams::* kValues[] = {
    &PointwiseParams::value_a, &PointwiseParams::value_b,
    &PointwiseParams::value_c};
constexpr wgsl::params::u32x8 PointwiseParams::* kStrides[] = {
    &PointwiseParams::stride_a, &PointwiseParams::stride_b,
    &PointwiseParams::stride_c};
constexpr wgsl::params::u64 PointwiseParams::* kScalars[] = {
    &PointwiseParams::s0, &PointwiseParams::s1, &PointwiseParams::s2,
    &PointwiseParams::s3};

// Sizes and strides into the parameters; false when there are too many
// dimensions for one launch.
bool set_geometry(PointwiseParams& params, const Tensors& inputs,
                  const at::Tensor& out) {
  c10::SmallVector<at::Tensor, 4> views{out};
  for (const at::Tensor* input : inputs) {
    if (input) views.push_back(input->expand(out.sizes()));
  }
  Geometry geometry;
  if (!make_geometry(views, geometry)) return false;
  params.rank = uint32_t(geometry.rank);
  set(params.sizes, geometry.sizes, geometry.rank);
  for (size_t i = 0, view = 1; i < inputs.size(); ++i) {
    if (inputs[i]) {
      set(params.*kStrides[i], geometry.strides[view++], geometry.rank);
    }
  }
  return true;
}

void pointwise_by_halves(OpId id, DType dtype, std::span<const Input> inputs,
                         const at::Tensor& out,
                         std::initializer_list<c10::Scalar> scalars,
                         int64_t dim) {
  for (const Half& half : halves(inputs, out, dim)) {
    pointwise(id, dtype, half.inputs, half.out, scalars);
  }
}

}  // namespace

OpId register_pointwise(PointwiseOp op) {
  // Operators that compute the same share their kernels (sign and sgn).
  for (OpId id = 0; id < table().size(); ++id) {
    PointwiseOp& known = table()[id];
    if (known.inputs != op.inputs || known.result != op.result ||
        known.scalars != op.scalars || known.mask != op.mask ||
        known.casts != op.casts ||
        std::string_view(known.expression) != op.expression) {
      continue;
    }
    for (const DType dtype : op.dtypes) {
      if (std::ranges::find(known.dtypes, dtype) == known.dtypes.end()) {
        known.dtypes.push_back(dtype);
      }
    }
    return id;
  }
  table().push_back(std::move(op));
  return OpId(table().size() - 1);
}

OpId register_floats(const char* name, uint8_t inputs, uint8_t scalars,
                     const char* expression) {
  return register_pointwise(
      {.name = name,
       .inputs = inputs,
       .expression = expression,
       .dtypes = {std::begin(wgsl::kFloats), std::end(wgsl::kFloats)},
       .scalars = scalars});
}

const PointwiseOp& pointwise_op(OpId id) {
  return table().at(id);
}

wgsl::params::u64 encode(const c10::Scalar& scalar, DType dtype) {
  switch (wgsl::compute_of(dtype)) {
    case Compute::F32: {
      // Out-of-range numbers become infinite, as a cast on the CPU does.
      const auto value = static_cast<float>(scalar.toDouble());
      return {std::bit_cast<uint32_t>(value), 0};
    }
    case Compute::U32:
      if (dtype == DType::Bool) return {uint32_t(scalar.toBool()), 0};
      return {
          uint32_t(uint8_t(scalar.isFloatingPoint() ? int64_t(scalar.toDouble())
                                                    : scalar.toLong())),
          0};
    default: {
      const int64_t value = scalar.isFloatingPoint()
                                ? static_cast<int64_t>(scalar.toDouble())
                                : scalar.toLong();
      return wgsl::params::words_of(uint64_t(value));
    }
  }
}

void pointwise(OpId id, DType dtype, std::span<const Input> inputs,
               const at::Tensor& out,
               std::initializer_list<c10::Scalar> scalars) {
  const int64_t count = out.numel();
  if (count == 0) return;
  const PointwiseOp& op = pointwise_op(id);
  TORCH_INTERNAL_ASSERT(inputs.size() == op.inputs &&
                        scalars.size() == op.scalars);
  if (!out.is_non_overlapping_and_dense()) {
    // Only copies write strided outputs, which keeps the list of
    // specialisations short.
    const at::Tensor dense = at::empty(out.sizes(), out.options());
    pointwise(id, dtype, inputs, dense, scalars);
    copy_elements(dense, out);
    return;
  }

  const auto kernel = uint8_t(kernel_dtype(op, dtype));
  PointwiseVariant variant{id, kernel, kernel, 0, {}};
  PointwiseParams params;
  c10::SmallVector<Input, kMaxInputs> sources(inputs.begin(), inputs.end());
  Tensors tensors{};
  c10::SmallVector<hal::BufferBinding, kMaxInputs + 1> bindings;
  // A view above the binding limit; nothing is launched for the whole then.
  const at::Tensor* too_wide = nullptr;
  const auto bind = [&](const at::Tensor& view) -> uint32_t {
    const auto bound = bind_view(view);
    if (!bound) {
      too_wide = &view;
      return 0;
    }
    bindings.push_back(bound->buffer);
    return to_u32(view.storage_offset() - bound->first);
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].is_scalar()) {
      variant.modes[i] = uint8_t(Mode::Scalar);
      params.*kValues[i] = encode(sources[i].scalar, dtype);
      continue;
    }
    tensors[i] = &sources[i].tensor;
    if (op.casts) {
      variant.in_dtype = uint8_t(wgsl::dtype_of(tensors[i]->scalar_type()));
    }
    if (same_buffer(*tensors[i], out)) {
      // The first input may be the output itself, the second only with it.
      const bool shares =
          same_view(*tensors[i], out) && !op.casts && op.mask != int(i) &&
          (i == 0 ||
           (op.inputs == 2 && variant.modes[0] == uint8_t(Mode::Shared)));
      if (shares) {
        variant.modes[i] = uint8_t(Mode::Shared);
        continue;
      }
      const at::Tensor copy =
          at::empty(tensors[i]->sizes(), tensors[i]->options());
      copy_elements(*tensors[i], copy);
      sources[i].tensor = copy;
    }
    variant.modes[i] = uint8_t(Mode::Read);
    params.*kOffsets[i] = bind(*tensors[i]);
  }
  params.offset_o = bind(out);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (variant.modes[i] == uint8_t(Mode::Shared)) {
      params.*kOffsets[i] = params.offset_o;
    }
  }
  if (too_wide) {
    const int64_t dim = widest_dim(too_wide->expand(out.sizes()));
    pointwise_by_halves(id, dtype, sources, out, scalars, dim);
    return;
  }

  params.count = to_u32(count);
  variant.strided = !all_dense(tensors, out);
  if (variant.strided && !set_geometry(params, tensors, out)) {
    pointwise_by_halves(id, dtype, sources, out, scalars, first_dim(out));
    return;
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    params.*kScalars[i] = encode(scalars.begin()[i], dtype);
  }
  const uint32_t lanes = wgsl::lanes_of(output_dtype(op, dtype));
  const uint64_t threads =
      ceil_div(params.offset_o % lanes + uint64_t(count), lanes);
  launch_bindings(family(variant), bindings,
                  std::as_bytes(std::span(&params, 1)),
                  ceil_div(threads, kWorkgroup));
}

}  // namespace torch_webgpu::ops
