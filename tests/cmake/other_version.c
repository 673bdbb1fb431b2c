// What a libpython says of itself, of a version that there is not.
const char* const version = "3.11.99";
