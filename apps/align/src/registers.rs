//! Vector registers of 256 and 512 bits, with the instructions that the kernels of [`affine`](crate::affine) need.
//!
//! The compiler finds these instructions in loops over arrays only where the arrays are few, so they are named here.

use pulp::bytemuck::{Pod, cast};
use pulp::x86::{V3, V4};

use core::arch::x86_64::{__m128i, __m256i, __m512i};

/// Entries of a table that bytes select from.
pub(crate) const ENTRIES: usize = 32;

/// Proof that the processor has certain registers.
pub(crate) trait Registers: Copy {
    type Vector: Pod;
    /// Half a register.
    type Half: Pod;

    /// For each byte (below [`ENTRIES`], or 127 for the last) the entry that it selects.
    fn lookup(self, table: &[i8; ENTRIES], bytes: Self::Vector) -> Self::Vector;

    /// The bytes as numbers of 16 bits.
    fn widen(self, bytes: Self::Half) -> Self::Vector;

    /// A vector of the 16 bytes from each place on, and one of the 16 bytes after them. Vectors of 256 bits have no room for
    /// the last two places.
    fn gather(self, bytes: &[u8], places: &[u32; 4]) -> [Self::Vector; 2];

    /// In each 16 bytes: the bytes of the first halves of `a` and `b` in turn, and those of their second halves.
    fn interleave(self, a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
}

/// The 32 bytes from a place on.
#[inline(always)]
fn part(bytes: &[u8], place: u32) -> __m256i {
    let place = place as usize;
    let part: [u8; 32] = bytes[place..place + 32].try_into().unwrap_or([0; 32]);
    cast(part)
}

/// Instructions for lanes of one type. Sums and differences saturate.
pub(crate) trait Lanes<T>: Registers {
    fn splat(self, value: T) -> Self::Vector;
    fn plus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn minus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Each lane in the next one, and the last lane of `before` in the first.
    fn moved(self, vector: Self::Vector, before: Self::Vector) -> Self::Vector;
}

impl Registers for V3 {
    type Vector = __m256i;
    type Half = __m128i;

    #[inline(always)]
    fn lookup(self, table: &[i8; ENTRIES], bytes: __m256i) -> __m256i {
        let [low, high]: [__m128i; 2] = cast(*table);
        let of = |part| self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(part), bytes);
        let is_high = self.avx2._mm256_cmpgt_epi8(bytes, self.avx._mm256_set1_epi8(15));
        self.avx2._mm256_blendv_epi8(of(low), of(high), is_high)
    }

    #[inline(always)]
    fn widen(self, bytes: __m128i) -> __m256i {
        self.avx2._mm256_cvtepi8_epi16(bytes)
    }

    #[inline(always)]
    fn gather(self, bytes: &[u8], [a, b, ..]: &[u32; 4]) -> [__m256i; 2] {
        let [a, b] = [part(bytes, *a), part(bytes, *b)];
        [self.avx2._mm256_permute2x128_si256::<0x20>(a, b), self.avx2._mm256_permute2x128_si256::<0x31>(a, b)]
    }

    #[inline(always)]
    fn interleave(self, a: __m256i, b: __m256i) -> [__m256i; 2] {
        [self.avx2._mm256_unpacklo_epi8(a, b), self.avx2._mm256_unpackhi_epi8(a, b)]
    }
}

impl Registers for V4 {
    type Vector = __m512i;
    type Half = __m256i;

    #[inline(always)]
    fn lookup(self, table: &[i8; ENTRIES], bytes: __m512i) -> __m512i {
        let [low, high]: [__m128i; 2] = cast(*table);
        let of = |part| self.avx512bw._mm512_shuffle_epi8(self.avx512f._mm512_broadcast_i32x4(part), bytes);
        let is_high = self.avx512bw._mm512_cmpgt_epi8_mask(bytes, self.avx512f._mm512_set1_epi8(15));
        self.avx512bw._mm512_mask_blend_epi8(is_high, of(low), of(high))
    }

    #[inline(always)]
    fn widen(self, bytes: __m256i) -> __m512i {
        self.avx512bw._mm512_cvtepi8_epi16(bytes)
    }

    #[inline(always)]
    fn gather(self, bytes: &[u8], places: &[u32; 4]) -> [__m512i; 2] {
        let a = self.avx512f._mm512_castsi256_si512(part(bytes, places[0]));
        let a = self.avx512f._mm512_inserti64x4::<1>(a, part(bytes, places[1]));
        let b = self.avx512f._mm512_castsi256_si512(part(bytes, places[2]));
        let b = self.avx512f._mm512_inserti64x4::<1>(b, part(bytes, places[3]));
        [
            self.avx512f._mm512_shuffle_i64x2::<0b10_00_10_00>(a, b),
            self.avx512f._mm512_shuffle_i64x2::<0b11_01_11_01>(a, b),
        ]
    }

    #[inline(always)]
    fn interleave(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        [self.avx512bw._mm512_unpacklo_epi8(a, b), self.avx512bw._mm512_unpackhi_epi8(a, b)]
    }
}

/// The parts of 16 bytes of a vector, each in the next one, and the last part of `before` in the first.
trait Parts: Registers {
    fn parts_moved(self, vector: Self::Vector, before: Self::Vector) -> Self::Vector;
}

impl Parts for V3 {
    #[inline(always)]
    fn parts_moved(self, vector: __m256i, before: __m256i) -> __m256i {
        self.avx2._mm256_permute2x128_si256::<0x03>(vector, before)
    }
}

impl Parts for V4 {
    #[inline(always)]
    fn parts_moved(self, vector: __m512i, before: __m512i) -> __m512i {
        self.avx512f._mm512_alignr_epi64::<6>(vector, before)
    }
}

/// Implements [`Lanes`] by the instructions of a set.
macro_rules! lanes {
    ($registers:ty, $number:ty, $set:ident: $plus:ident, $minus:ident, $max:ident, $align:ident, $splats:ident: $splat:ident) => {
        impl Lanes<$number> for $registers {
            #[inline(always)]
            fn splat(self, value: $number) -> Self::Vector {
                self.$splats.$splat(value)
            }

            #[inline(always)]
            fn plus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                self.$set.$plus(a, b)
            }

            #[inline(always)]
            fn minus(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                self.$set.$minus(a, b)
            }

            #[inline(always)]
            fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
                self.$set.$max(a, b)
            }

            #[inline(always)]
            fn moved(self, vector: Self::Vector, before: Self::Vector) -> Self::Vector {
                const BYTES: i32 = 16 - size_of::<$number>() as i32;
                self.$set.$align::<BYTES>(vector, self.parts_moved(vector, before))
            }
        }
    };
}

lanes!(V3, i8, avx2: _mm256_adds_epi8, _mm256_subs_epi8, _mm256_max_epi8, _mm256_alignr_epi8, avx: _mm256_set1_epi8);
lanes!(V3, i16, avx2: _mm256_adds_epi16, _mm256_subs_epi16, _mm256_max_epi16, _mm256_alignr_epi8, avx: _mm256_set1_epi16);
lanes!(V4, i8, avx512bw: _mm512_adds_epi8, _mm512_subs_epi8, _mm512_max_epi8, _mm512_alignr_epi8, avx512f: _mm512_set1_epi8);
lanes!(V4, i16, avx512bw: _mm512_adds_epi16, _mm512_subs_epi16, _mm512_max_epi16, _mm512_alignr_epi8, avx512f: _mm512_set1_epi16);
