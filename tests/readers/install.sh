#!/usr/bin/env bash
# Installs the readers of HTML that the tests of this folder run, and the clients of tests/mcp: install.sh FOLDER. Then
# set READERS to the folder.
set -euo pipefail

folder=$1
"${PYTHON:-python3}" -m venv "$folder/python"
# In three steps: readability-lxml and jusText ask for one release of lxml's cleaner, and pip refuses all at once.
"$folder/python/bin/python" -m pip install -q --no-compile html2text inscriptis markdownify markitdown resiliparse trafilatura
"$folder/python/bin/python" -m pip install -q --no-compile readability-lxml
"$folder/python/bin/python" -m pip install -q --no-compile jusText
# A connection that hangs is tried again.
npm install --prefix "$folder" --silent --fetch-timeout=30000 --no-audit --no-fund --no-package-lock \
    @mozilla/readability defuddle jsdom linkedom node-html-markdown turndown vnu-jar \
    @modelcontextprotocol/sdk@1 @modelcontextprotocol/client@2
