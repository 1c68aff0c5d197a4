/* To which of the clusters' centres each point lies nearest, a point for each work item. */
#ifndef CLUSTERS
#define CLUSTERS 128
#endif
#ifndef FEATURES
#define FEATURES 8
#endif

/* A point's features lie one behind another. */
__kernel void kmeans(__global const float *points, __global const float *centres, __global int *nearest)
{
    size_t point = get_global_id(0);
    float least = FLT_MAX;
    int found = 0;
    for (int cluster = 0; cluster < CLUSTERS; cluster++) {
        float distance = 0.0f;
        for (int f = 0; f < FEATURES; f++) {
            float apart = points[point * FEATURES + f] - centres[cluster * FEATURES + f];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            found = cluster;
        }
    }
    nearest[point] = found;
}

/* The centres are brought into local memory first. */
__kernel void kmeans_local(__global const float *points, __global const float *centres, __global int *nearest)
{
    __local float near[CLUSTERS * FEATURES];
    size_t point = get_global_id(0);
    for (int i = get_local_id(0); i < CLUSTERS * FEATURES; i += get_local_size(0))
        near[i] = centres[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float least = FLT_MAX;
    int found = 0;
    for (int cluster = 0; cluster < CLUSTERS; cluster++) {
        float distance = 0.0f;
        for (int f = 0; f < FEATURES; f++) {
            float apart = points[point * FEATURES + f] - near[cluster * FEATURES + f];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            found = cluster;
        }
    }
    nearest[point] = found;
}

/* As kmeans_local, but each feature of all points lies in one piece, so that neighbours read neighbours. */
__kernel void kmeans_local_coalesced(__global const float *points, __global const float *centres,
                                     __global int *nearest)
{
    __local float near[CLUSTERS * FEATURES];
    size_t point = get_global_id(0);
    size_t count = get_global_size(0);
    for (int i = get_local_id(0); i < CLUSTERS * FEATURES; i += get_local_size(0))
        near[i] = centres[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float least = FLT_MAX;
    int found = 0;
    for (int cluster = 0; cluster < CLUSTERS; cluster++) {
        float distance = 0.0f;
        for (int f = 0; f < FEATURES; f++) {
            float apart = points[f * count + point] - near[cluster * FEATURES + f];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            found = cluster;
        }
    }
    nearest[point] = found;
}
