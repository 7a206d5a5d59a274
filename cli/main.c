/* corten: a thin command line over the library. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        usage_json |= strcmp(argv[i], "--json") == 0;
    if (argc < 2) {
        help_print(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_print(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0 && argc == 3 && command_find(argv[2])) {
        command_help_print(command_find(argv[2]), stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0) {
        help_print(stdout);
        return argc == 2 ? 0 : command_unknown(argv[2]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("corten %s\n", corten_version());
        return 0;
    }
    const Command *command = command_find(argv[1]);
    if (!command)
        return command_unknown(argv[1]);
    CortenOptions options = {0};
    const char *no_color = getenv("NO_COLOR");
    options.colour = isatty(STDERR_FILENO) && !(no_color && *no_color);
    int code = options_parse(command, argc - 1, argv + 1, &options);
    if (code)
        return code < 0 ? 0 : code;
    return command->run(&options);
}
