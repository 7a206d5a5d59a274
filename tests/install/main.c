#include <corten/corten.h>

int main(void) {
    printf("%s\n", corten_version());
    return corten_targets(&(CortenOptions){.json = true});
}
