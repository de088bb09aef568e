#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>

namespace torch_webgpu::wgsl {

// The element types that kernels know, by storage. Types that are only stored
// and copied (float64, complex, …) have none.
enum class DType : uint8_t { F32, F16, BF16, I64, I32, I16, I8, U8, Bool };

inline constexpr DType kAllDTypes[] = {DType::F32, DType::F16, DType::BF16,
                                       DType::I64, DType::I32, DType::I16,
                                       DType::I8,  DType::U8,  DType::Bool};
inline constexpr DType kNumbers[] = {DType::F32, DType::F16, DType::BF16,
                                     DType::I64, DType::I32, DType::I16,
                                     DType::I8,  DType::U8};
inline constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16};
inline constexpr DType kInts[] = {DType::I64, DType::I32, DType::I16, DType::I8,
                                  DType::U8};

// The WGSL type that arithmetic on a DType uses: f32, i32, u32 or i64 (a pair
// of u32; see wgsl/lib/i64.wgsl).
enum class Compute : uint8_t { F32, I32, U32, I64 };

bool has_dtype(c10::ScalarType);
DType dtype_of(c10::ScalarType);  // internal assert when there is none
c10::ScalarType scalar_type_of(DType);
Compute compute_of(DType);
const char* name_of(DType);    // "f16": kernel names and storage modules
const char* name_of(Compute);  // "f32": WGSL type and function suffix
uint32_t lanes_of(DType);      // elements in a 32-bit word; 1 for I64 too
bool is_float(DType);

// The WGSL function that converts a loaded value of `from` to what a store to
// `to` takes; "" when none is needed.
std::string conversion(DType from, DType to);

}  // namespace torch_webgpu::wgsl
