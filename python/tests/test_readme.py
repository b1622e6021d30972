"""Tests of the README's code and of the example."""

import json
import re
import runpy
from pathlib import Path

import pandas as pd
from conftest import made_up

FOLDER = Path(__file__).parent.parent


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    people = made_up(500)
    values = {"people": people}
    exec(block, values)
    assert type(values["released"]) is pd.DataFrame and len(values["released"]) == len(people)
    assert json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))["records"] == len(people)


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FOLDER / "examples" / "compare.py"))
    shown = capsys.readouterr().out
    assert "What to choose" in shown and "trusting nobody" in shown
    assert "<svg" in (tmp_path / "people.html").read_text(encoding="utf-8")
