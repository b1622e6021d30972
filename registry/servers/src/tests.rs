//! Tests of all steps together: devices, both servers, and the counts.

use crate::*;
use scumble_core::{Budget, Example, Layout, Table};
use scumble_custody::ShippedDesign;
use scumble_marginals::TWO_SERVER_MARGINALS;

/// Two servers with their keys, and a design for the records of [`Example::mixed`].
struct Case {
    design: ShippedDesign,
    keys: [ServerKey; 2],
    table: Table,
    layout: Layout,
}

/// Lines for both servers.
type Lines = [Vec<String>; 2];

fn case(epsilon: f64) -> Case {
    let Example { brief, table, .. } = Example::mixed().unwrap();
    let brief = brief.with_budget(Budget::new(epsilon, 1e-6).unwrap());
    let design = TWO_SERVER_MARGINALS.design(&serde_json::json!({ "bins": 4 }), &brief).unwrap();
    let keys = [(); 2].map(|()| ServerKey::generate().unwrap());
    Case { design: design.into(), keys, table, layout: brief.domain.layout() }
}

impl Case {
    fn task(&self) -> Task<'_> {
        Task::new(&self.design).unwrap()
    }

    fn public(&self) -> [PublicKey; 2] {
        [self.keys[0].public(), self.keys[1].public()]
    }

    fn record(&self, at: usize) -> Vec<f64> {
        self.layout.flat(&self.table, at..at + 1)
    }

    /// Reports of the records in `rows`.
    fn reports(&self, rows: std::ops::Range<usize>) -> Lines {
        let (task, public) = (self.task(), self.public());
        let mut lines = [vec![], vec![]];
        for at in rows {
            let made = task.report(&self.record(at), [&public[0], &public[1]]).unwrap();
            lines.iter_mut().zip(made).for_each(|(lines, line)| lines.push(line));
        }
        lines
    }

    /// Number of people in each cell of all tables.
    fn exact(&self, rows: std::ops::Range<usize>) -> Vec<i128> {
        let shared = self.design.mechanism().shared_counts().unwrap();
        let tables = shared.tables();
        let mut counts = vec![0; tables.iter().map(|table| table.len()).sum()];
        for at in rows {
            let mut start = 0;
            for (cell, table) in shared.cells(&self.record(at)).unwrap().into_iter().zip(&tables) {
                counts[start + cell] += 1;
                start += table.len();
            }
        }
        counts
    }
}

/// Everything that the two servers wrote.
#[derive(Debug)]
struct Run {
    tallies: [Tally; 2],
    shares: [AggregateShare; 2],
    messages: [Vec<u8>; 2],
}

fn source<'r>(reader: &'r mut &[u8], file: &'r str) -> Source<'r> {
    Source { reader, file }
}

fn sink<'w>(writer: &'w mut Vec<u8>, file: &'w str) -> Sink<'w> {
    Sink { writer, file }
}

fn run(case: &Case, lines: &Lines, counted: &mut [Counted; 2]) -> Result<Run> {
    let (task, public) = (case.task(), case.public());
    let a = Server::new(&task, Role::A, &case.keys[0], &public[1])?;
    let b = Server::new(&task, Role::B, &case.keys[1], &public[0])?;
    let [for_a, for_b] = lines.each_ref().map(|lines| lines.join("\n") + "\n");
    let mut messages = [vec![], vec![]];
    a.begin(source(&mut for_a.as_bytes(), "to-a"), sink(&mut messages[0], "from-a"))?;
    let received = messages[0].clone();
    let (share_b, tally_b) = b.answer(
        source(&mut for_b.as_bytes(), "to-b"),
        source(&mut &received[..], "from-a"),
        sink(&mut messages[1], "from-b"),
        &mut counted[1],
    )?;
    let (share_a, tally_a) = a.finish(
        source(&mut for_a.as_bytes(), "to-a"),
        source(&mut &messages[1][..], "from-b"),
        &mut counted[0],
    )?;
    Ok(Run { tallies: [tally_a, tally_b], shares: [share_a, share_b], messages })
}

fn fresh(case: &Case, lines: &Lines) -> Run {
    run(case, lines, &mut Default::default()).unwrap()
}

fn counts(case: &Case, Run { shares: [a, b], .. }: &Run) -> (Vec<i128>, u64) {
    unshard(&case.task(), [a, b]).unwrap()
}

