"""The programs in C++ of `call_coverage.py`: an API that counts its own calls, and a program for each kind of call."""

from workbench.model.platform import CallKind, HostEntry

HEADER = """
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
extern "C" int noted(int result);
extern "C" int calls_made();
namespace card {
enum dir { TO, FROM };
inline namespace v2 { int reset(int number); }
int reset(const std::string &name, int number = 0);
template <class T> int fill(T value, int times) { return noted(times); }

class board {
public:
    explicit board(int number) : number(number) {}
    virtual ~board() {}
    virtual int poke(uint32_t address, uint32_t value);
    static std::unique_ptr<board> make(int number);
    int number;
};
class fast : public board {
public:
    explicit fast(int number) : board(number) {}
    int poke(uint32_t address, uint32_t value) override;
};
class buffer {
public:
    explicit buffer(size_t bytes) : bytes(bytes) {}
    void sync(dir way, size_t size, size_t offset = 0) { noted(0); }
    void sync(dir way) { noted(0); }
    int size() const noexcept { return noted((int)bytes); }
    template <class T> T get(size_t index) const { return (T)noted((int)index); }
    uint32_t operator[](size_t index) const { return noted((int)index); }
    template <class... A> int operator()(A &&...) { return noted(sizeof...(A)); }
    buffer &operator<<(int value) { noted(0); return *this; }
    operator bool() const { return noted(1); }
    void fail(int code) { noted(0); throw code; }
    size_t bytes;
};
struct link {
    link() : number(noted(0)) {}
    explicit link(int number) : number(noted(number)) { if (number < 0) throw number; }
    link(const link &) = delete;
    int number;
};
struct wire {
    wire() : number(noted(0)) {}
    explicit wire(int number) noexcept(false) : number(noted(number)) {}
    int number;
};
struct lock {
    ~lock() { noted(0); }
};
class port {
public:
    explicit port(int number = 2);
    port(const port &from);
    ~port();
    int number;
};
struct lane {
    virtual ~lane();
};
struct dock {
    virtual ~dock();
};
struct deck {
    virtual ~deck();
};
inline buffer &operator+=(buffer &to, int value) { noted(0); return to; }
template <int N> struct registers {
    int at(int index) { return noted(index + N); }
};
}
"""
LIBRARY = """
#include "card.hpp"
static int made;
extern "C" int noted(int result) { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); return result; }
extern "C" int calls_made() { return made; }
namespace card {
inline namespace v2 { int reset(int number) { return noted(number); } }
int reset(const std::string &name, int number) { return noted((int)name.size() + number); }
int board::poke(uint32_t address, uint32_t value) { return noted((int)(address + value)); }
int fast::poke(uint32_t address, uint32_t value) { return noted((int)(address - value)); }
port::port(int number) : number(noted(number)) { if (number < 0) throw number; }
port::port(const port &from) : number(noted(from.number)) {}
port::~port() { noted(0); }
lane::~lane() { noted(0); }
dock::~dock() { noted(0); }
deck::~deck() { noted(0); }
std::unique_ptr<board> board::make(int number) { noted(0); return std::unique_ptr<board>(new fast(number)); }
}
"""
ENTRIES = tuple(
    HostEntry(prototype=prototype, kind=kind, bytes=size)
    for prototype, kind, size in (
        ("int card::reset(int number)", CallKind.OTHER, "number"),
        ("int card::reset(const std::string &name, int number)", CallKind.OTHER, "name.size()"),
        ("template <class T> int card::fill(T value, int times)", CallKind.SEND, "sizeof value * times"),
        ("int card::board::poke(uint32_t address, uint32_t value)", CallKind.SEND, "4"),
        ("static std::unique_ptr<card::board> card::board::make(int number)", CallKind.ACQUIRE, ""),
        ("void card::buffer::sync(card::dir way, size_t size, size_t offset = 0)", CallKind.SEND, "size"),
        ("void card::buffer::sync(card::dir way)", CallKind.SEND, "self.bytes"),
        ("int card::buffer::size() const", CallKind.OTHER, ""),
        ("template <class T> T card::buffer::get(size_t index) const", CallKind.RECEIVE, "4"),
        ("uint32_t card::buffer::operator[](size_t index) const", CallKind.RECEIVE, "4"),
        ("template <class... A> int card::buffer::operator()(A &&...args)", CallKind.SEND, ""),
        ("card::buffer &card::buffer::operator<<(int value)", CallKind.SEND, "sizeof value"),
        ("card::buffer::operator bool() const", CallKind.OTHER, ""),
        ("void card::buffer::fail(int code)", CallKind.SEND, "code"),
        ("card::buffer &card::operator+=(card::buffer &to, int value)", CallKind.SEND, "sizeof value"),
        ("int card::registers<N>::at(int index)", CallKind.RECEIVE, "4"),
        ("card::link::link()", CallKind.ACQUIRE, ""),
        ("explicit card::link::link(int number)", CallKind.ACQUIRE, "number"),
        ("card::wire::wire()", CallKind.ACQUIRE, ""),
        ("explicit card::wire::wire(int number)", CallKind.ACQUIRE, "number"),
        ("card::lock::~lock()", CallKind.RELEASE, ""),
        ("explicit card::port::port(int number = 2)", CallKind.ACQUIRE, "number"),
        ("card::port::port(const card::port &from)", CallKind.ACQUIRE, "from.number"),
        ("card::port::~port()", CallKind.RELEASE, "self.number"),
        ("virtual card::lane::~lane()", CallKind.RELEASE, ""),
        ("virtual card::dock::~dock()", CallKind.RELEASE, ""),
        ("virtual card::deck::~deck()", CallKind.RELEASE, ""),
    )
)
#: kind -> (what stands before main, main's body)
PROGRAMS = {
    "functions of namespaces, overloaded": (
        "using card::reset;",
        'x += card::reset(1) + reset(2) + card::v2::reset(3) + card::reset("name") + reset(std::string("n"), 4);',
    ),
    "function templates": (
        "",
        "x += card::fill(1, 2) + card::fill<double>(1, 3); { using namespace card; fill('a', 3); }",
    ),
    "methods, overloaded, with default arguments": (
        "struct holder { card::buffer b{8}; card::buffer &get() { return b; } };",
        "card::buffer b(64); b.sync(card::TO); b.sync(card::TO, 16); (&b)->sync(card::FROM, 4, 2); holder h;\n"
        "h.get().sync(card::TO, 3); h.b.sync(card::TO); x += card::buffer(5).size() + (b).size();",
    ),
    "methods of a class that derives": (
        "struct mine : card::buffer { mine() : buffer(4) {} void all() { sync(card::TO); this->sync(card::TO, 2);\n"
        "buffer::sync(card::FROM); auto f = [this] { sync(card::TO); }; f(); }\n"
        "int twice() const { return size() * 2; } };",
        "mine m; m.all(); x += m.twice() + m.size(); m.card::buffer::sync(card::TO);",
    ),
    "virtual methods, of factories and smart pointers": (
        "static std::shared_ptr<card::board> kept;",
        "auto p = card::board::make(1); x += p->poke(5, 1) + (*p).poke(6, 1) + p.get()->poke(7, 1);\n"
        "x += card::board::make(2)->poke(1, 1); kept = std::move(p); x += kept->poke(9, 1); card::fast f(1);\n"
        "card::board &r = f; x += f.poke(3, 1) + r.poke(3, 1) + f.card::board::poke(3, 1);",
    ),
    "method templates": ("", "card::buffer b(1); x += b.get<int>(3) + (int)b.get<double>(b.get<short>(2));"),
    "class templates": (
        "template <int N> int both(card::registers<N> &r) { return r.at(1) + r.at(2); }",
        "card::registers<4> r; x += r.at(1) + both(r); auto *p = &r; x += p->at(3);",
    ),
    "operators": (
        "",
        'card::buffer b(1); b << 1 << 2; x += b[3] + b[b[1]]; x += b(1, "two") + b(); b += 4; (b += 5) << 6;\n'
        "b.operator<<(7); x += b.operator[](1);",
    ),
    "conversions": ("", "card::buffer b(1); if (b) x++; while (!b) x++; bool y = (bool)b; x += y; x += b && x;"),
    "in templates, of objects of their arguments": (
        "struct other { void sync(card::dir, size_t) {} int size() const { return 1; } };\n"
        "template <class B> int all(B &b, size_t n)\n"
        "{ b.sync(card::TO, n); b.sync(card::TO, sizeof(B)); return b.size(); }",
        "card::buffer b(2); other o; x += all(b, 4) + all(o, 4);",
    ),
    "in templates, functions that their arguments tell": (
        "template <class T> int all(T n)\n{ using namespace card; int x = card::fill(n, 2) + fill<T>(n, 3);\n"
        "return x + card::reset(n); }",
        "x += all(4);",
    ),
    "arguments of macros": (
        "#define TWICE(e) ((e) + (e))\n#define TRY(e) do { if (!(e)) return 1; } while (0)",
        "card::buffer b(2); TRY(b.size() == 2); x += TWICE(b[card::reset(2)]);\n"
        "TRY(TWICE(card::board::make(1)->poke(1, 2))\n"
        "!= b.size());",
    ),
    "macros of the project": (
        "#define SYNC(b) (b).sync(card::TO)\n#define RESET card::reset\n"
        "#define POKE(p, a) do { (p)->poke(a, 1); } while (0)\n"
        "#define NAMED(text) card::reset(text, 2)\n#define SIZE_OF(h) h.get().size()\n#define ALL sync(card::FROM, 3)\n"
        "struct holder { card::buffer b{8}; card::buffer &get() { return b; } };\n"
        "struct other { void sync(card::dir) {} };\n"
        "struct mine : card::buffer { mine() : buffer(3) {} void all() { ALL; } };",
        'card::buffer b(2); SYNC(b); x += RESET(3); x += NAMED("abc"); holder h; x += SIZE_OF(h) + SIZE_OF(h);\n'
        "POKE(card::board::make(1), card::reset(2)); card::fast f(1);\n"
        "POKE(&f, 3); other o; mine m; m.all();\n"
        "SYNC(o);\n"
        "SYNC(m);",
    ),
    "calls in calls, initialisers, conditions": (
        "",
        "static int begun = card::reset(3); card::buffer b(card::reset(4));\n"
        "int y[] = {b.size(), card::reset(b.size())}; for (int i : y) x += i;\n"
        "if (int n = b.size()) x += n; for (int i = 0; i < b.size(); i++) b.sync(card::TO, b.size(), i);\n"
        "x += b.size() ? card::reset(1) : card::reset(2); x += begun;",
    ),
    "lambdas, default arguments, members": (
        "static int more(int a = card::reset(7)) { return a; } struct member { int n = card::reset(5); };",
        "card::buffer b(1); auto f = [&b](int n) { b.sync(card::TO, n); return b.size(); };\n"
        "x += f(3) + more() + more(1); member m; x += m.n + member().n;",
    ),
    "exceptions": (
        "",
        "card::buffer b(1); for (int i = 0; i < 3; i++) try { b.fail(i); x += 100; } catch (int code) { x += code; }",
    ),
    "function pointers": (
        "static int (*whole)(int) = card::reset;",
        "x += whole(3); int (*again)(int) = &card::reset; x += again(4) + (again == whole);\n"
        "int (*fill)(double, int) = &card::fill<double>; x += fill(2.5, 3);",
    ),
    "pointers to members": (
        "static auto kept = &card::board::poke;",
        "card::buffer b(1); int (card::buffer::*m)() const = &card::buffer::size; x += (b.*m)() + ((&b)->*m)();\n"
        "void (card::buffer::*s)(card::dir) = &card::buffer::sync; (b.*s)(card::TO); x += m == &card::buffer::size;\n"
        "card::fast f(2); x += (f.*kept)(4, 1); std::unique_ptr<card::board> p = card::board::make(1);\n"
        "x += (p.get()->*kept)(5, 6); auto made = &card::board::make; p = made(4);",
    ),
    "std::bind and std::function": (
        "#include <functional>",
        "card::buffer b(1); std::function<int(int)> f = [](int n) { return card::reset(n); }; x += f(3);\n"
        "card::registers<4> r;"
        "auto g = std::bind(&card::registers<4>::at, &r, 4); x += g();",
    ),
    "constructors, throwing ones too": (
        "struct holds { card::link a, b{6}; holds() : a(5) {} };",
        "card::link a(1), b{2}, c; auto *d = new card::link(card::link(7).number); static card::link s{}; holds h;\n"
        "x += a.number + b.number + c.number + d->number + card::link{9}.number + h.a.number + h.b.number; delete d;\n"
        "try { card::link t(-3); x += t.number; } catch (int code) { x += code; }",
    ),
    "constructors of bases, and by factories": (
        "#include <list>\n#include <map>\nstruct more : card::wire { more() : wire(4) {} };\n"
        "struct kin : card::wire {};",
        "more m; auto p = std::unique_ptr<card::wire>(new card::wire(2)); x += m.number + p->number;\n"
        "kin k; x += k.number;\n"
        "x += std::make_shared<card::wire>(3)->number; std::list<card::wire> l; l.emplace_back(4);\n"
        "std::map<int, card::wire> n; n.emplace(1, 2); x += l.front().number + n.at(1).number; new card::wire[2];",
    ),
    "of a library: constructors, destructors": (
        "#include <vector>\nstruct more : card::port { more() : port(4) {} }; struct kin : card::port {};\n"
        "struct has { card::port a{7}; std::vector<card::port> all; };\n"
        "static card::port make() { return card::port(8); }",
        "more m; kin k; has h; std::vector<card::port> v(3); v.emplace_back(5); auto w = v; h.all = w;\n"
        "auto p = std::make_shared<card::port>(3); card::port a[2], b = make(); x += b.number + h.all[1].number;\n"
        "for (auto one : v) x += one.number; try { card::port t(-3); } catch (int code) { x += code; }\n"
        "auto *q = new card::port(1); delete q; delete new more; p.reset(new card::port(a[1]));",
    ),
    "of a library: virtual destructors": (
        "struct kin : card::lane { ~kin() override {} };",
        "card::lane a; delete new card::lane; card::lane *p = new kin; delete p; p = nullptr; delete p; { kin k; }",
    ),
    "of a library: virtual destructors, by unique_ptr": (
        "static std::unique_ptr<card::dock> make() { return std::unique_ptr<card::dock>(new card::dock); }",
        "auto p = make(); p.reset(new card::dock); std::shared_ptr<card::dock> q = make(); make(); card::dock here;",
    ),
    "of a library: virtual destructors, by others": ("", "std::shared_ptr<card::deck> p(new card::deck);"),
    "destructors": (
        "struct locked { card::lock its; }; struct kin : card::lock {}; static card::lock make() { return {}; }\n"
        "static int use(const card::lock &) { return 1; } static int take(card::lock) { return 2; }",
        "card::lock a; delete new card::lock; card::lock().~lock(); use(card::lock{}); make(); auto m = make();\n"
        "const card::lock &r = make(); locked h; kin k; x += use(r) + take(make()) + use(m); locked{};\n"
        "delete new locked; std::unique_ptr<card::lock> p(new card::lock); std::list<card::lock> l; l.emplace_back();",
    ),
    "threads": (
        "#include <thread>",
        "card::buffer b(1); auto f = [&b] { for (int i = 0; i < 2000; i++) b.sync(card::TO); };\n"
        "std::thread s(f), t(f); s.join(); t.join();",
    ),
    "not a call: sizeof, decltype, noexcept": (
        "",
        "card::buffer b(1); decltype(b.size()) y = sizeof(b[1]); x += (decltype(b.size() + card::reset(1)))2;\n"
        "x += y + noexcept(b.sync(card::TO)) + sizeof(__typeof__(b.size())); b.sync(card::TO);",
    ),
}

