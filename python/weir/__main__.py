import sys

from weir.runner import main

sys.exit(main())