/// Number of reports that server b refused for a reason.
fn refused(run: &Run, refusal: Refusal) -> u64 {
    run.tallies[1].refused.get(&refusal).map_or(0, |(count, _)| *count)
}

#[test]
fn without_noise_the_counts_are_those_of_the_records() {
    let case = case(f64::INFINITY);
    let run = fresh(&case, &case.reports(0..30));
    assert_eq!(counts(&case, &run), (case.exact(0..30), 30));
}

/// Each server adds noise of scale σ = √6/μ = 10.348: three tables share the budget, replacing a record
/// changes two cells of each, and μ = 0.23671 at ε = 1 and δ = 10⁻⁶. A count has the noise of both, of
/// variance 2σ².
///
/// The estimate of the variance, from 22 cells in 60 releases, has a relative standard error of √(2/1320) =
/// 4 %. Five of them are exceeded with probability 6·10⁻⁷; the noise of one server alone would be off by
/// 50 %.
#[test]
fn both_servers_add_their_noise() {
    let mut squares = vec![];
    for _ in 0..60 {
        let case = case(1.0);
        let steps = case.design.mechanism().shared_counts().unwrap().steps() as f64;
        let (noisy, people) = counts(&case, &fresh(&case, &case.reports(0..3)));
        assert_eq!(people, 3);
        let off =
            noisy.iter().zip(case.exact(0..3)).map(|(noisy, exact)| *noisy as f64 / steps - exact as f64);
        squares.extend(off.map(|off| off * off));
    }
    let ratio = squares.iter().sum::<f64>() / squares.len() as f64 / (2.0 * SIGMA * SIGMA);
    assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
}

const SIGMA: f64 = 10.348;

/// A server knows its own noise, and the other's is enough for the claim: the noise that one server adds has
/// the scale σ, not σ/√2.
#[test]
fn the_noise_of_one_server_suffices() {
    let case = case(1.0);
    let shared = case.design.mechanism().shared_counts().unwrap();
    let mut stream = scumble_core::Randomness::seeded(3).streams().stream(0);
    let draws: Vec<f64> =
        (0..500).flat_map(|_| shared.noise(&mut stream).unwrap()).map(|x| x as f64).collect();
    let steps = shared.steps() as f64;
    let variance = draws.iter().map(|x| (x / steps).powi(2)).sum::<f64>() / draws.len() as f64;
    // 11,000 draws: five standard errors are 7 %.
    assert!((variance / (SIGMA * SIGMA) - 1.0).abs() < 0.07, "{variance}");
}

#[test]
fn a_step_that_is_repeated_gives_the_same_share_and_no_report_is_counted_twice() {
    let case = case(1.0);
    let (early, late) = (case.reports(0..10), case.reports(10..15));
    let mut counted = <[Counted; 2]>::default();
    let first = run(&case, &early, &mut counted).unwrap();
    assert_eq!(counted.each_ref().map(Counted::len), [10, 10]);
    let again = run(&case, &early, &mut counted).unwrap();
    assert_eq!(first.shares, again.shares);
    // A larger batch with the same reports: only the new ones count, so that no difference of two aggregates
    // shows a few people with less noise.
    let both = [0, 1].map(|at| [&early[at][..], &late[at][..]].concat());
    let saved = counted.each_ref().map(|counted| counted.to_json().unwrap());
    let mut counted = saved.map(|text| Counted::from_json(&text, "counted").unwrap());
    let second = run(&case, &both, &mut counted).unwrap();
    assert_eq!((second.shares[0].reports(), refused(&second, Refusal::Counted)), (5, 10));
    assert_eq!(counted[0].len(), 15);
    let smaller = early.each_ref().map(|lines| lines[..9].to_vec());
    let refused = run(&case, &smaller, &mut counted).unwrap_err().to_string();
    assert!(refused.ends_with("9 of 9 reports are refused: 9 counted in an earlier batch"), "{refused}");
}

