/* The alphabets that names may use, and ASCII for typographic characters. */
#include "lang/unicode.h"

typedef struct range {
    uint32_t first, last;
} range;

/* The alphabets people write mechanics in, and CJK. Unicode's General Category would need a table
 * of megabytes or a library; a letter that is missing here is a one-line addition. */
static const range letters[] = {
    {'A', 'Z'},       {'_', '_'},       {'a', 'z'},       {0xAA, 0xAA},       {0xB5, 0xB5},
    {0xBA, 0xBA},     {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2C1},      {0x370, 0x373},
    {0x376, 0x377},   {0x37B, 0x37D},   {0x37F, 0x37F},   {0x386, 0x386},     {0x388, 0x3FF},
    {0x400, 0x481},   {0x48A, 0x52F},   {0x531, 0x556},   {0x561, 0x587},     {0x5D0, 0x5EA},
    {0x620, 0x64A},   {0x671, 0x6D3},   {0x904, 0x939},   {0x985, 0x9B9},     {0xE01, 0xE30},
    {0x10A0, 0x10FF}, {0x1E00, 0x1FBC}, {0x1FC2, 0x1FCC}, {0x1FD0, 0x1FDB},   {0x1FE0, 0x1FEC},
    {0x1FF2, 0x1FFC}, {0x2102, 0x2102}, {0x210A, 0x2113}, {0x2115, 0x2115},   {0x2119, 0x211D},
    {0x2124, 0x2124}, {0x2126, 0x2126}, {0x212A, 0x2139}, {0x3041, 0x3096},   {0x30A1, 0x30FA},
    {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0x1D400, 0x1D7CB},
};

static bool in_ranges(const range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

bool hmi_is_letter(uint32_t c)
{
    return in_ranges(letters, sizeof letters / sizeof *letters, c);
}

bool hmi_is_name_part(uint32_t c)
{
    static const range also[] = {
        {'0', '9'}, {0x300, 0x34E}, {0x350, 0x36F}, {0x2080, 0x2089}, {0x1D7CE, 0x1D7FF}};
    return hmi_is_letter(c) || in_ranges(also, sizeof also / sizeof *also, c);
}

const char *hmi_ascii_for(uint32_t c)
{
    switch (c) {
    case 0x2212:
    case 0x2013:
    case 0x2014:
        return "-";
    case 0xD7:
    case 0xB7:
    case 0x22C5:
    case 0x2219:
        return "*";
    case 0xF7:
    case 0x2044:
    case 0x2215:
        return "/";
    case 0x2032:
    case 0x2019:
    case 0x2018:
    case 0xB4:
    case '`':
        return "'";
    case 0x2033:
        return "''";
    case 0xB2:
        return "^2";
    case 0xB3:
        return "^3";
    case 0xB0:
        return "*pi/180";
    case 0x2264:
        return "<=";
    case 0x2265:
        return ">=";
    case 0x221A:
        return "sqrt(x)";
    case 0x201C:
    case 0x201D:
        return "\"";
    case 0x2026:
        return "..";
    case 0xA0:
    case 0x2009:
    case 0x202F:
    case 0x3000:
        return " ";
    default:
        return NULL;
    }
}
