//! Peers in Python: numpy's noise, scikit-learn's support vector machines, and PyTorch's networks. numpy's
//! floating-point noise does not protect records, because the low bits of the noisy values disclose them.

use crate::{Contestant, Result};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

/// Program that waits for a task, and answers with nanoseconds per value. A support vector machine is fitted
/// with the loosest tolerance for which the objective is within a given relative distance of the optimum. The
/// program searches for this tolerance when it first receives the task.
pub(crate) const NOISE_AND_MACHINES: &str = "
import sys, time, warnings
import sklearn
import numpy
generator = numpy.random.default_rng(1)
records = generator.random((5000, 30))
values = {
    'laplace': lambda: generator.laplace(size=200_000),
    'gaussian': lambda: generator.normal(size=200_000),
    'release': lambda: numpy.clip(records, 0.0, 1.0) + generator.laplace(scale=30.0, size=records.shape),
}

def machine(records, classes, width, rho, optimum, share):
    from sklearn.svm import LinearSVC
    warnings.simplefilter('ignore')
    x, y = numpy.fromfile(records).reshape(-1, int(width)), 2 * numpy.fromfile(classes) - 1
    rho, optimum, share = float(rho), float(optimum), float(share)
    def fit(tolerance):
        scale = rho ** -0.5
        return LinearSVC(loss='hinge', C=1.0, intercept_scaling=scale, tol=tolerance, max_iter=10**6, \
    random_state=0).fit(x, y)
    def objective(fitted):
        w, b = fitted.coef_[0], fitted.intercept_[0]
        return (w @ w + rho * b * b) / 2 + numpy.maximum(0, 1 - y * (x @ w + b)).sum()
    for tolerance in 10.0 ** -numpy.arange(0.5, 7, 0.5):
        if objective(fit(tolerance)) <= optimum * (1 + share):
            return lambda: (fit(tolerance), y)[1]
    raise SystemExit('no tolerance of LinearSVC reaches the objective')

def task(line):
    name, *arguments = line.split()
    if line not in values:
        values[line] = machine(*arguments)
    return values[line]

print('ready', flush=True)
for line in sys.stdin:
    run = task(line.strip())
    start = time.perf_counter_ns()
    made = run()
    print((time.perf_counter_ns() - start) / made.size, flush=True)
";

/// A running Python process.
#[derive(Clone)]
pub(crate) struct Python(Rc<RefCell<Process>>);

struct Process {
    child: Child,
    tasks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts `program`, which needs the packages in `needs`.
    ///
    /// # Errors
    /// Returns an error if Python cannot be started, or if it lacks these packages.
    pub(crate) fn start(python: &Path, program: &str, needs: &str) -> Result<Self> {
        let missing = |problem: &dyn std::fmt::Display| format!("{}: {problem}", python.display());
        let mut child = Command::new(python)
            .args(["-c", program])
            .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|problem| missing(&problem))?;
        let (Some(tasks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(missing(&"its standard streams are not connected").into());
        };
        let mut process = Process { child, tasks, answers: BufReader::new(answers) };
        if process.line()? != "ready" {
            return Err(missing(&format!("it lacks {needs}")).into());
        }
        Ok(Self(Rc::new(RefCell::new(process))))
    }

    /// Creates a contestant that runs `task` in this process.
    pub(crate) fn contestant(&self, name: &str, task: String) -> Contestant {
        let process = self.0.clone();
        let contestant = Contestant::new(name, move || {
            let mut process = process.borrow_mut();
            writeln!(process.tasks, "{task}")?;
            Ok(process.line()?.parse()?)
        });
        contestant.into_guest()
    }
}

impl Process {
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
