#include "integrate/switch.h"
hm_status hmi_switches_init(hmi_switches *sw, hm_sim *sim, hmi_arena *arena)
{
    (void)arena;
    *sw = (hmi_switches){.sim = sim};
    return HM_OK;
}
void hmi_switches_release(hmi_switches *sw) { (void)sw; }
void hmi_switches_prepare(hmi_switches *sw) { (void)sw; }
void hmi_switches_install(hmi_switches *sw) { (void)sw; }
void hmi_switches_remove(hmi_switches *sw) { (void)sw; }
hm_status hmi_switches_slide(hmi_switches *sw, hmi_ode *ode, hmi_accelerate_function accelerate,
                             hmi_solution *solution)
{
    (void)sw;
    return accelerate(ode, solution);
}
