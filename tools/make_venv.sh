#!/usr/bin/env bash
# tools/make_venv.sh VENV: makes or brings up to date a Python environment with what the package is built and tested
# with, in which `import weir` and the command `weir` are those of this source tree. PYTHON names another interpreter.
set -euo pipefail
venv=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/python/requirements.txt"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$root/python" > "$site/weir.pth"
cat > "$venv/bin/weir" <<END
#!$root/$venv/bin/python
import sys
from weir.runner import main
sys.exit(main())
END
chmod +x "$venv/bin/weir"
touch "$venv/ready"
