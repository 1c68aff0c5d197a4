/* How often words stand in a text, as a map of a text's parts: each work item takes a part of it, and counts the words that
   begin there, in the table's entry that a word's letters hash to. Everything that is no letter parts words. */
#ifndef ENTRIES
#define ENTRIES 1024
#endif
#define LETTERS 32 /* of a word, which is cut off after them */

bool letter(uchar c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A word is put together in global memory, then counted there. */
__kernel void word_count(__global const uchar *text, int bytes, int part_bytes, __global uchar *words, __global int *counts)
{
    __global uchar *word = words + LETTERS * get_global_id(0);
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    for (int i = begin; i < end; i++) {
        if (!letter(text[i]) || (i > 0 && letter(text[i - 1])))
            continue;
        int length = 0;
        for (int k = i; k < bytes && length < LETTERS && letter(text[k]); k++)
            word[length++] = text[k] | 32;
        uint hash = 5381;
        for (int n = 0; n < length; n++)
            hash = hash * 33 + word[n];
        atomic_inc(&counts[hash % ENTRIES]);
    }
}

/* SM: a work group counts in local memory, and adds that to the whole at its end. */
__kernel void word_count_local(__global const uchar *text, int bytes, int part_bytes, __global uchar *words,
                               __global int *counts)
{
    __local int near[ENTRIES];
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        near[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uchar *word = words + LETTERS * get_global_id(0);
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    for (int i = begin; i < end; i++) {
        if (!letter(text[i]) || (i > 0 && letter(text[i - 1])))
            continue;
        int length = 0;
        for (int k = i; k < bytes && length < LETTERS && letter(text[k]); k++)
            word[length++] = text[k] | 32;
        uint hash = 5381;
        for (int n = 0; n < length; n++)
            hash = hash * 33 + word[n];
        atomic_inc(&near[hash % ENTRIES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        atomic_add(&counts[i], near[i]);
}

/* PM: a word is put together in private memory. */
__kernel void word_count_private(__global const uchar *text, int bytes, int part_bytes, __global uchar *words,
                                 __global int *counts)
{
    __local int near[ENTRIES];
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        near[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar word[LETTERS];
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    for (int i = begin; i < end; i++) {
        if (!letter(text[i]) || (i > 0 && letter(text[i - 1])))
            continue;
        int length = 0;
        for (int k = i; k < bytes && length < LETTERS && letter(text[k]); k++)
            word[length++] = text[k] | 32;
        uint hash = 5381;
        for (int n = 0; n < length; n++)
            hash = hash * 33 + word[n];
        atomic_inc(&near[hash % ENTRIES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        atomic_add(&counts[i], near[i]);
}

/* VT: four letters of the text are read at once. A part is a multiple of that, the text too. */
__kernel void word_count_vector(__global const uchar *text, int bytes, int part_bytes, __global uchar *words,
                                __global int *counts)
{
    __local int near[ENTRIES];
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        near[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global const uchar4 *fours = (__global const uchar4 *)text;
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    bool inside = begin > 0 && begin < bytes && letter(text[begin - 1]);
    bool counting = false;
    int length = 0;
    uint hash = 5381;
    for (int i = begin; i < bytes && (i < end || counting); i += 4) {
        uchar4 four = fours[i / 4];
        uchar c[4] = {four.x, four.y, four.z, four.w};
        for (int n = 0; n < 4; n++) {
            bool is = letter(c[n]);
            if (is && !inside && i < end)
                counting = true;
            if (is && counting && length < LETTERS) {
                hash = hash * 33 + (c[n] | 32);
                length++;
            }
            if (!is && counting) {
                atomic_inc(&near[hash % ENTRIES]);
                counting = false;
            }
            if (!is) {
                hash = 5381;
                length = 0;
            }
            inside = is;
        }
    }
    if (counting)
        atomic_inc(&near[hash % ENTRIES]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        atomic_add(&counts[i], near[i]);
}
