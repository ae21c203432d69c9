"""Defects of what plays: the arena, matches, championships, replays, servers, pages, commands."""

from __future__ import annotations

from typing import Final

from tests.defects.defect import defect

ARENA: Final = (
    defect(
        "cw/documents/toml.py",
        "            if parts > MOST_PARTS",
        "            if parts > 1000 * MOST_PARTS",
        "A key of thousands of parts takes gigabytes.",
        "documents/test_toml.py",
    ),
    defect(
        "cw/arena/transports/stdio.py",
        "until = self._loop.time() + seconds\n        await self._discard()",
        "until = self._loop.time() + seconds",
        "A late answer counts as that of the next turn.",
        "arena/test_stdio.py",
    ),
    defect(
        "cw/arena/transports/stdio.py",
        "if self._since_request > self.flood_cap and not self._flooded:",
        "if False:",
        "A program may write without an end.",
        "arena/test_stdio.py",
    ),
    defect(
        "cw/arena/transports/stdio.py",
        "            if left <= 0:\n                return await self._last_look()",
        "            if left <= -30:\n                return await self._last_look()",
        "A bot has half a minute more than its deadline.",
        "arena/test_stdio.py",
    ),
    defect(
        "cw/arena/transports/http.py",
        "        if len(body) > exchange.limits.most_body:",
        "        if False:",
        "A body without a length may be of any size.",
        "arena/test_http_transport.py",
    ),
    defect(
        "cw/arena/transports/http.py",
        "allow_redirects=False",
        "allow_redirects=True",
        "A web service may send the arena elsewhere.",
        "arena/test_http_transport.py",
    ),
    defect(
        "cw/arena/transports/http.py",
        "        self._session._retry_connection = False",
        "",
        "A bot that hangs up is asked twice.",
        "arena/test_http_transport.py",
    ),
    defect(
        "cw/arena/sandbox/bubblewrap.py",
        'line += ["--unshare-uts", "--unshare-net",',
        'line += ["--unshare-uts",',
        "Programs behind walls reach the network.",
        "arena/test_sandbox.py",
        "arena/test_attacks.py",
    ),
    defect(
        "cw/arena/sandbox/bubblewrap.py",
        'return ("--ro-bind", str(path), str(place))',
        'return ("--bind", str(path), str(place))',
        "Programs behind walls may write to what they are shown.",
        "arena/test_sandbox.py",
    ),
    defect(
        "cw/arena/referee.py",
        "        if fault.lasting and player in self._gone:\n            return\n",
        "",
        "A bot that has ended is noted as a fault in each turn.",
        "arena/test_referee.py",
        "arena/test_match.py",
    ),
    defect(
        "cw/arena/referee.py",
        "        if player in self.disqualified:",
        "        if False:",
        "A bot that was disqualified is asked again.",
        "arena/test_referee.py",
    ),
)

MATCHES: Final = (
    defect(
        "cw/matches/run.py",
        '        private=isolation.addresses == "any",',
        "        private=True,",
        "Web services at private addresses are asked where only public ones may be.",
        "matches/test_hosted.py",
    ),
    defect(
        "cw/matches/run.py",
        "        if is_fault(document):\n",
        "        if False:\n",
        "A bot may claim a fault for an action.",
        "matches/test_faults_of_games.py",
    ),
    defect(
        "cw/matches/verdict.py",
        "if all(values[winner] > other for other in others):",
        "if all(values[winner] >= other for other in others):",
        "A tie-break is told by a figure that was equal.",
        "matches/test_verdict.py",
    ),
    defect(
        "cw/matches/processes/workers.py",
        "        await asyncio.gather(*(worker.close(grace=LEAVING) for worker in ending))",
        "        del ending",
        "The processes of matches are left running.",
        "matches/processes/test_worker.py",
    ),
    defect(
        "cw/matches/checks/bot.py",
        "if any(step.failed for step in probed):",
        "if False:",
        "A bot that fails a step of its protocol plays matches all the same.",
        "matches/checks/test_check.py",
    ),
)

CHAMPIONSHIP: Final = (
    defect(
        "cw/line_files.py",
        "    if whole < len(data):\n",
        "    if False:\n",
        "A line that was torn by a kill stays in the journal.",
        "championship/test_journal.py",
    ),
    defect(
        "cw/line_files.py",
        "        os.truncate(file, before)\n",
        "",
        "What could not be written whole stays in the journal.",
        "championship/test_journal.py",
    ),
    defect(
        "cw/line_files.py",
        "        holder.acquire(timeout=PATIENCE)\n",
        "        pass\n",
        "Two processes run one championship.",
        "championship/test_journal.py",
    ),
    defect(
        "cw/championship/runner.py",
        "return most is None or playing < most",
        "return most is None or playing <= most",
        "A bot plays one match more at the same time than it can.",
        "championship/test_limits.py",
    ),
    defect(
        "cw/championship/journal.py",
        "        if entry.fixture in self.results:",
        "        if False:",
        "A match of the journal counts twice.",
        "championship/test_journal.py",
    ),
)

