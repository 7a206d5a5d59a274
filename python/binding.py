"""Writes the C source of corten._native from the library's public header.

usage: binding.py corten.h _native.c

cffi reads the declarations as they stand, so that the header is the only place where they are
written; what the preprocessor would take away is taken away here.
"""

import re
import sys

import cffi

CALLBACKS = """
extern "Python" void corten_py_result(void *, const char *, size_t);
extern "Python" void corten_py_diagnostic(void *, const CortenDiagnostic *);
extern "Python" bool corten_py_progress(void *, const char *, double);
extern "Python" void corten_py_output(void *, const CortenArray *);
"""


def declarations(header: str) -> str:
    text = re.sub(r"#ifdef __cplusplus.*?#endif\n", "", header, flags=re.DOTALL)
    return re.sub(r"^#(?!define CORTEN_API_VERSION).*\n", "", text, flags=re.MULTILINE)


def main() -> None:
    header_path, source_path = sys.argv[1:]
    with open(header_path, encoding="utf-8") as header:
        ffi = cffi.FFI()
        ffi.cdef(declarations(header.read()) + CALLBACKS)
    ffi.set_source("corten._native", '#include "corten/corten.h"', py_limited_api=True)
    ffi.emit_c_code(source_path)


if __name__ == "__main__":
    main()
