"""A turn of Code Battle taken word by word from its document, on plain JSON; slow on purpose."""

from __future__ import annotations

from typing import Any

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}

Json = Any


def d2(config: Json, a: tuple[int, int], b: tuple[int, int]) -> int:
    rows, cols = config["rows"], config["cols"]
    dr, dc = abs(a[0] - b[0]), abs(a[1] - b[1])
    return int(min(dr, rows - dr) ** 2 + min(dc, cols - dc) ** 2)


def tile(thing: Json) -> tuple[int, int]:
    return thing["row"], thing["col"]


def usable(state: Json, slot: int, entries: list[Json]) -> dict[tuple[int, int], str]:
    own = {tile(bot) for bot in state["bots"] if bot["owner"] == slot}
    orders: dict[tuple[int, int], str] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        place = (entry.get("row"), entry.get("col"))
        if not all(type(part) is int for part in place):
            position = entry.get("position")
            if not isinstance(position, dict):
                continue
            place = (position.get("row"), position.get("col"))
            if not all(type(part) is int for part in place):
                continue
        if place not in own or place in orders:
            continue
        if entry.get("direction") in ("N", "E", "S", "W"):
            orders[place] = entry["direction"]
    return orders


def reference_step(before: Json, actions: dict[str, Json]) -> Json:
    """Return the state after a turn; no outcome."""
    changing = ("bots", "nodes", "cores", "players")
    state = before | {key: [dict(thing) for thing in before[key]] for key in changing}
    players, t = state["players"], state["turn"]
    state["dead"] = []
    orders: dict[int, dict[tuple[int, int], str]] = {}
    for slot, player in enumerate(players):
        if player["crashed"] or all(bot["owner"] != slot for bot in state["bots"]):
            continue
        action = actions.get(str(slot), [])
        if isinstance(action, dict):
            player["failures"] += 1
            player["crashed"] = player["failures"] >= 10
        else:
            player["failures"] = 0
            orders[slot] = usable(state, slot, action)
    move(state, orders)
    combat(state)
    capture(state)
    collect(state)
    spawn(state, t)
    tick(state)
    endgame(state)
    state["turn"] = t + 1
    state["dead"].sort(key=lambda dead: (dead["row"], dead["col"], dead["owner"]))
    return state


def die(state: Json, dead: list[Json]) -> None:
    for bot in dead:
        state["bots"].remove(bot)
        state["dead"].append({"row": bot["row"], "col": bot["col"], "owner": bot["owner"]})


def move(state: Json, orders: dict[int, dict[tuple[int, int], str]]) -> None:
    config = state["config"]
    walls = {tuple(wall) for wall in state["walls"]}
    stands = {}
    for bot in state["bots"]:
        start = tile(bot)
        way = orders.get(bot["owner"], {}).get(start)
        target = start
        if way is not None:
            down, right = STEPS[way]
            target = ((start[0] + down) % config["rows"], (start[1] + right) % config["cols"])
            if target in walls:
                target = start
        stands[bot["id"]] = target == start
        bot["row"], bot["col"] = target
    dead: list[Json] = []
    for bot in state["bots"]:
        here = [other for other in state["bots"] if tile(other) == tile(bot)]
        friends = [o for o in here if o["owner"] == bot["owner"] and o["id"] != bot["id"]]
        enemies = [o for o in here if o["owner"] != bot["owner"]]
        movers = [o for o in enemies if not stands[o["id"]]]
        run_over = stands[bot["id"]] and bool(movers)
        runs_into = not stands[bot["id"]] and any(stands[o["id"]] for o in enemies)
        if friends or run_over or runs_into:
            dead.append(bot)
        if run_over:
            state["players"][bot["owner"]]["eliminated"] += len(movers)
            for owner in sorted({o["owner"] for o in movers}):
                state["players"][owner]["eliminated"] += 1
    die(state, dead)


def combat(state: Json) -> None:
    config = state["config"]

    def enemies(bot: Json) -> list[Json]:
        return [
            other
            for other in state["bots"]
            if other["owner"] != bot["owner"]
            and d2(config, tile(bot), tile(other)) <= config["attack_radius2"]
        ]

    dead = []
    for bot in state["bots"]:
        near = enemies(bot)
        killers = {enemy["owner"] for enemy in near if len(enemies(enemy)) <= len(near)}
        if killers:
            dead.append(bot)
        for slot in killers:
            state["players"][slot]["eliminated"] += 1
    die(state, dead)


def capture(state: Json) -> None:
    for bot in state["bots"]:
        for core in state["cores"]:
            if core["active"] and tile(core) == tile(bot) and core["owner"] != bot["owner"]:
                core["active"] = False
                state["players"][bot["owner"]]["score"] += 2
                state["players"][core["owner"]]["score"] -= 1


def collect(state: Json) -> None:
    for node in state["nodes"]:
        if node["energy"]:
            owners = {
                bot["owner"]
                for bot in state["bots"]
                if d2(state["config"], tile(bot), tile(node)) <= 2
            }
            if owners:
                node["energy"], node["timer"] = False, 0
            if len(owners) == 1:
                player = state["players"][owners.pop()]
                player["energy"] += 1
                player["collected"] += 1


def spawn(state: Json, t: int) -> None:
    cost = state["config"]["spawn_cost"]
    for slot, player in enumerate(state["players"]):
        bot_tiles = {tile(bot) for bot in state["bots"]}
        free = [
            core
            for core in state["cores"]
            if core["active"] and core["owner"] == slot and tile(core) not in bot_tiles
        ]
        for core in sorted(free, key=lambda core: (core["last_spawn"], core["id"])):
            if player["energy"] >= cost:
                player["energy"] -= cost
                core["last_spawn"] = t + 1
                state["bots"].append(
                    {
                        "id": state["next_bot_id"],
                        "row": core["row"],
                        "col": core["col"],
                        "owner": slot,
                    }
                )
                state["next_bot_id"] += 1


def tick(state: Json) -> None:
    for node in state["nodes"]:
        if not node["energy"]:
            node["timer"] += 1
            if node["timer"] >= state["config"]["energy_interval"]:
                node["energy"], node["timer"] = True, 0


def endgame(state: Json) -> None:
    bots = state["bots"]
    for slot, player in enumerate(state["players"]):
        own = sum(bot["owner"] == slot for bot in bots)
        dominant = bool(bots) and 5 * own >= 4 * len(bots)
        player["dominant_turns"] = player["dominant_turns"] + 1 if dominant else 0
    living = {bot["owner"] for bot in bots}
    if len(living) == 1:
        (survivor,) = living
        for core in state["cores"]:
            if core["active"] and core["owner"] != survivor:
                state["players"][survivor]["score"] += 2
