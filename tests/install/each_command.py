"""Run command lines, given as JSON, in one process; print what each returned and printed."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

from noiseproof.cli import main

found = {}
for name, arguments in json.loads(sys.argv[1]).items():
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([*name.split(), *arguments])
    found[name] = (code, out.getvalue(), err.getvalue())
print(json.dumps(found))
