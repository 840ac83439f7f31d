#include "integrate/driver.h"
bool hmi_find_crossing(hmi_driver *d)
{
    (void)d;
    return false;
}
hm_status hmi_act_on_crossing(hmi_driver *d)
{
    (void)d;
    return HM_OK;
}
hm_status hmi_settle_sides(hmi_driver *d)
{
    (void)d;
    return HM_OK;
}
