from __future__ import annotations

import errno
import gzip
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_trace import crash, probing

import protocol.player
from protocol.errors import VersionProbingError
from protocol.player import Player, module, playable

FOLDER = Path(protocol.player.__file__).parent


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_repr_is_short_and_the_same_every_time() -> None:
    assert repr(Player(probing())) == "Player(3 members, 26 steps)"
    assert repr(Player(crash(), index=4)) == "Player(3 members, 14 steps)"


def test_a_player_takes_a_trace_or_what_was_made_of_one() -> None:
    assert Player(playable(crash())).data == Player(crash()).data


def test_another_run_is_put_in_from_its_start() -> None:
    player = Player(probing(), index=9)
    player.show(crash())
    assert (player.index, repr(player)) == (0, "Player(3 members, 14 steps)")


def test_the_output_plays_with_a_kernel_and_without() -> None:
    bundle, _ = Player(crash())._repr_mimebundle_()
    assert bundle["text/plain"] == "Player(3 members, 14 steps)"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert module() in bundle["text/html"]


def test_the_module_is_the_same_text_in_lab_page_and_file() -> None:
    player = Player(crash())
    assert player._esm == module()
    assert module() in player.fragment() and module() in player.html()


def test_a_fragment_is_the_same_every_time() -> None:
    assert Player(crash()).fragment() == Player(crash()).fragment()


def test_the_module_holds_its_style_sheet_and_nothing_that_ends_a_script() -> None:
    assert "@player.css@" not in module() and "--old-fill" in module()
    assert "</" not in module() and "<!--" not in module()


def test_the_sources_ask_for_nothing_from_outside() -> None:
    paths = [*FOLDER.parent.glob("*/*.js"), *FOLDER.parent.glob("*/*.css")]
    script, style = ("".join(p.read_text("utf-8") for p in paths if p.suffix == end) for end in (".js", ".css"))
    assert script and style and not re.findall(r'^import[^"]*"(?!\.)', script, re.MULTILINE)
    assert "fetch(" not in script and "innerHTML" not in script and "eval(" not in script
    assert "@import" not in style and "url(" not in style


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js on the PATH")
def test_the_module_is_javascript(tmp_path: Path) -> None:
    path = tmp_path / "player.mjs"
    path.write_text(module(), encoding="utf-8")
    subprocess.run(["node", "--check", path], check=True)


def test_sizes_stay_small() -> None:
    assert len(gzip.compress(module().encode(), mtime=0)) < 20_000
    assert len(Player(probing(tuple("ABCDEF"))).html()) < 80_000
    assert len(json.dumps(playable(probing()))) < 40_000


def test_a_name_never_becomes_markup() -> None:
    run = crash()
    hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    outcome = replace(run.outcome, text=hostile)
    page = Player(replace(run, outcome=outcome, picks={"leader": hostile})).html(title=hostile)
    tags = Tags(page).seen
    assert [attributes.get("type") for tag, attributes in tags if tag == "script"] == ["application/gzip", "module"]
    assert not [tag for tag, _ in tags if tag == "img"]


def test_a_page_is_whole() -> None:
    page = Player(crash()).html()
    tags = {tag for tag, _ in Tags(page).seen}
    assert page.startswith("<!doctype html>") and {"html", "title", "main", "h1"} <= tags
    assert "src=" not in page.split('<script type="module">')[0]


def test_more_members_than_a_phone_can_show_are_laid_out_too() -> None:
    names = tuple(f"m{n}" for n in range(24))
    data = playable(probing(names[:24]))
    assert len(data["slots"]) == 24  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["html", "svg", "mmd", "json"])
def test_a_run_is_saved_as_what_its_file_is_called(tmp_path: Path, kind: str) -> None:
    path = Player(crash()).save(tmp_path / f"run.{kind}")
    assert path.read_bytes() == Player(crash()).export(kind)[1]
    assert [one.name for one in tmp_path.iterdir()] == [f"run.{kind}"]


def test_an_interrupted_export_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    path.write_text("old", encoding="utf-8")

    def stop(self: Path, target: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        Player(crash()).save(path)
    assert path.read_text(encoding="utf-8") == "old" and [one.name for one in tmp_path.iterdir()] == ["run.json"]


def test_a_full_disk_leaves_the_old_file_and_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    path.write_text("old", encoding="utf-8")

    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(VersionProbingError, match=r"'run.json' cannot be written: No space left on device \(allowed:"):
        Player(crash()).save(path)
    assert path.read_text(encoding="utf-8") == "old" and [one.name for one in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("name", ["nowhere/run.json", f"{'n' * 260}.json", "a\0.json"])
def test_a_file_that_cannot_be_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(VersionProbingError, match="cannot be written"):
        Player(crash()).save(tmp_path / name)


@pytest.mark.parametrize("name", ["run", "run.mp4", "run.html.exe"])
def test_a_file_of_no_kind_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(VersionProbingError, match="allowed: html, svg, gif, webp, mmd, json"):
        Player(crash()).save(tmp_path / name)
    assert not list(tmp_path.iterdir())
