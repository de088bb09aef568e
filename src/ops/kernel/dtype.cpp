#include "ops/kernel/dtype.h"

#include <c10/util/Exception.h>

#include <array>

namespace torch_webgpu::wgsl {
namespace {

struct Row {
  c10::ScalarType scalar_type;
  const char* name;
  Compute compute;
  uint32_t lanes;
};

// In the order of DType.
constexpr std::array<Row, 9> kRows{{
    {c10::ScalarType::Float, "f32", Compute::F32, 1},
    {c10::ScalarType::Half, "f16", Compute::F32, 2},
    {c10::ScalarType::BFloat16, "bf16", Compute::F32, 2},
    {c10::ScalarType::Long, "i64", Compute::I64, 1},
    {c10::ScalarType::Int, "i32", Compute::I32, 1},
    {c10::ScalarType::Short, "i16", Compute::I32, 2},
    {c10::ScalarType::Char, "i8", Compute::I32, 4},
    {c10::ScalarType::Byte, "u8", Compute::U32, 4},
    {c10::ScalarType::Bool, "bool", Compute::U32, 4},
}};

const Row& row(DType dtype) {
  return kRows[static_cast<size_t>(dtype)];
}

// c10::ScalarType → DType + 1, 0 for none; a table because this is on the path
// of every launch.
constexpr auto kByScalarType = [] {
  std::array<uint8_t, 64> table{};
  for (size_t i = 0; i < kRows.size(); ++i) {
    table[static_cast<size_t>(kRows[i].scalar_type)] = uint8_t(i + 1);
  }
  return table;
}();

uint8_t lookup(c10::ScalarType type) {
  const auto index = static_cast<size_t>(type);
  return index < kByScalarType.size() ? kByScalarType[index] : 0;
}

}  // namespace

bool has_dtype(c10::ScalarType type) {
  return lookup(type) != 0;
}

DType dtype_of(c10::ScalarType type) {
  const uint8_t found = lookup(type);
  TORCH_INTERNAL_ASSERT(found != 0, "webgpu kernels have no ",
                        c10::toString(type));
  return static_cast<DType>(found - 1);
}

c10::ScalarType scalar_type_of(DType dtype) {
  return row(dtype).scalar_type;
}
Compute compute_of(DType dtype) {
  return row(dtype).compute;
}
const char* name_of(DType dtype) {
  return row(dtype).name;
}
uint32_t lanes_of(DType dtype) {
  return row(dtype).lanes;
}
bool is_float(DType dtype) {
  return row(dtype).compute == Compute::F32;
}

const char* name_of(Compute compute) {
  constexpr const char* kNames[] = {"f32", "i32", "u32", "i64"};
  return kNames[static_cast<size_t>(compute)];
}

std::string conversion(DType from, DType to) {
  const std::string source = name_of(compute_of(from));
  if (to == DType::Bool) {
    return from == DType::Bool ? "" : source + "_to_flag";
  }
  if (to == DType::U8 && is_float(from)) {
    return "f32_to_u8";
  }
  const std::string target = name_of(compute_of(to));
  return source == target ? "" : source + "_to_" + target;
}

}  // namespace torch_webgpu::wgsl
