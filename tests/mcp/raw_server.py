"""An MCP server without the SDK that misbehaves. Arguments: how, then the folder of its notes.

noisy: writes to stdout what is no message, wrong UTF-8 included. silent: answers nothing, and ignores being told to
end. hanging: answers nothing from its second start on.
dying: says why on stderr, and ends. broken: answers tools/call with what is no result. good: none of these.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

HOW, NOTES = sys.argv[1], Path(sys.argv[2])
NOISE = b'loading \xff\xfe ...\n{"not": "a message"}\n\n'
TOOL = {"name": "say", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method: str) -> dict[str, object]:
    match method:
        case "initialize":
            info = {"name": "raw", "version": "0"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": [TOOL]}}
        case "tools/call":
            wrong = {"content": [{"type": "text", "text": 3}]}
            return {"result": wrong if HOW == "broken" else {"content": [{"type": "text", "text": "grüße 🌍"}]}}
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


def main() -> None:
    is_first = not (NOTES / "pid").exists()
    (NOTES / "pid").write_text(str(os.getpid()))
    if HOW == "dying":
        sys.stderr.write("the database is locked\nwith the password hunter2-hunter2\n")
        sys.exit(3)
    if HOW == "silent":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)
    for line in sys.stdin:
        request = json.loads(line)
        if HOW == "noisy":
            os.write(1, NOISE)
        if "id" in request and (is_first or HOW != "hanging"):
            reply = json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request["method"])})
            os.write(1, f"{reply}\n".encode())


if __name__ == "__main__":
    main()
