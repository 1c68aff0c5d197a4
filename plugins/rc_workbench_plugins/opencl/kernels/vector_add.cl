/* c = a + b, an element for each work item. */
__kernel void vector_add(__global const int *a, __global const int *b, __global int *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
