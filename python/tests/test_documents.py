"""Tests of the guide's blocks of Python, of the notebooks and of the reference."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent
CHAPTERS = FOLDER.parent / "guide" / "chapters"


def run(blocks, folder, monkeypatch) -> dict:
    """Runs blocks of code one after the other, in one namespace and in one folder."""
    monkeypatch.chdir(folder)
    values = {"__name__": "document"}
    for at, block in enumerate(blocks):
        exec(compile(block, f"<block {at}>", "exec"), values)
    return values


def blocks_of(chapter: str) -> list[str]:
    text = (CHAPTERS / f"{chapter}.md").read_text(encoding="utf-8")
    return re.findall(r"^```py\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_chapter_about_python_runs(tmp_path, monkeypatch, capsys):
    values = run(blocks_of("python"), tmp_path, monkeypatch)
    shown = capsys.readouterr().out
    assert values["released"].columns.tolist() == ["age", "smokes"]
    assert "difference of means" in shown and "What to choose" in shown
    assert values["chosen"].guarantee["epsilon"] == 8.0
    assert values["private"].score(values["features"], values["label"]) > 0.6
    assert values["ledger"].left("stream") == {"epsilon": 0.0, "delta": 0.0}
    assert "StepNoise False" in shown and "HalfTheNoise True" in shown
    assert (tmp_path / "released-1-1.csv").is_file()
