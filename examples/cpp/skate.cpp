// The skate from C++: accelerations against `evaluate`, a run against the closed form, an error with its place.
#include <hamel/hamel.hpp>

#include <cmath>
#include <cstdio>

int main(int, char **argv)
{
    hamel::model model = hamel::model::load(argv[1]);
    hamel::system system(model);
    hamel::sim sim(system);
    const double q[] = {0, 0, 0.5}, v[] = {1, 0, 2};
    sim.set_state(0, {q, 3}, {v, 3});
    std::vector<double> qdd = sim.accelerations();
    hm_evaluation e = sim.evaluate();
    for (std::size_t i = 0; i < qdd.size(); i++)
        if (std::fabs(qdd[i] - e.qdd[i]) > 1e-12)
            return 1;
    hamel::motion motion = hamel::sim(system).run();
    hamel::span last = motion.row(motion.rows() - 1);
    std::printf("theta(%g) = %.12g\n", last[0], last[3]);
    if (std::fabs(last[3] - 1.672065050924923) > 1e-8)
        return 2;
#ifndef HAMEL_NO_EXCEPTIONS
    try {
        hamel::model::parse("coord x\nkinetic y'^2");
        return 3;
    } catch (const hamel::error &error) {
        return error.line() == 2 && error.column() == 9 && !error.hint().empty() ? 0 : 4;
    }
#else
    return hamel::model::parse("coord x\nkinetic y'^2") ? 3 : 0;
#endif
}
