/* Hamel for C++17: owners of the C objects, and results as containers. Header only.
 *
 *   hamel::model model = hamel::model::load("skate.hamel");
 *   hamel::system system(model);
 *   hamel::sim sim(system);
 *   hamel::motion motion = sim.run();
 *
 * Failures are hamel::error. With HAMEL_NO_EXCEPTIONS (or -fno-exceptions) nothing is thrown: an object whose
 * making failed is empty (`if (!model)`), and status() tells why.
 */
#ifndef HAMEL_HAMEL_HPP
#define HAMEL_HAMEL_HPP

#include <hamel/hamel.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if !defined(HAMEL_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define HAMEL_NO_EXCEPTIONS
#endif

namespace hamel {

/* What went wrong, where, and what to do about it; line 0: it has no place in a file. */
class error : public std::runtime_error {
public:
    error(hm_status status, const hm_diagnostic *d)
        : std::runtime_error(d ? d->message : hm_status_text(status)), status_(status),
          file_(d && d->file ? d->file : ""), hint_(d && d->hint ? d->hint : ""),
          line_(d ? d->line : 0), column_(d ? d->column : 0)
    {
    }
    hm_status status() const noexcept { return status_; }
    const std::string &file() const noexcept { return file_; }
    const std::string &hint() const noexcept { return hint_; }
    int line() const noexcept { return line_; }
    int column() const noexcept { return column_; }

private:
    hm_status status_;
    std::string file_, hint_;
    int line_, column_;
};

/* Values that belong to someone else: std::span of C++20. */
class span {
public:
    span(const double *values, std::size_t count) noexcept : values_(values), count_(values ? count : 0)
    {
    }
    const double *begin() const noexcept { return values_; }
    const double *end() const noexcept { return values_ + count_; }
    const double *data() const noexcept { return values_; }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    double operator[](std::size_t i) const noexcept { return values_[i]; }

private:
    const double *values_;
    std::size_t count_;
};

namespace detail {

struct deleter {
    void operator()(hm_context *p) const noexcept { hm_context_destroy(p); }
    void operator()(hm_model *p) const noexcept { hm_model_destroy(p); }
    void operator()(hm_system *p) const noexcept { hm_system_destroy(p); }
    void operator()(hm_sim *p) const noexcept { hm_sim_destroy(p); }
};
template <class T> using owner = std::unique_ptr<T, deleter>;

inline const hm_diagnostic *first_error(const hm_context *context)
{
    for (std::size_t i = 0; context && i < hm_context_diagnostic_count(context); i++)
        if (hm_context_diagnostic(context, i)->severity == HM_SEVERITY_ERROR)
            return hm_context_diagnostic(context, i);
    return nullptr;
}

inline hm_status check(hm_status status, const hm_context *context)
{
#ifndef HAMEL_NO_EXCEPTIONS
    if (status != HM_OK)
        throw error(status, first_error(context));
#else
    (void)context;
#endif
    return status;
}

} // namespace detail

class model {
public:
    static model load(const std::string &path, const hm_model_options *options = nullptr)
    {
        model m;
        hm_model *made = nullptr;
        hm_status status = m.context_ ? hm_model_load(m.context_.get(), path.c_str(), options, &made)
                                      : HM_ERR_NOMEM;
        m.finish(status, made);
        return m;
    }
    static model parse(const std::string &text, const hm_model_options *options = nullptr)
    {
        model m;
        hm_model *made = nullptr;
        hm_status status = m.context_ ? hm_model_parse(m.context_.get(), text.data(), text.size(), options, &made)
                                      : HM_ERR_NOMEM;
        m.finish(status, made);
        return m;
    }
    explicit operator bool() const noexcept { return model_ != nullptr; }
    hm_status status() const noexcept { return status_; }
    const hm_model *get() const noexcept { return model_.get(); }
    const hm_context *context() const noexcept { return context_.get(); }
    std::size_t coordinates() const noexcept { return hm_model_coordinate_count(get()); }
    std::size_t states() const noexcept { return hm_model_state_count(get()); }
    std::string coordinate(std::size_t i) const { return hm_model_coordinate_name(get(), i); }
    std::string name() const { return hm_model_name(get()); }

private:
    model() : context_(hm_context_create(nullptr)) {}
    void finish(hm_status status, hm_model *made)
    {
        model_.reset(made);
        status_ = status;
        detail::check(status, context_.get());
    }
    detail::owner<hm_context> context_;
    detail::owner<hm_model> model_;
    hm_status status_ = HM_OK;
};

class system {
public:
    explicit system(const model &m)
    {
        hm_system *made = nullptr;
        status_ = hm_system_create(m.get(), &made);
        system_.reset(made);
        detail::check(status_, m.context());
    }
    explicit operator bool() const noexcept { return system_ != nullptr; }
    hm_status status() const noexcept { return status_; }
    const hm_system *get() const noexcept { return system_.get(); }

private:
    detail::owner<hm_system> system_;
    hm_status status_ = HM_OK;
};

/* Rows (t, q, v, z) of a run, and how it ended. */
struct motion {
    std::size_t width = 0;
    std::vector<double> values;
    hm_run_status status = HM_RUN_FAILED;
    std::string message;
    std::size_t rows() const noexcept { return width ? values.size() / width : 0; }
    span row(std::size_t i) const noexcept { return {values.data() + i * width, width}; }
};

class sim {
public:
    explicit sim(const system &s)
    {
        hm_sim *made = nullptr;
        status_ = hm_sim_create(s.get(), &made);
        sim_.reset(made);
        model_ = s ? hm_system_model(s.get()) : nullptr;
        detail::check(status_, nullptr);
    }
    explicit operator bool() const noexcept { return sim_ != nullptr; }
    hm_status status() const noexcept { return status_; }
    hm_sim *get() const noexcept { return sim_.get(); }