#: Why a kind is reported rather than recorded, and how many calls one report stands for.
WHY = {
    "in templates, functions that their arguments tell": ("which overload it is, only a template's arguments tell", 1),
    "of a library: virtual destructors, by others": ("the call is in a table of the library's", 1),
}


def program() -> tuple[dict[str, str], dict[str, list[tuple[str, range]]]]:
    """All kinds in one file, which when run says of each how many calls were made and what came of them; and the lines
    of each kind."""
    lines = ['#include "card.hpp"', "#include <cstdio>"]
    lines += [line for before, _ in PROGRAMS.values() for line in before.split("\n") if line.startswith("#include")]
    places: dict[str, list[tuple[str, range]]] = {}
    for number, (kind, (before, body)) in enumerate(PROGRAMS.items()):
        own = [line for line in before.split("\n") if not line.startswith("#include")]
        begin = len(lines) + 1
        lines += [
            f"namespace kind_{number} {{",
            *own,
            "int run()",
            "{",
            "int x = 0;",
            *body.split("\n"),
            "return x;",
            "}}",
        ]
        places[kind] = [("main.cpp", range(begin, len(lines) + 1))]
    lines += ["int main()", "{", "int before = 0, x;"]
    for number in range(len(PROGRAMS)):
        lines.append(f'x = kind_{number}::run(); std::printf("%d %d\\n", calls_made() - before, x);')
        lines.append("before = calls_made();")
    return {"main.cpp": "\n".join([*lines, "return 0;", "}", ""])}, places
