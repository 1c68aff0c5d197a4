/* What work items of a group do together, and where they part: barriers, local memory, atomics, loops left at different
   times, private arrays, vectors in memory. */
__kernel void together(__global const int *in, __global int *out, __global int *shared, __local int *near, int n)
{
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    int own[8];
    near[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int reach = size / 2; reach > 0; reach /= 2) {
        if (l < reach)
            near[l] += near[l + reach];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    int total = near[0];
    int steps = 0;
    for (int v = in[i] & 63; v != 1 && steps < 200; steps++) {
        if (v <= 0)
            break;
        if (v & 1) {
            v = 3 * v + 1;
            continue;
        }
        v /= 2;
        own[v & 7] = v;
    }
    for (int k = 0; k < 8; k++)
        own[k] = k * steps;
    own[i & 7] += 3;
    int4 four = vload4(l & 3, in);
    four.xz += (int2)(steps, total);
    vstore4(four, i, out + n);
    atomic_add(&shared[0], own[i & 7]);
    atomic_max(&shared[1], in[i]);
    atomic_min((volatile __global uint *)&shared[2], (uint)in[i]);
    atomic_xor(&shared[3], in[i]);
    atomic_or(&shared[4], 1 << (i & 31));
    int found = atomic_inc(&shared[8 + (in[i] & 7)]);
    atomic_cmpxchg(&shared[5], found, found + 1);
    if (i >= n)
        return;
    switch (in[i] & 3) {
    case 0: out[i] = total; break;
    case 1: out[i] = own[(i + 1) & 7]; break;
    case 3: out[i] = steps; break;
    default: out[i] = -steps;
    }
}

__constant short table[5] = {3, -1, 4, -1, 5};
typedef struct { char tag; float value; short2 pair; } Record;

/* Structures, tables, copies of a group, half precision in memory. */
__kernel void records(__global Record *records, __global half *halves, __global const int *in, __local int *near)
{
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    event_t done = async_work_group_copy(near, in + get_group_id(0) * size, size, 0);
    wait_group_events(1, &done);
    Record r = records[i];
    r.tag += table[i % 5];
    r.pair.y = near[size - 1 - l];
    r.value = r.tag * 0.5f + vload_half(i, halves);
    records[i] = r;
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore_half(r.value * 0.25f, i, halves);
}

typedef struct {
    int count;
    float scale;
    float4 shift;
    int parts[3];
} Given;

/* A structure and a vector by value. */
__kernel void by_value(__global float *data, Given given, float2 more)
{
    int i = get_global_id(0);
    if (i < given.count)
        data[i] = data[i] * given.scale + given.shift.z + given.parts[i % 3] + more.y;
}

typedef struct {
    float x, y, z;
    int id;
} Item;

/* Whole structures move, to private memory and back. */
__kernel void moved(__global Item *out, __global const Item *in)
{
    int i = get_global_id(0);
    Item kept[2];
    kept[0] = in[i];
    kept[1] = in[i ^ 1];
    out[i] = kept[i & 1];
}

/* A group brings rows of a table in, each time a part of it, and every second column of another one. */
__kernel void brought(__global float *out, __global const float *rows, __global const float *columns,
                      __local float *near, int rounds)
{
    int l = get_local_id(0), n = get_local_size(0);
    float sum = 0;
    for (int k = 0; k < rounds; k++) {
        event_t done = async_work_group_copy(near, rows + (get_group_id(0) * rounds + k) * 2 * n, 2 * n, 0);
        done = async_work_group_strided_copy(near + 2 * n, columns + k * 2 * n, n, 2, done);
        wait_group_events(1, &done);
        sum += near[2 * n - 1 - l] + near[2 * n + l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
