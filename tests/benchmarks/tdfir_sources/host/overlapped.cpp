// Asynchronous writes into BUFFERS buffers of each FPGA, which begins a batch as its last word arrives, and says by its
// interrupt that one is finished.
#include "tdfir.hpp"

int main()
{
    Data data;
    auto fpgas = all_fpgas();
    const auto begun = std::chrono::steady_clock::now();
    constexpr uint32_t AHEAD = FPGAS * BUFFERS; // batches under way
    for (uint32_t step = 0; step < BATCHES + AHEAD; step++) {
        procstar::Fpga& fpga = *fpgas[step % FPGAS];
        const uint32_t buffer = step / FPGAS % BUFFERS;
        if (step >= AHEAD && step - AHEAD < BATCHES) {
            #pragma recap waitFinished wait_recv(late_sender, tdfir_top.core, output)
            fpga.waitInterrupt();
            #pragma recap readOutput recv(data, tdfir_top.core, output)
            fpga.read(OUTPUTS + buffer * BATCH * OUTPUT_WORDS, data.output(step - AHEAD), size_t(BATCH) * OUTPUT_WORDS);
        }
        if (step < BATCHES) {
            #pragma recap writeKernel send(data, tdfir_top.core, kernel)
            fpga.write(
                KERNELS + buffer * BATCH * KERNEL_WORDS, data.kernel(step), size_t(BATCH) * KERNEL_WORDS,
                procstar::Mode::nonblocking);
            #pragma recap writeInput send(data, tdfir_top.core, input)
            fpga.write(
                INPUTS + buffer * BATCH * INPUT_WORDS, data.input(step), size_t(BATCH) * INPUT_WORDS,
                procstar::Mode::nonblocking);
        }
    }
    const auto ended = std::chrono::steady_clock::now();
    for (procstar::Fpga* fpga : fpgas) {
        #pragma recap closeFpga overhead(finalize)
        delete fpga;
    }
    data.print(ended - begun);
    return 0;
}