    hm_status set_param(const std::string &name, double value)
    {
        return check(hm_sim_set_param(get(), name.c_str(), value));
    }
    hm_status set_state(double t, span q, span v)
    {
        std::size_t n = hm_model_coordinate_count(model_);
        bool fits = q.size() == n && v.size() == n;
        return check(fits ? hm_sim_set_state(get(), t, q.data(), v.data(), nullptr) : HM_ERR_USAGE);
    }
    std::vector<double> accelerations()
    {
        std::vector<double> qdd(hm_model_coordinate_count(model_));
        check(hm_sim_accelerate(get(), qdd.data()));
        return qdd;
    }
    /* Arrays live until the next evaluation. */
    hm_evaluation evaluate(const hm_evaluate_options *options = nullptr)
    {
        hm_evaluation e{};
        check(hm_sim_evaluate(get(), options, &e));
        return e;
    }
    /* What the model says. A run that failed on its way is no error: motion.status tells. */
    motion run() { return run(hm_run_options_default(model_)); }
    motion run(hm_run_options options)
    {
        recorder r{model_, motion{}, false};
        r.result.width = 1 + 2 * hm_model_coordinate_count(model_) + hm_model_state_count(model_);
        options.on_frame = keep;
        options.user = &r;
        hm_run_result result{};
        status_ = hm_sim_run(get(), &options, &result);
        if (r.no_memory)
            status_ = HM_ERR_NOMEM;
        if (r.no_memory || status_ == HM_ERR_USAGE || status_ == HM_ERR_INPUT || status_ == HM_ERR_NOMEM)
            check(status_);
        r.result.status = result.status;
        r.result.message = result.message ? result.message : "";
        return std::move(r.result);
    }

private:
    struct recorder {
        const hm_model *model;
        motion result;
        bool no_memory;
    };
    /* No exception may pass through the C library. */
    static bool keep(void *user, const hm_frame *f)
    {
        recorder &r = *static_cast<recorder *>(user);
        if (f->reason == HM_FRAME_REASON_EVENT)
            return true;
        std::size_t n = hm_model_coordinate_count(r.model), states = hm_model_state_count(r.model);
        std::vector<double> &to = r.result.values;
#ifndef HAMEL_NO_EXCEPTIONS
        try {
#endif
            to.push_back(f->t);
            to.insert(to.end(), f->q, f->q + n);
            to.insert(to.end(), f->v, f->v + n);
            if (states)
                to.insert(to.end(), f->z, f->z + states);
#ifndef HAMEL_NO_EXCEPTIONS
        } catch (...) {
            r.no_memory = true;
            return false;
        }
#endif
        return true;
    }
    hm_status check(hm_status status)
    {
        status_ = status;
        return detail::check(status, get() ? hm_sim_context(get()) : nullptr);
    }
    detail::owner<hm_sim> sim_;
    const hm_model *model_ = nullptr;
    hm_status status_ = HM_OK;
};

} // namespace hamel

#endif
