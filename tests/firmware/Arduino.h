/* As much of Arduino's core as a sketch of --export arduino needs, with its main(). */
struct Port {
    void begin(long) {}
    void print(const char *) {}
    void println(const char *) {}
    void println(unsigned long) {}
};
static Port Serial;
static unsigned long micros() {
    return 0;
}
static void delay(unsigned long) {}
void setup();
void loop();
int main() {
    setup();
    loop();
    return 0;
}
