/* Runs the model on an input of zeros, twice a second. */
#include <@name@.h>

static @name@_t model;

void setup() {
    Serial.begin(115200);
    if (@NAME@_SETUP(&model) != 0)
        Serial.println("the arena is not aligned");
}

void loop() {
    const unsigned long start = micros();
    @name@_run(&model);
    Serial.print("microseconds: ");
    Serial.println(micros() - start);
    delay(500);
}
