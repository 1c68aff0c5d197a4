/* Every integer operation and built-in, on scalars and vectors. OPERATIONS(T, U) is done for each type. */
#define OPERATIONS(T, U, V, W) \
__kernel void T##_ops(__global const T *a, __global const T *b, __global T *out) \
{ \
    int i = get_global_id(0), n = get_global_size(0), k = 0; \
    T x = a[i], y = b[i], z = y == 0 ? (T)3 : y; \
    U ux = (U)x, uy = (U)y, uz = (U)z; \
    T s = (T)(y & 7); \
    out[k++ * n + i] = x + y; \
    out[k++ * n + i] = x - y; \
    out[k++ * n + i] = x * y; \
    out[k++ * n + i] = x / (z == (T)-1 ? (T)5 : z); \
    out[k++ * n + i] = x % (z == (T)-1 ? (T)5 : z); \
    out[k++ * n + i] = ux / uz; \
    out[k++ * n + i] = ux % uz; \
    out[k++ * n + i] = x & y; \
    out[k++ * n + i] = x | ~y; \
    out[k++ * n + i] = x ^ y; \
    out[k++ * n + i] = x << s; \
    out[k++ * n + i] = x >> s; \
    out[k++ * n + i] = ux >> s; \
    out[k++ * n + i] = (x < y) + 2 * (ux < uy) + 4 * (x == y) + 8 * (ux >= uy); \
    out[k++ * n + i] = max(x, y) - min(x, (T)5); \
    out[k++ * n + i] = max(ux, uy) - min(ux, (U)5); \
    out[k++ * n + i] = abs(x); \
    out[k++ * n + i] = abs_diff(x, y); \
    out[k++ * n + i] = add_sat(x, y); \
    out[k++ * n + i] = sub_sat(x, y); \
    out[k++ * n + i] = add_sat(ux, uy); \
    out[k++ * n + i] = sub_sat(ux, uy); \
    out[k++ * n + i] = hadd(x, y); \
    out[k++ * n + i] = rhadd(ux, uy); \
    out[k++ * n + i] = clamp(x, (T)-5, (T)9); \
    out[k++ * n + i] = clz(x); \
    out[k++ * n + i] = popcount(x); \
    out[k++ * n + i] = mul_hi(x, y); \
    out[k++ * n + i] = mul_hi(ux, uy); \
    out[k++ * n + i] = mad_hi(x, y, x); \
    out[k++ * n + i] = rotate(x, y); \
    out[k++ * n + i] = bitselect(x, y, (T)0x5a); \
    out[k++ * n + i] = select(x, y, (T)(x > y)); \
    out[k++ * n + i] = convert_##T##_sat((long)x * 3); \
    out[k++ * n + i] = (T)convert_##U##_sat((long)x - (long)y); \
    out[k++ * n + i] = (T)(convert_float(x) * 0.25f); \
    out[k++ * n + i] = (T)(uint)(convert_float((U)(ux & (U)0x3fffffff))); \
    V v = (V)(x, y, z, x + y), w = v.wzyx * (V)(3); \
    out[k++ * n + i] = w.x + v.y - w.z; \
    w += shuffle(v, (W)(3, 1, 0, 2)); \
    out[k++ * n + i] = w.x ^ w.y ^ w.z ^ w.w; \
    V m = v > w; \
    out[k++ * n + i] = m.x + 2 * m.y + any(m) + 10 * all(m); \
    V e = m ? v : max(v, w); \
    e[i & 3] = 7; \
    out[k++ * n + i] = e.x * 3 + e.y * 5 + e.z * 7 + e[(i + 1) & 3]; \
}
#define COUNT 41

OPERATIONS(char, uchar, char4, uchar4)
OPERATIONS(short, ushort, short4, ushort4)
OPERATIONS(int, uint, int4, uint4)
OPERATIONS(long, ulong, long4, ulong4)
