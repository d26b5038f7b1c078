"""What a server of many tables takes: ``python tests/load_web.py [TABLES] [SECONDS] [BOT]`` prints the figures.

Every table has a person, who answers at once, and three bots at the speed that people see. The server runs in a process
of its own; its CPU time is the process's, and the time to answer is from a click to the table that shows it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from statistics import median, quantiles

from websockets.asyncio.client import connect

PORT = 8765
URL = f"http://127.0.0.1:{PORT}"


def open_table(bot: str) -> str:
    """The token of the person's seat at a new table."""
    request = json.dumps({"preset": "oh_hell", "players": ["person", bot, bot, bot]}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{URL}/api/tables", request), timeout=300) as answer:
        token: str = json.load(answer)["seats"]["0"].rpartition("/")[2]
    return token


async def person(bot: str, stop: asyncio.Event, answers: list[float], moves: list[int]) -> None:
    """Sit down and play on until it is time to stop."""
    token = await asyncio.to_thread(open_table, bot)
    asked: tuple[int, float] | None = None
    async with connect(f"ws://127.0.0.1:{PORT}/ws/{token}", max_size=None) as socket:
        while not stop.is_set():
            message = json.loads(await socket.recv())
            moves[0] += 1
            if asked is not None and message.get("number", -1) > asked[0]:
                answers.append(time.perf_counter() - asked[1])
                asked = None
            if 0 in message.get("unseen", ()):
                await socket.send('{"type": "next"}')
            elif message.get("choices") and asked is None:
                asked = message["number"], time.perf_counter()
                action = message["choices"][0]["action"]
                await socket.send(json.dumps({"type": "act", "action": action, "number": message["number"]}))


async def measure(tables: int, seconds: float, bot: str) -> None:
    """Open the tables, play for a while, and print what it took."""
    stop, moves = asyncio.Event(), [0]
    answers: list[float] = []
    async with asyncio.TaskGroup() as group:
        people = [group.create_task(person(bot, stop, answers, moves)) for _ in range(tables)]
        while len(answers) < tables:
            await asyncio.sleep(0.2)
        answers.clear()
        moves[0] = 0
        await asyncio.sleep(seconds)
        figures, played = sorted(answers), moves[0]
        stop.set()
        for one in people:
            one.cancel()
    print(
        f"{tables} tables against {bot}: {played / seconds:.0f} messages/s; a click is answered in "
        f"{1e3 * median(figures):.0f} ms (95 %: {1e3 * quantiles(figures, n=20)[-1]:.0f} ms)"
    )


def main() -> None:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    bot = sys.argv[3] if len(sys.argv) > 3 else "heuristic"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ohhell_env", "serve", "--port", str(PORT), "--folder", folder]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    urllib.request.urlopen(URL).close()
                    break
                except urllib.error.URLError:
                    time.sleep(0.2)
            asyncio.run(measure(tables, seconds, bot))
        finally:
            server.terminate()
            server.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"the server's CPU time, start and opening included: {used.ru_utime + used.ru_stime:.1f} s")


if __name__ == "__main__":
    main()
