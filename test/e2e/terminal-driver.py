"""Runs one command on a pseudo-terminal, types when it is asked, and prints what the screen got as JSON.

Reads {"argv", "env", "cwd", "columns", "steps": [{"wait": regex, "send": text}], "timeout"} from standard input.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time


def main():
    job = json.load(sys.stdin)
    child, terminal = pty.fork()
    if child == 0:
        # Here, because the command may look at it before the parent has its next turn.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, job["columns"], 0, 0))
        os.chdir(job["cwd"])
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    steps = list(job["steps"])
    screen, seen, end = b"", 0, time.monotonic() + job["timeout"]
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            screen += piece
        if steps:
            found = re.search(steps[0]["wait"].encode(), screen[seen:])
            if found:
                seen += found.end()
                os.write(terminal, steps.pop(0)["send"].encode())
    else:
        os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    json.dump({"screen": screen.decode("utf-8", "replace"), "exitCode": code, "unanswered": len(steps)}, sys.stdout)


main()
