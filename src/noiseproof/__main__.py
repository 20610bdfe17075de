"""``python -m noiseproof``."""

import sys

from noiseproof.cli import main

sys.exit(main())
