/* Arithmetic, which is exact to the last bit, and the mathematics of OpenCL, which need not be. */
#define LINES(T, I, U) \
__kernel void T##_arithmetic(__global const T *a, __global const T *b, __global T *out) \
{ \
    int i = get_global_id(0), n = get_global_size(0), k = 0; \
    T x = a[i], y = b[i]; \
    out[k++ * n + i] = x + y * (T)0.3; \
    out[k++ * n + i] = x * y - x; \
    out[k++ * n + i] = x / y; \
    out[k++ * n + i] = sqrt(fabs(x)) - y; \
    out[k++ * n + i] = (x < y) + 2 * (x >= y) + 4 * (x != y) + 8 * isnan(x / (y - y)) + 16 * isinf(y / (x - x)); \
    out[k++ * n + i] = fmax(x, y) + fmin(x, (T)1); \
    out[k++ * n + i] = floor(x) + ceil(y) * 3 + trunc(x) * 7 + rint(y) * 11 + round(x) * 13; \
    out[k++ * n + i] = copysign(x, y) + clamp(x, (T)-1, (T)1) + step(x, y) + sign(x); \
    out[k++ * n + i] = (T)(I)(x * 1000) + (T)(I)convert_##I##_sat_rte(y * (T)1e12); \
    out[k++ * n + i] = (T)(U)(fabs(x) * 100); \
    out[k++ * n + i] = as_##T(as_##I(x) ^ 1) + ldexp(y, 3) + fmod(x, (T)0.7) + fdim(x, y); \
    T##4 v = (T##4)(x, y, x + y, 2), w = v.s3210 / (T##4)(3, 5, 7, 11); \
    out[k++ * n + i] = w.x - w.y * v.z; \
    out[k++ * n + i] = (v > w).x + 2 * (v > w).y; \
    out[k++ * n + i] = mad((T)2, x, (T)1) + fma((T)4, x, (T)3); \
}
LINES(float, int, uint)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
LINES(double, long, ulong)
#endif

__kernel void mathematics(__global const float *a, __global const float *b, __global float *out)
{
    int i = get_global_id(0), n = get_global_size(0), k = 0;
    float x = a[i], y = b[i], p = fabs(x) + 0.1f, u = x / 20.0f, second;
    int exponent;
    out[k++ * n + i] = exp(x);
    out[k++ * n + i] = exp2(x);
    out[k++ * n + i] = exp10(u);
    out[k++ * n + i] = log(p);
    out[k++ * n + i] = log2(p);
    out[k++ * n + i] = log10(p);
    out[k++ * n + i] = sin(x);
    out[k++ * n + i] = cos(x);
    out[k++ * n + i] = tan(x);
    out[k++ * n + i] = asin(u);
    out[k++ * n + i] = acos(u);
    out[k++ * n + i] = atan(x);
    out[k++ * n + i] = atan2(x, y);
    out[k++ * n + i] = sinh(u);
    out[k++ * n + i] = cosh(u);
    out[k++ * n + i] = tanh(u);
    out[k++ * n + i] = pow(p, y);
    out[k++ * n + i] = rsqrt(p);
    out[k++ * n + i] = cbrt(x);
    out[k++ * n + i] = hypot(x, y);
    out[k++ * n + i] = erf(u);
    out[k++ * n + i] = sinpi(u);
    out[k++ * n + i] = length((float4)(x, y, u, p));
    out[k++ * n + i] = normalize((float4)(x, y, u, p)).y;
    out[k++ * n + i] = mix(x, y, u);
    out[k++ * n + i] = smoothstep(0.0f, 3.0f, x);
    out[k++ * n + i] = degrees(x) + radians(y);
    out[k++ * n + i] = fract(x, &second);
    out[k++ * n + i] = second;
    out[k++ * n + i] = modf(x, &second);
    out[k++ * n + i] = second;
    out[k++ * n + i] = frexp(x, &exponent);
    out[k++ * n + i] = exponent;
    out[k++ * n + i] = sincos(x, &second);
    out[k++ * n + i] = second;
}
