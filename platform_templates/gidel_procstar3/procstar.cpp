// procstar.hpp on the simulated card. Transfer tables: write, read, write_reg, read_reg; configure is used where there is one.
#include "procstar.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include "wbcard.h"

namespace procstar {

struct Fpga::State {
    wbcard_t* card;
};

static void need(int status, const char* what)
{
    if (status) throw std::runtime_error(std::string("the card refused ") + what);
}

Fpga::Fpga(int number, const char* configuration) : state(new State{wbcard_open(number)})
{
    if (!state->card) throw std::runtime_error("there is no FPGA " + std::to_string(number));
    static std::map<int, std::string> configured; // what is there already is not loaded again
    if (configured[number] == configuration) return;
    need(wbcard_configure(state->card, "configure", configuration), "the configuration");
    configured[number] = configuration;
}

Fpga::~Fpga() { wbcard_close(state->card); }

void Fpga::write(uint32_t address, const uint32_t* data, size_t words, Mode mode)
{
    const auto send = mode == Mode::blocking ? wbcard_send : wbcard_send_async;
    need(send(state->card, "write", data, address, static_cast<int64_t>(words) * 4), "a write");
}

void Fpga::read(uint32_t address, uint32_t* data, size_t words)
{
    need(wbcard_receive(state->card, "read", data, address, static_cast<int64_t>(words) * 4), "a read");
}

void Fpga::write(uint32_t address, uint32_t value)
{
    need(wbcard_send(state->card, "write_reg", &value, address, sizeof value), "the write of a register");
}

uint32_t Fpga::read(uint32_t address) const
{
    uint32_t value = 0;
    need(wbcard_receive(state->card, "read_reg", &value, address, sizeof value), "the read of a register");
    return value;
}

void Fpga::wait() { need(wbcard_wait(state->card), "to wait"); }
void Fpga::waitInterrupt() { need(wbcard_wait_irq(state->card), "to wait for its interrupt"); }

std::unique_ptr<Fpga> open(int number, const char* configuration)
{
    return std::unique_ptr<Fpga>(new Fpga(number, configuration));
}

} // namespace procstar
