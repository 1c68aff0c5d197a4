/* The OpenCL host API on the simulated card: every card is a device with one kernel, the design, in whatever binary, and has
 * contexts of its own.
 * `kernels.h` tells how the design takes a kernel's arguments, and when commands begin. */
#define _GNU_SOURCE
#include "CL/cl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

enum { MOST_DEVICES = 64 };

struct _cl_platform_id { int any; };
struct _cl_device_id {
    wbk_card *card;
    int contexts;
    unsigned char *binary; /* what it is configured with */
    size_t length;
};
struct _cl_context { int users; cl_device_id device; };
struct _cl_program { int users; cl_device_id device; };
struct _cl_kernel { wbk_arguments arguments; };
struct _cl_event { int users; wbk_command *command; /* NULL: there was nothing to do */ };

struct _cl_mem {
    int users;
    cl_device_id device;
    int64_t address;
    size_t size;
    unsigned char *host; /* the application's, where it gave one to be used; else what it mapped */
    int owned;
    size_t mapped_from, mapped_bytes; /* for writing */
    cl_mem next;
};

struct _cl_command_queue {
    cl_device_id device;
    int in_order, count, room;
    wbk_command **commands;
};

static struct _cl_platform_id the_platform;
static struct _cl_device_id every_device[MOST_DEVICES];
static cl_mem memories;

static void *answer(void *made, cl_int *error)
{
    if (error)
        *error = made ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    return made;
}

/* Whether there is no object, as after a call that failed: that is told too, as few programs look at what they get back. */
static int is_none(const void *object, const char *call)
{
    if (!object)
        fprintf(stderr, "simulated card: %s was given NULL for its object\n", call);
    return !object;
}

static void *refused(cl_int *error, cl_int why)
{
    if (error)
        *error = why;
    return NULL;
}

static cl_int tell(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_ret)
{
    if (to && room < bytes)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, value, bytes);
    if (bytes_ret)
        *bytes_ret = bytes;
    return CL_SUCCESS;
}

