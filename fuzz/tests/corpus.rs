//! The fixed corpus: every file of `corpus/<target>/` is an input of its target, within limits of time and
//! memory.

use peak_alloc::PeakAlloc;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Longest time for one input. On an idle machine every input takes milliseconds.
const LONGEST: Duration = Duration::from_secs(2);

/// Stack size of a thread, in bytes. It equals the stack size of the main thread of a command. Some sixty
/// nested compositions need more than the 2 MiB of other threads.
const STACK: usize = 8 << 20;

/// Maximum memory of an input at once, in bytes: a fixed part, and a thousand bytes for each byte of the
/// input.
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

// A single test, because allocations are counted for the whole process.
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
            // A separate thread can be abandoned if the input never ends.
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
            // A corpus without accepted files would test little.
            let is_valid = file.file_name().unwrap().to_str().unwrap().starts_with("valid-");
            assert!(accepted || !is_valid, "{shown}: it was refused");
            slowest = slowest.max(taken);
            largest = largest.max(memory);
        }
        println!("{name}: {} inputs, at most {slowest:?} and {} KiB each", files.len(), largest >> 10);
    }
}

/// Limits the size of the committed corpus.
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
