# HYDRA_CHECK_KERNELS: can the compiler make the AVX2 and AVX-512 attention kernels? Whether they run is found at run time.
AC_DEFUN([HYDRA_CHECK_KERNELS], [
  AVX2_CFLAGS="-mavx2 -mfma -mf16c"
  AVX512_CFLAGS="$AVX2_CFLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl"
  AC_MSG_CHECKING([for AVX2 and AVX-512 in $CC])
  hydra_saved_cflags=$CFLAGS
  CFLAGS="$CFLAGS $AVX512_CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <immintrin.h>]],
      [[__m512 x = _mm512_scalef_ps(_mm512_setzero_ps(), _mm512_setzero_ps()); return _mm512_cvtps_epi32(x)[0] != 0;]])],
    [hydra_kernel_x86=yes], [hydra_kernel_x86=no])
  CFLAGS=$hydra_saved_cflags
  AC_MSG_RESULT([$hydra_kernel_x86])
  AS_IF([test $hydra_kernel_x86 = yes],
    [AC_DEFINE([HYDRA_KERNEL_X86], [1], [Define to 1 when the AVX2 and AVX-512 kernels are built])
     HYDRA_SUMMARY_ADD([kernels], [avx512 avx2 portable ref])],
    [HYDRA_SUMMARY_ADD([kernels], [portable ref])])
  AC_SUBST([AVX2_CFLAGS])
  FLASH_BLAS_CFLAGS="-fopenmp-simd -fno-math-errno -fno-trapping-math"
  AS_IF([test $hydra_kernel_x86 = yes], [FLASH_BLAS_CFLAGS="$FLASH_BLAS_CFLAGS $AVX2_CFLAGS"])
  AC_SUBST([FLASH_BLAS_CFLAGS])
  AC_SUBST([AVX512_CFLAGS])
  AM_CONDITIONAL([KERNEL_X86], [test $hydra_kernel_x86 = yes])
])