static cl_int tell_text(const char *text, size_t room, void *to, size_t *bytes_ret)
{
    return tell(text, strlen(text) + 1, room, to, bytes_ret);
}

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms && entries)
        platforms[0] = &the_platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t room, void *to, size_t *bytes)
{
    (void)platform;
    return tell_text(name == CL_PLATFORM_VERSION ? "OpenCL 3.0 simulated card" : "simulated card", room, to, bytes);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id *devices, cl_uint *count)
{
    (void)platform;
    if (!(type & (CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    cl_uint there = (cl_uint)wbcard_count();
    for (cl_uint i = 0; devices && i < entries && i < there; i++)
        devices[i] = &every_device[i];
    if (count)
        *count = there;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t room, void *to, size_t *bytes)
{
    (void)device;
    return tell_text(name == CL_DEVICE_VERSION ? "OpenCL 3.0 simulated card" : "simulated card", room, to, bytes);
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong *host)
{
    struct timespec now;
    (void)device;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *host = (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
    return CL_SUCCESS;
}

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *of_device, cl_ulong *host)
{
    clGetHostTimer(device, host);
    *of_device = *host; /* one clock */
    return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void (*notify)(const char *, const void *, size_t, void *), void *data, cl_int *error)
{
    (void)properties, (void)notify, (void)data;
    cl_device_id device = count == 1 ? devices[0] : NULL;
    if (!device || (!device->card && !(device->card = wbk_open((int)(device - every_device)))))
        return answer(NULL, error);
    cl_context made = malloc(sizeof *made);
    *made = (struct _cl_context){1, device};
    device->contexts++;
    return answer(made, error);
}

cl_int clReleaseContext(cl_context context)
{
    if (is_none(context, __func__))
        return CL_INVALID_CONTEXT;
    if (--context->users)
        return CL_SUCCESS;
    if (!--context->device->contexts) {
        wbk_close(context->device->card);
        context->device->card = NULL;
    }
    free(context);
    return CL_SUCCESS;
}

static cl_command_queue new_queue(cl_device_id device, cl_command_queue_properties properties)
{
    cl_command_queue made = calloc(1, sizeof *made);
    made->device = device;
    made->in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    return made;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *error)
{
    if (is_none(context, __func__))
        return refused(error, CL_INVALID_CONTEXT);
    (void)context;
    return answer(new_queue(device, properties), error);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *error)
{
    if (is_none(context, __func__))
        return refused(error, CL_INVALID_CONTEXT);
    cl_command_queue_properties asked = 0;
    (void)context;
    for (; properties && properties[0]; properties += 2)
        if (properties[0] == CL_QUEUE_PROPERTIES)
            asked = properties[1];
    return answer(new_queue(device, asked), error);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
                                     const unsigned char **binaries, cl_int *status, cl_int *error)
{
    if (is_none(context, __func__))
        return refused(error, CL_INVALID_CONTEXT);
    cl_device_id device = context->device;
    for (cl_uint i = 0; status && i < count; i++)
        status[i] = CL_SUCCESS;
    if (!device->binary || device->length != lengths[0] || memcmp(device->binary, binaries[0], lengths[0])) {
        wbcard_t *card = wbcard_open((int)(device - every_device));
        int failed = wbcard_configure(card, "configure", "");
        wbcard_close(card);
        if (failed)
            return answer(NULL, error);
        free(device->binary);
        device->length = lengths[0];
        device->binary = memcpy(malloc(lengths[0] + 1), binaries[0], lengths[0]);
    }
    cl_program made = malloc(sizeof *made);
    *made = (struct _cl_program){1, devices[0]};
    return answer(made, error);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void (*notify)(cl_program, void *), void *data)
{
    if (is_none(program, __func__))
        return CL_INVALID_PROGRAM;
    (void)count, (void)devices, (void)options;
    if (notify)
        notify(program, data);
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program program)
{
    if (is_none(program, __func__))
        return CL_INVALID_PROGRAM;
    if (!--program->users)
        free(program);
    return CL_SUCCESS;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    if (is_none(program, __func__))
        return refused(error, CL_INVALID_PROGRAM);
    (void)program, (void)name;
    return answer(calloc(1, sizeof(struct _cl_kernel)), error);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    if (is_none(kernel, __func__))
        return CL_INVALID_KERNEL;
    free(kernel);
    return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    if (is_none(kernel, __func__))
        return CL_INVALID_KERNEL;
    for (cl_mem memory = memories; value && size == sizeof memory && memory; memory = memory->next)
        if (!memcmp(&memory, value, sizeof memory))
            return wbk_set_argument(&kernel->arguments, index, &memory->address, sizeof memory->address)
                       ? CL_INVALID_ARG_INDEX : CL_SUCCESS;
    return value && wbk_set_argument(&kernel->arguments, index, value, size) ? CL_INVALID_ARG_INDEX : CL_SUCCESS;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    if (is_none(context, __func__))
        return refused(error, CL_INVALID_CONTEXT);
    wbk_card *card = context->device->card;
    cl_mem made = calloc(1, sizeof *made);
    *made = (struct _cl_mem){.users = 1, .device = context->device, .size = size, .next = memories};
    made->address = wbk_allocate(card, size);
    made->host = flags & CL_MEM_USE_HOST_PTR ? host : NULL;
    memories = made;
    if (host && flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) {
        wbk_command *copied = wbk_write(card, made->address, host, size, NULL, 0);
        wbk_wait(copied);
        wbk_drop(copied);
    }
    return answer(made, error);
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t room, void *to, size_t *bytes)
{
    if (is_none(memory, __func__))
        return CL_INVALID_MEM_OBJECT;
    return name == CL_MEM_SIZE ? tell(&memory->size, sizeof memory->size, room, to, bytes) : CL_INVALID_VALUE;
}

cl_int clRetainMemObject(cl_mem memory)
{
    if (is_none(memory, __func__))
        return CL_INVALID_MEM_OBJECT;
    memory->users++;
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    if (is_none(memory, __func__))
        return CL_INVALID_MEM_OBJECT;
    if (--memory->users)
        return CL_SUCCESS;
    cl_mem *place = &memories;
    while (*place != memory)
        place = &(*place)->next;
    *place = memory->next;
    wbk_free(memory->device->card, memory->address);
    if (memory->owned)
        free(memory->host);
    free(memory);
    return CL_SUCCESS;
}

/* ---- commands ---- */

/* What a command comes after: the events, and in an ordered queue the command before. */
static wbk_command **after(cl_command_queue queue, cl_uint count, const cl_event *events, int *length)
{
    wbk_command **made = malloc((count + 1) * sizeof *made);
    *length = 0;
    for (cl_uint i = 0; i < count; i++)
        if (events[i] && events[i]->command)
            made[(*length)++] = events[i]->command;
    if (queue->in_order && queue->count)
        made[(*length)++] = queue->commands[queue->count - 1];
    return made;
}

static void new_event(cl_event *event, wbk_command *command)
{
    if (!event)
        return;
    *event = malloc(sizeof **event);
    **event = (struct _cl_event){1, command ? wbk_keep(command) : NULL};
}

static cl_int enqueued(cl_command_queue queue, wbk_command *command, wbk_command **waited_for, int wait, cl_event *event)
{
    free(waited_for);
    int kept = 0;
    for (int i = 0; i < queue->count; i++)
        if (wbk_was_done(queue->commands[i]))
            wbk_drop(queue->commands[i]);
        else
            queue->commands[kept++] = queue->commands[i];
    queue->count = kept;
    if (queue->count == queue->room) {
        queue->room = 2 * queue->room + 8;
        queue->commands = realloc(queue->commands, (size_t)queue->room * sizeof *queue->commands);
    }
    queue->commands[queue->count++] = command;
    new_event(event, command);
    return wait && wbk_wait(command) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int move(cl_command_queue queue, cl_mem memory, int sends, size_t offset, size_t size, void *at, int wait,
                   cl_uint count, const cl_event *events, cl_event *event)
{
    if (offset > memory->size || size > memory->size - offset)
        return CL_INVALID_VALUE;
    int length;
    wbk_command **before = after(queue, count, events, &length);
    wbk_card *card = queue->device->card;
    int64_t address = memory->address + (int64_t)offset;
    wbk_command *command = sends ? wbk_write(card, address, at, size, before, length)
                                 : wbk_read(card, at, address, size, before, length);
    return enqueued(queue, command, before, wait, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint count, const cl_event *events, cl_event *event)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    if (is_none(buffer, __func__))
        return CL_INVALID_MEM_OBJECT;
    return move(queue, buffer, 1, offset, size, (void *)from, (int)blocking, count, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *to,
                           cl_uint count, const cl_event *events, cl_event *event)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    if (is_none(buffer, __func__))
        return CL_INVALID_MEM_OBJECT;
    return move(queue, buffer, 0, offset, size, to, (int)blocking, count, events, event);
}

/* A host's side of the buffer: the application's own, or one made for it. */
static unsigned char *host_side(cl_mem memory)
{
    if (!memory->host)
        memory->host = calloc(1, memory->size), memory->owned = 1;
    return memory->host;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint objects, const cl_mem *memories_, cl_mem_migration_flags flags,
                                  cl_uint count, const cl_event *events, cl_event *event)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int failed = objects ? CL_SUCCESS : CL_INVALID_VALUE;
    for (cl_uint i = 0; i < objects && !failed; i++)
        failed = is_none(memories_[i], __func__)
                     ? CL_INVALID_MEM_OBJECT
                     : move(queue, memories_[i], !(flags & CL_MIGRATE_MEM_OBJECT_HOST), 0, memories_[i]->size,
                            host_side(memories_[i]), 0, count, events, i + 1 == objects ? event : NULL);
    return failed;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event *events, cl_event *event, cl_int *error)
{
    if (is_none(queue, __func__))
        return refused(error, CL_INVALID_COMMAND_QUEUE);
    if (is_none(buffer, __func__))
        return refused(error, CL_INVALID_MEM_OBJECT);
    if (offset > buffer->size || size > buffer->size - offset)
        return answer(NULL, error);
    unsigned char *at = host_side(buffer) + offset;
    if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
        buffer->mapped_from = offset, buffer->mapped_bytes = size;
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        new_event(event, NULL);
    else if (move(queue, buffer, 0, offset, size, at, (int)blocking, count, events, event))
        return answer(NULL, error);
    return answer(at, error);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped, cl_uint count, const cl_event *events,
                               cl_event *event)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    if (is_none(memory, __func__))
        return CL_INVALID_MEM_OBJECT;
    size_t bytes = memory->mapped_bytes;
    memory->mapped_bytes = 0;
    if (bytes)
        return move(queue, memory, 1, memory->mapped_from, bytes, mapped, 0, count, events, event);
    new_event(event, NULL);
    return CL_SUCCESS;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *events, cl_event *event)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    if (is_none(kernel, __func__))
        return CL_INVALID_KERNEL;
    int length;
    wbk_command **before = after(queue, count, events, &length);
    return enqueued(queue, wbk_run(queue->device->card, &kernel->arguments, before, length), before, 0, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
                              cl_event *event)
{
    (void)dimensions, (void)offset, (void)global, (void)local; /* the design knows its range, or has it as an argument */
    return clEnqueueTask(queue, kernel, count, events, event);
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t room, void *to, size_t *bytes)
{
    if (is_none(event, __func__))
        return CL_INVALID_EVENT;
    cl_int status = !event->command || wbk_is_done(event->command) ? CL_COMPLETE : CL_SUBMITTED;
    return name == CL_EVENT_COMMAND_EXECUTION_STATUS ? tell(&status, sizeof status, room, to, bytes) : CL_INVALID_VALUE;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int failed = CL_SUCCESS;
    for (cl_uint i = 0; i < count; i++)
        if (is_none(events[i], __func__))
            failed = CL_INVALID_EVENT;
        else if (events[i]->command && wbk_wait(events[i]->command))
            failed = CL_OUT_OF_RESOURCES;
    return failed;
}

cl_int clFlush(cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int failed = CL_SUCCESS;
    for (int i = 0; i < queue->count; i++) {
        if (wbk_wait(queue->commands[i]))
            failed = CL_OUT_OF_RESOURCES;
        wbk_drop(queue->commands[i]);
    }
    queue->count = 0;
    return failed;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    if (is_none(queue, __func__))
        return CL_INVALID_COMMAND_QUEUE;
    clFinish(queue);
    free(queue->commands);
    free(queue);
    return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event event)
{
    if (is_none(event, __func__))
        return CL_INVALID_EVENT;
    event->users++;
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event)
{
    if (is_none(event, __func__))
        return CL_INVALID_EVENT;
    if (--event->users)
        return CL_SUCCESS;
    if (event->command)
        wbk_drop(event->command);
    free(event);
    return CL_SUCCESS;
}
