"""C++ that every API made of a template has: which card each object holds, and how an object of the API is made.

`rcw_begin` makes what a member, a base or an argument begins as, be its type as it may: of what is given, by default,
of texts, or of arguments that nobody looks at.
"""

#: What of the library is included before the API's own headers.
STANDARD = ("functional", "map", "memory", "optional", "stdexcept", "string", "type_traits", "utility", "vector")
OBJECTS = """
/* An object's card, where on it the object begins, how large it is, and what it holds in the program's memory. */
struct rcw_place { wbcard_t *card; int64_t address, bytes = 0; void *memory = nullptr; };
static std::map<const void *, rcw_place> rcw_objects;
static rcw_place rcw_making; /* of the object that a call of the API makes now */
static std::function<void(void *)> rcw_fill; /* gives its members what that call was given */

template <class T> static const void *rcw_at(const T &object) { return &object; }
template <class T> static const void *rcw_at(T *object) { return object; }
template <class T> static const void *rcw_at(const std::shared_ptr<T> &object) { return object.get(); }
template <class T> static const void *rcw_at(const std::unique_ptr<T> &object) { return object.get(); }

static inline wbcard_t *rcw_only() /* the card that is open, where one alone is */
{
    wbcard_t *only = nullptr;
    for (wbcard_t *card : rcw_cards)
        if (card && only) return nullptr;
        else if (card) only = card;
    return only;
}

/* An object that is returned by value may stand elsewhere than where it was made. */
static inline rcw_place rcw_place_of(const void *object)
{
    auto found = rcw_objects.find(object);
    if (found != rcw_objects.end()) return found->second;
    wbcard_t *only = rcw_only();
    return {only ? only : rcw_numbered(0), 0};
}

static inline wbcard_t *rcw_held(const void *object) { return rcw_place_of(object).card; }

static inline void *rcw_memory(const void *object)
{
    rcw_place &place = rcw_objects.emplace(object, rcw_place_of(object)).first->second;
    return place.memory ? place.memory : place.memory = calloc(1, 64 << 20); /* pages come as they are touched */
}

static inline int rcw_drop(const void *object)
{
    auto found = rcw_objects.find(object);
    wbcard_t *card = found != rcw_objects.end() ? found->second.card : object ? rcw_only() : nullptr;
    if (found != rcw_objects.end()) rcw_objects.erase(found);
    return card ? rcw_release(card) : 0;
}

static inline void rcw_made(void *object, wbcard_t *card)
{
    rcw_objects[object] = {card, rcw_making.address, rcw_making.bytes};
    if (rcw_fill) rcw_fill(object);
}

static inline int rcw_take(void *object, long number)
{
    int status = rcw_acquire(number);
    if (!status) rcw_objects[object] = {rcw_cards[number], 0};
    return status;
}

static inline void rcw_refused(const char *name, int status)
{
    if (status) throw std::runtime_error(std::string(name) + ": the simulated card refused this call");
}

static inline wbcard_t *rcw_opened(long number)
{
    return rcw_acquire(number) ? nullptr : rcw_cards[number];
}

/* Zeros for whatever a member, an argument or a result refers to that nobody looks at; no object of `Self`. */
template <class Self = void> struct rcw_any {
    template <class T, class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<T>, Self>>> operator T &() const
    {
        alignas(T) static unsigned char at[sizeof(T)];
        return reinterpret_cast<T &>(at);
    }
};

template <class T, class... A> static T rcw_begin(A &...given)
{
    using U = std::remove_cv_t<T>;
    using any = rcw_any<U>;
    if constexpr (sizeof...(A) == 1 && (std::is_convertible_v<A &, T> && ...)) return static_cast<T>((given, ...));
    else if constexpr (std::is_lvalue_reference_v<T>) return rcw_any<>().operator std::remove_reference_t<T> &();
    else if constexpr (std::is_rvalue_reference_v<T>)
        return static_cast<T>(rcw_any<>().operator std::remove_reference_t<T> &());
    else if constexpr (std::is_default_constructible_v<U>) return U();
    else if constexpr (std::is_constructible_v<U, const char *>) return U("");
    else if constexpr (std::is_constructible_v<U, any>) return U(any());
    else if constexpr (std::is_constructible_v<U, any, any>) return U(any(), any());
    else if constexpr (std::is_constructible_v<U, any, any, any>) return U(any(), any(), any());
    else if constexpr (std::is_constructible_v<U, any, any, any, any>) return U(any(), any(), any(), any());
    else return std::move(rcw_any<>().operator U &());
}

/* What an object of plain values takes over from the one that it is assigned. */
template <class T, class A> static void rcw_assign(T &member, A &other)
{
    if constexpr (std::is_scalar_v<T> && std::is_assignable_v<T &, A &>) member = other;
    else (void)member, (void)other;
}

template <class R> static R rcw_answer(int status)
{
    if constexpr (std::is_reference_v<R>) return rcw_begin<R>();
    else if constexpr (std::is_pointer_v<R>) return nullptr;
    else if constexpr (std::is_arithmetic_v<R> || std::is_enum_v<R>) return (R)status;
    else return rcw_begin<R>();
}

/* An object that a function of the API makes holds its card. No constructor of the library's is at hand: what has no
 * virtual methods begins as zeros, of what has some a class that is derived from it is made. */
template <class T> struct rcw_concrete { using type = T; };

template <class T> static T *rcw_new(wbcard_t *card)
{
    if (!card) return nullptr;
    T *object;
    if constexpr (std::is_polymorphic_v<T>) object = new auto(rcw_begin<typename rcw_concrete<T>::type>());
    else object = static_cast<T *>(memset(::operator new(sizeof(T)), 0, sizeof(T)));
    rcw_made(object, card);
    return object;
}

template <class R> struct rcw_maker {
    static R make(wbcard_t *card, const char *name)
    {
        rcw_refused(name, card ? 0 : -1);
        if constexpr (!std::is_move_constructible_v<R>) return rcw_begin<R>(); /* its constructor keeps its place */
        else if constexpr (std::is_default_constructible_v<R>) {
            R object{};
            rcw_made(&object, card); /* its place is the caller's: it is not moved */
            return object;
        } else {
            alignas(R) unsigned char at[sizeof(R)] = {};
            struct gone { const void *object; ~gone() { rcw_objects.erase(object); } } moved{at};
            rcw_made(at, card);
            return std::move(reinterpret_cast<R &>(at));
        }
    }
};
template <class T> struct rcw_maker<const T> : rcw_maker<T> {};
template <class T> struct rcw_maker<T *> {
    static T *make(wbcard_t *card, const char *) { return rcw_new<std::remove_const_t<T>>(card); }
};
template <class T> struct rcw_maker<T &> {
    static T &make(wbcard_t *card, const char *name)
    {
        static std::map<wbcard_t *, std::remove_const_t<T> *> made;
        rcw_refused(name, card ? 0 : -1);
        auto &object = made[card];
        return *(object ? object : object = rcw_new<std::remove_const_t<T>>(card));
    }
};
template <class T, class D> struct rcw_maker<std::unique_ptr<T, D>> {
    static std::unique_ptr<T, D> make(wbcard_t *card, const char *)
    {
        auto *object = rcw_new<std::remove_const_t<T>>(card);
        if constexpr (std::is_pointer_v<D>) return std::unique_ptr<T, D>(object, [](auto *) {});
        else return std::unique_ptr<T, D>(object);
    }
};
template <class T> struct rcw_maker<std::shared_ptr<T>> {
    static std::shared_ptr<T> make(wbcard_t *card, const char *)
    {
        return std::shared_ptr<T>(rcw_new<std::remove_const_t<T>>(card));
    }
};
template <class T> struct rcw_maker<std::optional<T>> {
    static std::optional<T> make(wbcard_t *card, const char *name)
    {
        (void)name;
        std::optional<T> made;
        if (!card) return made;
        if constexpr (std::is_default_constructible_v<T>) made.emplace();
        else made.emplace(rcw_maker<T>::make(card, name));
        rcw_made(&*made, card);
        return made;
    }
};
template <class T, class A> struct rcw_maker<std::vector<T, A>> { /* one of each card */
    static std::vector<T, A> make(wbcard_t *, const char *name)
    {
        std::vector<T, A> made;
        const int count = wbcard_count();
        for (int number = 0; number < count; number++) made.push_back(rcw_maker<T>::make(rcw_opened(number), name));
        for (int number = 0; number < count; number++) rcw_objects[rcw_at(made[number])] = {rcw_cards[number], 0};
        return made;
    }
};

template <class R> static R rcw_make(rcw_place place, const char *name, std::function<void(void *)> fill = {})
{
    struct scope { ~scope() { rcw_making = {}; rcw_fill = nullptr; } } end;
    rcw_making = place;
    rcw_fill = std::move(fill);
    return rcw_maker<R>::make(place.card, name);
}
"""
