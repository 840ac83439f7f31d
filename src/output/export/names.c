/* Identifiers: names of models and parameters in a form that every language takes. */
#include "output/export/export.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Letters beyond ASCII become their code, u03b8; everything else that is no letter or digit '_'. */
void hmi_export_identifier(const char *name, char out[HMI_EXPORT_NAME])
{
    size_t length = 0, rest = strlen(name);
    if (rest == 0 || isdigit((unsigned char)*name))
        out[length++] = 'm';
    while (rest > 0 && length + 8 < HMI_EXPORT_NAME) {
        uint32_t character;
        int bytes = hmi_utf8_decode(name, rest, &character);
        bytes = bytes ? bytes : 1;
        if (bytes > 1)
            length += (size_t)snprintf(out + length, HMI_EXPORT_NAME - length, "u%04x",
                                       (unsigned)character);
        else
            out[length++] = isalnum((unsigned char)*name) ? *name : '_';
        name += bytes;
        rest -= (size_t)bytes;
    }
    while (length > 1 && out[length - 1] == '_')
        length--;
    out[length] = '\0';
}

/* Words that C, C++, Fortran, Python, Julia, MATLAB or Modelica keep for themselves, and the names that
 * exported functions use. */
static bool is_taken(const char *word, const char *more)
{
    static const char taken[] = " and as asm assert async auto await begin block bool break case "
                                "catch char class connect const "
                                "constant continue def default del delete der do double each elif "
                                "else elseif elsewhen encapsulated "
                                "end enum equation except export extends extern external false "
                                "final finally flow float for friend "
                                "from function global goto if import in inline input int is lambda "
                                "let local long loop macro model "
                                "module mutable namespace new nonlocal not operator or out output "
                                "outer package parameter parfor "
                                "partial pass persistent private protected public pure quote raise "
                                "real record redeclare register "
                                "restrict return self short signed sizeof static stop struct "
                                "subroutine switch template then this "
                                "throw time true try type typedef typename union unsigned using "
                                "virtual void volatile when where while "
                                "within with yield I E pi t q v z u w p ";
    char padded[HMI_EXPORT_NAME + 2];
    snprintf(padded, sizeof padded, " %s ", word);
    return strstr(taken, padded) || strstr(more, padded);
}

/* An identifier that no earlier one has; HMI_NO_NAME without memory. */
static int intern_unique(hmi_names *names, const char *name, const char *more)
{
    char word[HMI_EXPORT_NAME], numbered[HMI_EXPORT_NAME + 24];
    hmi_export_identifier(name, word);
    snprintf(numbered, sizeof numbered, "%s%s", word, is_taken(word, more) ? "_" : "");
    for (unsigned k = 2; hmi_names_find(names, numbered, strlen(numbered)) != HMI_NO_NAME; k++)
        snprintf(numbered, sizeof numbered, "%s_%u", word, k);
    return hmi_names_intern(names, numbered, strlen(numbered));
}

bool hmi_export_name_params(hmi_export *x, const char *more)
{
    hmi_names names;
    size_t count = x->model->params.count;
    bool good = true;
    hmi_names_init(&names, x->allocator);
    x->params = hmi_arena_alloc(&x->arena, (count + 1) * sizeof *x->params);
    for (size_t i = 0; x->params && good && i < count; i++) {
        int name = intern_unique(&names, x->model->params.data[i].name, more);
        good = name != HMI_NO_NAME;
        const char *text = good ? hmi_names_text(&names, name) : "";
        char *copy = hmi_arena_alloc(&x->arena, strlen(text) + 1);
        good = good && copy;
        if (good)
            x->params[i] = strcpy(copy, text);
    }
    hmi_names_release(&names);
    return x->params && good;
}
