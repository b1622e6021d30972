"""Tests of the guide's blocks of Python, of the notebooks and of the reference."""

import importlib
import json
import re
import runpy
import subprocess
import sys
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


def notebook(name: str, folder, monkeypatch) -> dict:
    """Runs the code cells of a notebook."""
    cells = json.loads((FOLDER / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(cells) <= 12 and not any(cell["outputs"] for cell in code)
    return run(["".join(cell["source"]) for cell in code], folder, monkeypatch)


def test_estimates_of_the_survey_are_near_the_truth(tmp_path, monkeypatch):
    result = notebook("survey", tmp_path, monkeypatch)["result"]
    # Five half-widths are about ten standard errors.
    half = (result["upper"] - result["lower"]) / 2
    assert ((result["value"] - result["truth"]).abs() < 5 * half).all() and (half < 5).all()


def test_the_hospitals_release_teaches_a_model(tmp_path, monkeypatch):
    values = notebook("hospital", tmp_path, monkeypatch)
    scores = values["scores"]
    assert scores["in the clear"] > 0.85 and scores["released"] > scores["in the clear"] - 0.1
    assert values["ledger"].left("biopsies")["epsilon"] == 2.0 and "biopsies" in values["refusal"]


def test_reports_of_many_people_teach_more_than_the_majority(tmp_path, monkeypatch):
    scores = notebook("volunteers", tmp_path, monkeypatch)["scores"]
    assert scores["collected"] > scores["majority class"] + 0.1 and scores["in the clear"] > 0.8


def test_the_reference_has_every_public_name(tmp_path):
    page = tmp_path / "reference.md"
    subprocess.run([sys.executable, FOLDER / "reference.py", page], check=True)
    sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    text_of = {section.partition("\n")[0]: section for section in sections}
    reference = runpy.run_path(str(FOLDER / "reference.py"), run_name="reference")
    assert list(text_of) == reference["MODULES"]
    for place, text in text_of.items():
        for name in importlib.import_module(place).__all__:
            assert f"### {name}\n" in text, f"{place}.{name} is absent"
    assert reference["reference"]()[1] == [], "names without a docstring"