LAB: Final = (
    defect(
        "cw/lab/journal.py",
        "        check_head(file, head)\n",
        "",
        "Matches of another experiment count.",
        "lab/test_lab_journal.py",
    ),
)

REPLAYS: Final = (
    defect(
        "cw/replays/verify.py",
        'if digest(document) != document["hash"]:',
        "if False:",
        "A replay need not fit its hash.",
        "replays/test_forgeries.py",
    ),
    defect(
        "cw/replays/verify.py",
        "        if difference(as_read(frame_of(game, state)), frame):",
        "        if False:",
        "The frames of a replay may show anything.",
        "replays/test_forgeries.py",
    ),
    defect(
        "cw/replays/verify.py",
        'if seat.get("bot") == PERSON]',
        "]",
        "A program may resign in a replay.",
        "replays/test_forgeries.py",
    ),
    defect(
        "cw/replays/document.py",
        "    if unpacker.unconsumed_tail:\n",
        "    if False:\n",
        "A small file may unpack to any size, and is read in part.",
        "replays",
    ),
)

SERVER: Final = (
    defect(
        "cw/server/player_proxy.py",
        "if self.own_id is not None:",
        "if False:",
        "A client registers twice.",
        "server/test_player_proxy.py",
    ),
    defect(
        "cw/server/player_proxy.py",
        "        if rest[:1] != [self.own_id]:",
        "        if False:",
        "A client moves for its opponent.",
        "server/test_player_proxy.py",
    ),
    defect(
        "cw/server/guard.py",
        'foreign = origin is not None and origin != f"{request.scheme}://{host}"',
        "foreign = False",
        "A page of another site changes a game.",
        "server",
    ),
    defect(
        "cw/server/names.py",
        "return name in self.names or",
        "return True or",
        "A server answers to any name.",
        "server",
    ),
    defect(
        "cw/server/session.py",
        "if seen not in (None, self._look(now).snapshot.tag):",
        "if self._look(now) is None:",
        "A client restarts a match that it has not seen.",
        "server/test_session.py",
    ),
    defect(
        "cw/server/session.py",
        "now - self._heard > ABSENCE",
        "now - self._heard < ABSENCE",
        "A seat is free again at once, and not after an absence.",
        "server/test_session.py",
    ),
    defect(
        "cw/server/session.py",
        "        with self._lock:\n            now = self._clock()\n"
        "            self._free_seat(now)\n            if len(self._teams)",
        "        if True:\n            now = self._clock()\n"
        "            self._free_seat(now)\n            if len(self._teams)",
        "Two teams that register at once are not kept apart.",
        "server/test_session.py",
    ),
)

PAGES: Final = (
    defect(
        "cw/web/replays/replay_store.py",
        "    if stat.S_ISLNK(status.st_mode):\n",
        "    if False:\n",
        "A link in the folder of replays is followed, or named wrongly.",
        "web/replays/test_replay_list.py",
    ),
    defect(
        "cw/web/replays/replay_store.py",
        'if path.name.startswith(".") or not path.name.endswith(ENDINGS):',
        "if not path.name.endswith(ENDINGS):",
        "Hidden files are listed.",
        "web/replays/test_replay_list.py",
    ),
    defect(
        "cw/web/replays/uploads.py",
        "    if not fits:\n",
        "    if False:\n",
        "A replay whose hash does not fit can be uploaded.",
        "web/replays/test_uploads.py",
    ),
    defect(
        "cw/web/replays/uploads.py",
        'if sum(map(plain.count, (b"[", b"{", b","))) > MOST_PARTS:',
        "if False:",
        "An upload may have any number of values.",
        "web/replays/test_uploads.py",
    ),
)

WORKSHOP: Final = (
    defect(
        "cw/workshop/folder.py",
        '            if (now.digest if now else "") != base:',
        "            if False:",
        "What another editor has written is overwritten in silence.",
        "workshop/test_folder.py",
    ),
    defect(
        "cw/workshop/folder.py",
        'NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)',
        "NO_LINK: Final = 0",
        "A link leads out of the folder of a bot.",
        "workshop/test_folder.py",
    ),
    defect(
        "cw/web/workshop/app.py",
        'names=HostNames(frozenset({"127.0.0.1"})),',
        'names=HostNames(frozenset({"127.0.0.1", "evil.example"})),',
        "A name that leads here lets another site run programs.",
        "web/workshop/test_gate.py",
    ),
    defect(
        "cw/web/workshop/gate.py",
        'if not hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self._bytes):',
        "if False:",
        "Nobody needs the token of a workshop.",
        "web/workshop/test_gate.py",
    ),
)

COMMANDS: Final = (
    defect(
        "cw/cli/step.py",
        '    if not isinstance(document, dict):\n        raise ProtocolError("the line must',
        '    if False:\n        raise ProtocolError("the line must',
        "A line that is not an object ends the command.",
        "cli/test_step.py",
        "cli/test_step_with_garbage.py",
    ),
    defect(
        "cw/cli/step.py",
        "(rest := stream.readline(LONGEST_LINE)):",
        "False:",
        "The rest of a line that is too long counts as a line.",
        "cli/test_step.py",
    ),
)
