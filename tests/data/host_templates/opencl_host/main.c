/* Every call of the OpenCL template: words multiplied on the device, by buffers that are written, migrated and mapped. What the
 * program counts itself it prints last: calls and bytes of each entry. */
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 64, BYTES = WORDS * 4, ROUNDS = 3 };

static void check(cl_int status, int line)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "main.c:%d: status %d\n", line, (int)status);
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

static unsigned long sum(const cl_uint *words)
{
    unsigned long all = 0;
    for (int i = 0; i < WORDS; i++)
        all += words[i];
    return all;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    cl_ulong on_device, on_host;
    static const unsigned char binary[] = {0};
    const unsigned char *binaries[] = {binary};
    const size_t length = sizeof binary, global = WORDS;
    cl_uint words[WORDS], scaled[WORDS], factor = 3, count = WORDS;

    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    CHECK(clGetDeviceAndHostTimer(device, &on_device, &on_host));
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    CHECK(error);
    cl_command_queue other = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    CHECK(error);
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &length, binaries, NULL, &error);
    CHECK(error);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "scale", &error);
    CHECK(error);
    for (cl_uint i = 0; i < WORDS; i++)
        words[i] = i + 1;
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, words, &error);
    CHECK(error);
    cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, BYTES, NULL, &error);
    CHECK(error);
    CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
    CHECK(clSetKernelArg(kernel, 1, sizeof to, &to));
    CHECK(clSetKernelArg(kernel, 2, sizeof factor, &factor));
    CHECK(clSetKernelArg(kernel, 3, sizeof count, &count));

    /* The data came with the buffer. */
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, BYTES, scaled, 0, NULL, NULL));
    printf("task %lu\n", sum(scaled));

    /* Written in three parts, the first of which is waited for; an event tells when the kernel has ended. */
    for (int round = 0; round < ROUNDS; round++) {
        cl_event ran, got;
        for (cl_uint i = 0; i < WORDS; i++)
            words[i] = i + (cl_uint)round;
        CHECK(clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, BYTES / 2, words, 0, NULL, NULL));
        CHECK(clEnqueueWriteBuffer(queue, from, CL_FALSE, BYTES / 2, BYTES / 4, words + WORDS / 2, 0, NULL, NULL));
        CHECK(clEnqueueWriteBuffer(queue, from, CL_FALSE, BYTES * 3 / 4, BYTES / 4, words + WORDS * 3 / 4, 0, NULL, NULL));
        CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &ran));
        CHECK(clEnqueueReadBuffer(other, to, CL_FALSE, 0, BYTES, scaled, 1, &ran, &got));
        for (cl_int status = CL_SUBMITTED; round == 1 && status != CL_COMPLETE;)
            CHECK(clGetEventInfo(got, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        CHECK(clWaitForEvents(1, &got));
        CHECK(clReleaseEvent(ran));
        CHECK(clReleaseEvent(got));
        printf("round %d %lu\n", round, sum(scaled));
    }

    /* All of it enqueued before anything is waited for, through the same buffers. */
    cl_uint first[WORDS], second[WORDS];
    CHECK(clEnqueueWriteBuffer(queue, from, CL_FALSE, 0, BYTES, words, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, to, CL_FALSE, 0, BYTES, first, 0, NULL, NULL));
    CHECK(clEnqueueWriteBuffer(queue, from, CL_FALSE, 0, BYTES, scaled, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, to, CL_FALSE, 0, BYTES, second, 0, NULL, NULL));
    CHECK(clFinish(queue));
    printf("chained %lu %lu\n", sum(first), sum(second));

    /* By mapping and migrating: twice the result, as the source of the next. */
    cl_uint *mapped = clEnqueueMapBuffer(queue, from, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, BYTES, 0, NULL, NULL, &error);
    CHECK(error);
    for (int i = 0; i < WORDS; i++)
        mapped[i] = 2 * scaled[i];
    CHECK(clEnqueueUnmapMemObject(queue, from, mapped, 0, NULL, NULL));
    CHECK(clEnqueueMigrateMemObjects(queue, 1, &from, 0, 0, NULL, NULL));
    CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    cl_mem both[] = {from, to};
    CHECK(clEnqueueMigrateMemObjects(queue, 2, both, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    CHECK(clFinish(queue));
    mapped = clEnqueueMapBuffer(queue, to, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &error);
    CHECK(error);
    printf("mapped %lu\n", sum(mapped));
    CHECK(clEnqueueUnmapMemObject(queue, to, mapped, 0, NULL, NULL));
    CHECK(clFinish(queue));
    CHECK(clReleaseMemObject(from));
    CHECK(clReleaseMemObject(to));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(other));
    CHECK(clReleaseCommandQueue(queue));
    CHECK(clReleaseContext(context));
    printf("none %d %d\n", clReleaseKernel(NULL), clFinish(NULL)); /* no object: a code, as any implementation has it */
    return 0;
}
