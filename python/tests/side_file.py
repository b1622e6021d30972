"""Helpers for tests of engines: files with the output of every task attempt, and killed processes."""

import os
import signal
import time
from pathlib import Path

import pandas as pd


def above(process: int) -> int:
    """Parent of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def executor_of(process: int) -> int:
    """Java process above a Python worker of Spark, or else the process itself."""
    at = process
    while (at := above(at)) > 1:
        if Path(f"/proc/{at}/comm").read_text().startswith("java"):
            return at
    return process


def record(folder: str, frame: pd.DataFrame) -> None:
    """Saves the output of one attempt. Then kills the first attempt for the record "p0", with its executor."""
    if not len(frame):
        return
    frame.to_pickle(Path(folder) / f"{os.getpid()}-{time.time_ns()}.attempt")
    if (frame["person"] == "p0").any():
        try:
            os.close(os.open(Path(folder) / "killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        time.sleep(1)  # other attempts make progress
        os.kill(executor_of(os.getpid()), signal.SIGKILL)
        time.sleep(60)


def kill_executors() -> None:
    """Kills all executors of the Spark session that this process started."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            at = process = int(folder.name)
            if b"CoarseGrainedExecutorBackend" not in (folder / "cmdline").read_bytes():
                continue
            while at not in (os.getpid(), 0):
                at = above(at)
        except OSError:
            continue  # the process has ended
        if at == os.getpid():
            os.kill(process, signal.SIGKILL)


def attempts(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_pickle(file) for file in Path(folder).glob("*.attempt")], ignore_index=True)


def judge(folder: Path, released: pd.DataFrame, of_one_process: pd.DataFrame) -> None:
    """Checks that each record has one noise over all attempts, and that the release equals a release by one process."""
    assert (Path(folder) / "killed").exists(), "nobody was killed"
    everything = attempts(folder)
    assert everything["person"].duplicated().any(), "nothing was computed twice"
    assert not everything.drop_duplicates()["person"].duplicated().any(), "a record has two noises"
    expected = of_one_process.sort_values("person").reset_index(drop=True)
    found = released.sort_values("person").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
