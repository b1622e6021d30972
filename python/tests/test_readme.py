"""What README.md and the example show, runs."""

import re
import runpy
from pathlib import Path

import pandas as pd
from conftest import made_up

FOLDER = Path(__file__).parent.parent


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    values = {"people": made_up(500)}
    for block in blocks[:2]:  # the third is for Spark, whose tests are in test_engines.py
        exec(block, values)
    pd.testing.assert_frame_equal(values["once"], values["again"])
    assert values["ledger"].accounts[0]["spent"]["epsilon"] == 2.0


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FOLDER / "examples" / "compare.py"))
    shown = capsys.readouterr().out
    assert "What to choose" in shown and "no evidence" in shown.lower()
    assert "<svg" in (tmp_path / "people.html").read_text(encoding="utf-8")
