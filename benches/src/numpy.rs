//! numpy's floating-point noise: what is commonly added to records, and what gives them away in its low bits.

use crate::{Contestant, Result};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

/// Waits for a task's name, and answers with nanoseconds a value.
const PROGRAM: &str = "
import sys, time
import numpy
generator = numpy.random.default_rng(1)
records = generator.random((5000, 30))
tasks = {
    'laplace': lambda: generator.laplace(size=200_000),
    'gaussian': lambda: generator.normal(size=200_000),
    'release': lambda: numpy.clip(records, 0.0, 1.0) + generator.laplace(scale=30.0, size=records.shape),
}
print('ready', flush=True)
for line in sys.stdin:
    task = tasks[line.strip()]
    start = time.perf_counter_ns()
    values = task()
    print((time.perf_counter_ns() - start) / values.size, flush=True)
";

/// A running Python.
pub(crate) struct Numpy {
    child: Child,
    tasks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Numpy {
    pub(crate) fn start(python: &Path) -> Result<Self> {
        let missing = |problem: &dyn std::fmt::Display| format!("{}: {problem}", python.display());
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|problem| missing(&problem))?;
        let (Some(tasks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(missing(&"it has no pipes").into());
        };
        let mut numpy = Self { child, tasks, answers: BufReader::new(answers) };
        if numpy.line()? != "ready" {
            return Err(missing(&"it has no numpy").into());
        }
        Ok(numpy)
    }

    /// One contestant a section.
    pub(crate) fn contestants(self) -> [Contestant; 3] {
        let shared = Rc::new(RefCell::new(self));
        [
            ("laplace", "numpy, `laplace`, floating point"),
            ("gaussian", "numpy, `normal`, floating point"),
            ("release", "numpy, `clip` and `laplace`, floating point"),
        ]
        .map(|(task, name)| {
            let numpy = shared.clone();
            Contestant::new(name, move || {
                let mut numpy = numpy.borrow_mut();
                writeln!(numpy.tasks, "{task}")?;
                Ok(numpy.line()?.parse()?)
            })
        })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