/// A device that changes its report under the same id gets no new noise on the reports of others: an average
/// over such steps would show them.
#[test]
fn other_shares_under_the_same_ids_are_refused() {
    let case = case(1.0);
    let (task, public) = (case.task(), case.public());
    let keys = [&public[0], &public[1]];
    let with_device = |cells: &[usize], lines: &Lines| -> Lines {
        let made = task.report_of_cells(cells, [7; 16], keys).unwrap();
        [0, 1].map(|at| [&lines[at][..], &made[at..=at]].concat())
    };
    let honest = case.reports(0..5);
    let mut counted = <[Counted; 2]>::default();
    run(&case, &with_device(&[0, 0, 0], &honest), &mut counted).unwrap();
    let again = run(&case, &with_device(&[2, 2, 2], &honest), &mut counted).unwrap_err().to_string();
    assert!(again.ends_with("6 of 6 reports are refused: 6 counted in an earlier batch"), "{again}");
}

/// A device chooses the id of its report. No id disturbs the messages between the servers.
#[test]
fn every_id_is_an_id() {
    let case = case(f64::INFINITY);
    let (task, public) = (case.task(), case.public());
    let mut lines = case.reports(0..2);
    for id in [[0; 16], [1; 16], [255; 16], *b"end of message\x02\x00", *b"{\"format\": 12}\n\n"] {
        let made = task.report_of_cells(&[0, 0, 0], id, [&public[0], &public[1]]).unwrap();
        lines.iter_mut().zip(made).for_each(|(lines, line)| lines.push(line));
    }
    let run = fresh(&case, &lines);
    assert_eq!((counts(&case, &run).1, run.tallies[1].refused.len()), (7, 0));
}

#[test]
fn reports_that_are_not_one_record_are_refused() {
    let case = case(f64::INFINITY);
    let mut lines = case.reports(0..6);
    let (task, public) = (case.task(), case.public());
    let keys = [&public[0], &public[1]];
    let add = |lines: &mut Lines, [a, b]: [String; 2]| {
        lines[0].push(a);
        lines[1].push(b);
    };
    // A device whose tables disagree on the label: its proof is false, whatever it does.
    add(&mut lines, task.report_of_cells(&[0, 1, 0], [7; 16], keys).unwrap());
    // A line of a device for another design, a line for the other server, and text.
    let other = self::case(1.0);
    let for_other = Task::new(&other.design).unwrap().report(&case.record(7), keys).unwrap();
    add(&mut lines, for_other);
    let [a, b] = task.report(&case.record(8), keys).unwrap();
    add(&mut lines, [b, a]);
    add(&mut lines, ["{}".into(), "x".repeat(100_000)]);
    // A report that is sent twice, a report without a share for server a, and one of a share of another.
    let repeated = lines.each_ref().map(|lines| lines[2].clone());
    add(&mut lines, repeated);
    lines[1].push(task.report(&case.record(9), keys).unwrap()[1].clone());
    let [first, second] = [9, 10].map(|at| task.report(&case.record(at), keys).unwrap());
    let id = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    add(&mut lines, [first[0].clone(), second[1].replace(&id(&second[1]), &id(&first[0]))]);
    let run = fresh(&case, &lines);
    let found: Vec<_> =
        run.tallies[1].refused.iter().map(|(refusal, (count, line))| (*refusal, *count, *line)).collect();
    assert_eq!(
        found,
        [
            (Refusal::Malformed, 1, 10),
            (Refusal::Unopened, 3, 8),
            (Refusal::Replayed, 1, 11),
            (Refusal::Unmatched, 1, 12),
            (Refusal::Forged, 1, 7),
        ]
    );
    assert_eq!(counts(&case, &run), (case.exact(0..6), 6));
}

/// A changed byte anywhere in the message of a server, in a share or in a report is found.
#[test]
fn changed_bytes_are_found() {
    let case = case(1.0);
    let lines = case.reports(0..3);
    let whole = fresh(&case, &lines);
    let (task, public) = (case.task(), case.public());
    let b = Server::new(&task, Role::B, &case.keys[1], &public[0]).unwrap();
    let for_b = lines[1].join("\n") + "\n";
    let answer = |message: &[u8]| {
        let (mut written, mut counted) = (vec![], Counted::default());
        b.answer(
            source(&mut for_b.as_bytes(), "to-b"),
            source(&mut &message[..], "from-a"),
            sink(&mut written, "from-b"),
            &mut counted,
        )
    };
    assert_eq!(answer(&whole.messages[0]).unwrap().1.accepted, 3);
    for at in (0..whole.messages[0].len()).step_by(97) {
        let mut changed = whole.messages[0].clone();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let refused = answer(&changed).unwrap_err().to_string();
        assert!(refused.starts_with("from-a: "), "{at}: {refused}");
    }
    let ends: Vec<usize> = whole.messages[0]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    for &end in &ends[..ends.len() - 1] {
        let refused = answer(&whole.messages[0][..end]).unwrap_err().to_string();
        assert!(refused.contains("it ends before its last line"), "{refused}");
    }
    // Server b's own message in place of server a's.
    let refused = answer(&whole.messages[1]).unwrap_err().to_string();
    assert!(refused.contains("it is from server b, and that of server a is expected"), "{refused}");
    for at in (0..lines[1][0].len()).step_by(11) {
        let mut changed = lines[1].clone();
        let mut bytes = changed[0].clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        changed[0] = String::from_utf8(bytes).unwrap();
        let run = fresh(&case, &[lines[0].clone(), changed]);
        assert_eq!(run.tallies[1].accepted, 2, "{at}");
    }
}

