// Simbody: accelerations of a chain of particles with rods, and of the same chain as a tree of
// ball joints. Prints "name seconds size wanted" for bench_speed.c.
#include <Simbody.h>

#include <cstdio>
#include <ctime>

using namespace SimTK;

static double now()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static double time_accelerations(MultibodySystem &system, State &state, int runs)
{
    double best = 1e300;
    for (int k = 0; k < runs; k++) {
        state.invalidateAllCacheAtOrAbove(Stage::Position);
        double start = now();
        system.realize(state, Stage::Acceleration);
        best = std::min(best, now() - start);
    }
    return best;
}

static double particles_with_rods(int N)
{
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -9.81));
    Body::Rigid particle(MassProperties(1, Vec3(0), Inertia(0)));
    MobilizedBody last = matter.Ground();
    for (int i = 0; i < N; i++) {
        MobilizedBody::Translation next(matter.Ground(), Transform(Vec3(i + 1, 0, 0)), particle,
                                        Transform());
        Constraint::Rod rod(last, Vec3(0), next, Vec3(0), 1);
        last = next;
    }
    State state = system.realizeTopology();
    return time_accelerations(system, state, N > 500 ? 2 : 5);
}

static double tree(int N)
{
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -9.81));
    Body::Rigid particle(MassProperties(1, Vec3(0), Inertia(1e-6)));
    MobilizedBody last = matter.Ground();
    for (int i = 0; i < N; i++)
        last = MobilizedBody::Universal(last, Transform(), particle, Transform(Vec3(0, 0, 1)));
    State state = system.realizeTopology();
    return time_accelerations(system, state, 5);
}

int main()
{
    std::printf("simbody_particles_rods_1000 %g 1000 5000\n", particles_with_rods(1000));
    std::fflush(stdout);
    std::printf("simbody_tree_10000 %g 10000 20\n", tree(10000));
    return 0;
}
