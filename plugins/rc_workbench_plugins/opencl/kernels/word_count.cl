/* How often words stand in a text: each work item takes a part of it, and counts the words that begin there, in the table's
   entry that a word's letters hash to. Everything that is no letter parts words. */
#ifndef ENTRIES
#define ENTRIES 1024
#endif

bool letter(uchar c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

__kernel void word_count(__global const uchar *text, int bytes, int part_bytes, __global int *counts)
{
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    for (int i = begin; i < end; i++) {
        if (!letter(text[i]) || (i > 0 && letter(text[i - 1])))
            continue;
        uint hash = 5381;
        for (int k = i; k < bytes && letter(text[k]); k++)
            hash = hash * 33 + (text[k] | 32);
        atomic_inc(&counts[hash % ENTRIES]);
    }
}

/* A work group counts in local memory, and adds that to the whole at its end. */
__kernel void word_count_local(__global const uchar *text, int bytes, int part_bytes, __global int *counts)
{
    __local int near[ENTRIES];
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        near[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int begin = get_global_id(0) * part_bytes;
    int end = min(begin + part_bytes, bytes);
    bool inside = begin > 0 && begin < bytes && letter(text[begin - 1]);
    uint hash = 5381;
    bool counting = false;
    for (int i = begin; i < bytes; i++) {
        uchar c = text[i];
        if (letter(c)) {
            if (!inside && i < end)
                counting = true;
            hash = counting ? hash * 33 + (c | 32) : 5381;
            inside = true;
        } else {
            if (counting)
                atomic_inc(&near[hash % ENTRIES]);
            counting = false;
            inside = false;
            hash = 5381;
            if (i >= end)
                break;
        }
        if (i >= end && !counting)
            break;
    }
    if (counting)
        atomic_inc(&near[hash % ENTRIES]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < ENTRIES; i += get_local_size(0))
        atomic_add(&counts[i], near[i]);
}
