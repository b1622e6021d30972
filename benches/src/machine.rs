//! Description of the machine on which the page was measured.

use std::fs;
use std::thread::available_parallelism;

/// Returns the number of cores and the processor's model, as far as the system reports them.
pub(crate) fn name() -> String {
    let cores = match available_parallelism().map(usize::from) {
        Ok(1) => "one core".to_owned(),
        Ok(cores) => format!("{cores} cores"),
        Err(_) => "an unknown number of cores".to_owned(),
    };
    match fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(model) {
        Some(model) => format!("{cores} of {model}"),
        None => cores,
    }
}

/// Returns the mean number of runnable programs over the last minute, if the system reports it.
pub(crate) fn load() -> Option<String> {
    Some(fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.to_owned())
}

/// Returns the model of the first processor in a Linux `/proc/cpuinfo`.
fn model(processors: &str) -> Option<String> {
    let line = processors.lines().find(|line| line.starts_with("model name"))?;
    let words: Vec<&str> = line.split_once(':')?.1.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_that_of_the_first_processor() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some  Maker 9\nprocessor\t: 1\nmodel name\t: Another\n";
        assert_eq!(model(cpuinfo).as_deref(), Some("Some Maker 9"));
        assert_eq!(model("model name\t: \n"), None);
        assert_eq!(model("processor\t: 0\n"), None);
    }
}
