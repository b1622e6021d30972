//! The fixed corpus: every file of `corpus/<target>/` through its target, each within bounds of time and space.

use peak_alloc::PeakAlloc;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// No input takes longer; all are read within milliseconds on an idle machine.
const LONGEST: Duration = Duration::from_secs(2);

/// As much as the main thread of a command has. Some sixty compositions, each within the next, need more here than the 2 MiB of other
/// threads.
const STACK: usize = 8 << 20;

/// What an input may have allocated at once: a fixed part, and a thousand bytes for each of its own.
fn most_memory(input: usize) -> usize {
    (4 << 20) + 1000 * input
}

/// The files of a target's corpus, sorted.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{} holds {} files", folder.display(), files.len());
    files
}

// One test, for what is allocated is counted for the whole process.
#[test]
fn every_input_is_accepted_or_refused_in_bounded_time_and_space() {
    for (name, target) in scumble_fuzz::TARGETS {
        let (mut slowest, mut largest) = (Duration::ZERO, 0);
        let files = corpus(name);
        for file in &files {
            let shown = file.display();
            let input = fs::read(file).unwrap();
            let length = input.len();
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let start = Instant::now();
            // On a thread of its own, which can be left alone if it never ends.
            let (sender, receiver) = channel();
            let thread = Builder::new().stack_size(STACK).spawn(move || sender.send(target(&input))).unwrap();
            let accepted = match receiver.recv_timeout(LONGEST) {
                Ok(accepted) => accepted,
                Err(RecvTimeoutError::Timeout) => panic!("{shown}: it takes longer than {LONGEST:?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("{shown}: it panics, see above"),
            };
            let taken = start.elapsed();
            thread.join().unwrap().unwrap();
            let memory = MEMORY.peak_usage().saturating_sub(before);
            assert!(memory <= most_memory(length), "{shown}: {memory} bytes for an input of {length}");
            // A corpus of which nothing gets in would test little.
            let is_valid = file.file_name().unwrap().to_str().unwrap().starts_with("valid-");
            assert!(accepted || !is_valid, "{shown}: it was refused");
            slowest = slowest.max(taken);
            largest = largest.max(memory);
        }
        println!("{name}: {} inputs, at most {slowest:?} and {} KiB each", files.len(), largest >> 10);
    }
}

/// What is committed stays small.
#[test]
fn the_corpus_is_small() {
    let mut total = 0;
    for (name, _) in scumble_fuzz::TARGETS {
        for file in corpus(name) {
            let size = fs::metadata(&file).unwrap().len();
            assert!(size <= 20_000, "{} has {size} bytes", file.display());
            total += size;
        }
    }
    assert!(total <= 400_000, "{total} bytes in all");
}
