"""What pictures of Code Battle show, pixel by pixel, is what the frames say."""

from __future__ import annotations

from cw.drawing import DARK, colour_of
from cw.games.code_battle.picture import DEATH, ENERGY, GROUND, WALL
from tests.pictures.looking import Look, close, document_of, mixed, rgb


class TestCodeBattle:
    def test_bots_walls_and_energy(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        frame = look.frame
        assert not frame["dead"]
        bots = {(bot["row"], bot["col"]): bot["owner"] for bot in frame["bots"]}
        for (row, col), owner in bots.items():
            assert look.at(col + 0.25, row + 0.32) == rgb(colour_of(owner, dark=True))
        cores = {(core["row"], core["col"]) for core in frame["cores"]}
        free = {
            place
            for place in [*map(tuple, frame["walls"])]
            if all(abs(place[0] - row) > 1 or abs(place[1] - col) > 1 for row, col in cores)
        }
        assert len(free) > 100
        assert {look.at(col + 0.5, row + 0.5) for row, col in free} == {rgb(WALL)}
        for node in frame["nodes"]:
            if (node["row"], node["col"]) not in bots:
                colour = look.at(node["col"] + 0.5, node["row"] + 0.5)
                full = mixed(ENERGY, GROUND, 0.9)
                assert close(colour, full if node["energy"] else rgb(GROUND))

    def test_cores_have_a_ring_and_razed_ones_a_cross(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        states = set()
        for core in look.frame["cores"]:
            x, y = core["col"] + 0.5, core["row"] + 0.5
            states.add(core["active"])
            if core["active"]:
                assert look.at(x, y - 1.15) == rgb(colour_of(core["owner"], dark=True))
            else:
                assert look.at(x, y) == rgb(DEATH)
        assert states == {True, False}

    def test_the_ground_is_dark(self) -> None:
        document = document_of("code-battle")
        look = Look(document)
        assert look.image.getpixel((2, 2)) == rgb(DARK.ground)
