/* Words that a name in emitted C must not be: those of C up to C23 and of C++ up to C++20, the
 * types, macros and functions of their libraries, and what compilers and the runtime define. */
#include "base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A word stands between blanks. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t "
    "char8_t class co_await co_return co_yield compl complex concept const const_cast consteval "
    "constexpr constinit continue decltype default defined delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept noreturn not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires restrict return "
    "short signed sizeof static static_assert static_cast struct switch template this thread_local "
    "throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq ";
/* Of the compiler, the system and the headers that a firmware includes. */
static const char types_and_macros[] =
    " EOF EXIT_FAILURE EXIT_SUCCESS FILE NDEBUG NULL RAND_MAX assert clock_t div_t environ errno "
    "imaxdiv_t intmax_t intptr_t jmp_buf ldiv_t linux lldiv_t main max_align_t nullptr_t offsetof "
    "ptrdiff_t setjmp sig_atomic_t size_t ssize_t static_assert stderr stdin stdout time_t "
    "uintmax_t uintptr_t unix unreachable va_arg va_copy va_end va_list va_start wint_t "
    "fpos_t fenv_t fexcept_t mbstate_t wctype_t wctrans_t off_t pid_t ";
/* Functions with external linkage: an array of this name would be linked in their place. */
static const char functions[] =
    " abort abs aligned_alloc asctime asprintf at_quick_exit atexit atof atoi atol atoll bcmp "
    "bcopy "
    "bsearch bzero calloc clearerr clock close ctime difftime div exit fclose feof ferror fflush "
    "ffs fgetc fgetpos fgets fopen fprintf fputc fputs fread free freopen fscanf fseek fsetpos "
    "ftell fwrite getc getchar getenv gets gmtime imaxabs imaxdiv index isalnum isalpha isascii "
    "isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit labs ldiv "
    "llabs lldiv localtime longjmp malloc mblen mbstowcs mbtowc memalign memchr memcmp memcpy "
    "memmove mempcpy memset mktime open perror printf putc putchar puts qsort quick_exit raise "
    "rand "
    "read realloc remove rename rewind rindex scanf setbuf setvbuf signal snprintf sprintf srand "
    "sscanf stpcpy strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen "
    "strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtod strtof strtoimax strtok "
    "strtol strtold strtoll strtoul strtoull strtoumax strxfrm system time tmpfile tmpnam toascii "
    "tolower toupper ungetc vfprintf vprintf vsnprintf vsprintf wcstombs wctomb write ";
/* These, and with f and l behind them. */
static const char float_functions[] =
    " acos acosh asin asinh atan atan2 atanh cabs carg cbrt ccos ceil cexp cimag clog conj "
    "copysign "
    "cos cosh cpow cproj creal csin csqrt erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax "
    "fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 "
    "logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint "
    "round scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn ";

static bool holds(const char *words, const char *word) {
    size_t length = strlen(word);
    if (length == 0)
        return false;
    for (const char *at = words; (at = strstr(at, word)); at++)
        if (at > words && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

/* "int8_t", "uint_fast16_t", "INT8_MAX", "UINT64_C" and the like of <stdint.h>. */
static bool is_stdint(const char *word) {
    static const char *const ends[] = {"_t", "_MAX", "_MIN", "_C", "_WIDTH"};
    if (*word == 'u' || *word == 'U')
        word++;
    if (strncmp(word, "int", 3) != 0 && strncmp(word, "INT", 3) != 0)
        return strcmp(word, "SIZE_MAX") == 0 || strcmp(word, "PTRDIFF_MAX") == 0;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (text_ends_with(word, ends[i]))
            return true;
    return false;
}

bool word_is_keyword(const char *word) {
    bool is_compilers = word[0] == '_' && (word[1] == '_' || isupper((unsigned char)word[1]));
    return is_compilers || strncasecmp(word, "ctn", 3) == 0 || holds(keywords, word);
}

bool word_is_reserved(const char *word) {
    if (word_is_keyword(word) || holds(types_and_macros, word) || is_stdint(word) ||
        holds(functions, word) || holds(float_functions, word))
        return true;
    size_t length = strlen(word);
    char base[16];
    if (length < 2 || length > sizeof base || !strchr("fl", word[length - 1]))
        return false;
    memcpy(base, word, length - 1);
    base[length - 1] = 0;
    return holds(float_functions, base);
}

bool word_is_header(const char *word) {
    return holds(
        " arm_acle arm_cde arm_fp16 arm_mve arm_neon assert complex ctype errno fenv float "
        "inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
        "stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings tgmath "
        "threads time uchar unistd wchar wctype ",
        word);
}

bool word_is_identifier(const char *word) {
    if (!isalpha((unsigned char)*word) && *word != '_')
        return false;
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && *word != '_')
            return false;
    return true;
}
