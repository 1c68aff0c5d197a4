// A batch for each FPGA, then the batch of each is read, and so on: the original (a batch of one filter), and the form
// with batched transfers.
#include "tdfir.hpp"

int main()
{
    Data data;
    auto fpgas = all_fpgas();
    const auto begun = std::chrono::steady_clock::now();
    for (uint32_t first = 0; first < BATCHES; first += FPGAS) {
        for (uint32_t batch = first; batch < first + FPGAS && batch < BATCHES; batch++) {
            procstar::Fpga& fpga = *fpgas[batch % FPGAS];
            #pragma recap writeKernel send(data, tdfir_top.core, kernel)
            fpga.write(KERNELS, data.kernel(batch), size_t(BATCH) * KERNEL_WORDS);
            #pragma recap writeInput send(data, tdfir_top.core, input)
            fpga.write(INPUTS, data.input(batch), size_t(BATCH) * INPUT_WORDS);
            #pragma recap start send(ctrl, tdfir_top.core, start)
            fpga.write(FINISHED, 1);
        }
        for (uint32_t batch = first; batch < first + FPGAS && batch < BATCHES; batch++) {
            procstar::Fpga& fpga = *fpgas[batch % FPGAS];
            #pragma recap pollFinished wait_recv(late_sender|poll, tdfir_top.core, finished)
            while (fpga.read(FINISHED) != batch / FPGAS + 1) {
            }
            #pragma recap readOutput recv(data, tdfir_top.core, output)
            fpga.read(OUTPUTS, data.output(batch), size_t(BATCH) * OUTPUT_WORDS);
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
