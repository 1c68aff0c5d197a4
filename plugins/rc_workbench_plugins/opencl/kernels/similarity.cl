/* How alike two documents are: the cosine between their features, for each pair of a work item's. */
__kernel void similarity(__global const float *features, __global float *scores, int documents, int count)
{
    int one = get_global_id(0);
    int other = get_global_id(1);
    float product = 0.0f, square_one = 0.0f, square_other = 0.0f;
    for (int f = 0; f < count; f++) {
        float a = features[one * count + f];
        float b = features[other * count + f];
        product += a * b;
        square_one += a * a;
        square_other += b * b;
    }
    scores[other * documents + one] = product / (sqrt(square_one) * sqrt(square_other));
}

/* Four features at a time. */
__kernel void similarity_vector(__global const float4 *features, __global float *scores, int documents, int count)
{
    int one = get_global_id(0);
    int other = get_global_id(1);
    int quarter = count / 4;
    float product = 0.0f, square_one = 0.0f, square_other = 0.0f;
    for (int f = 0; f < quarter; f++) {
        float4 a = features[one * quarter + f];
        float4 b = features[other * quarter + f];
        product += dot(a, b);
        square_one += dot(a, a);
        square_other += dot(b, b);
    }
    scores[other * documents + one] = product / (sqrt(square_one) * sqrt(square_other));
}