#[test]
fn shares_that_do_not_belong_together_are_refused() {
    let case = case(1.0);
    let task = case.task();
    let [one, two] = [0..4, 4..8].map(|rows| fresh(&case, &case.reports(rows)).shares);
    let refused = |shares: [&AggregateShare; 2]| unshard(&task, shares).unwrap_err().to_string();
    assert!(refused([&one[0], &one[0]]).contains("both are from one server"));
    assert!(refused([&one[0], &two[1]]).contains("the servers counted different reports"));
    let other = self::case(2.0);
    let other_share = fresh(&other, &other.reports(0..4)).shares;
    assert!(refused([&one[0], &other_share[1]]).contains("they are of another design"));
    // The share of server a of the first batch, as if it were of the second.
    let mut relabelled = one[0].clone();
    relabelled.batch = two[1].batch.clone();
    assert!(refused([&relabelled, &two[1]]).contains("their sums are not counts"));
    let text = one[0].to_json().unwrap();
    assert_eq!(AggregateShare::from_json(&text, "a.json").unwrap(), one[0]);
    let changed = AggregateShare::from_json(&text.replacen("\"reports\": 4", "\"reports\": 5", 1), "a.json");
    assert!(changed.unwrap_err().to_string().starts_with("a.json: it was changed"));
}

#[test]
fn keys_are_read_as_written_and_a_server_needs_the_other_key() {
    let case = case(1.0);
    let key = &case.keys[0];
    let read = ServerKey::from_json(&key.to_json().unwrap(), "a.json").unwrap();
    assert_eq!(read.public(), key.public());
    let public = PublicKey::from_json(&key.public().to_json().unwrap(), "a.json").unwrap();
    assert_eq!(public, key.public());
    assert!(PublicKey::from_json(&key.to_json().unwrap(), "a.json").is_err());
    let own = Server::new(&case.task(), Role::A, key, &public).map(|_| ()).unwrap_err().to_string();
    assert!(own.contains("it is this server's own"), "{own}");
    assert!(!format!("{key:?}").contains(&key.to_json().unwrap()[20..40]));
}

/// Each share alone is uniform: the top bytes of the elements of server a's share, of one record in 200
/// reports. χ² has 255 degrees of freedom; 400 is exceeded with probability 10⁻⁸.
#[test]
fn a_share_alone_looks_random() {
    use base64::Engine;
    let case = case(1.0);
    let (task, public) = (case.task(), case.public());
    let mut counts = [0u32; 256];
    for _ in 0..200 {
        let [line, _] = task.report(&case.record(0), [&public[0], &public[1]]).unwrap();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let decode =
            |name: &str| base64::prelude::BASE64_STANDARD.decode(line[name].as_str().unwrap()).unwrap();
        let bound = [decode("id"), decode("public")].concat();
        let share = case.keys[0].open(&task.info("report", Role::A), &decode("share"), &bound).unwrap();
        share.chunks_exact(16).take(22).for_each(|element| counts[usize::from(element[15])] += 1);
    }
    let expected = 200.0 * 22.0 / 256.0;
    let chi_squared: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(chi_squared < 400.0, "{chi_squared}");
}

#[test]
fn a_mechanism_of_a_curator_has_no_task() {
    let Example { brief, .. } = Example::mixed().unwrap();
    let design =
        scumble_marginals::NOISY_MARGINALS.design(&serde_json::json!({ "bins": 4 }), &brief).unwrap();
    let design = ShippedDesign::from(design);
    let refused = Task::new(&design).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "the mechanism noisy-marginals is not for two servers; two-server-marginals is");
}
