//! Conformance suite for plugins: one function that authors of plugins call in their tests.
//!
//! ```no_run
//! # use scumble_core::Plugin;
//! # fn the_plugin() -> Plugin { unimplemented!() }
//! # let MY_PLUGIN: Plugin = the_plugin();
//! scumble_testing::conformance::check(&MY_PLUGIN).unwrap();
//! ```
//!
//! The suite checks that a mechanism conforms to the traits. It does not check privacy: an audit attacks the
//! claims.

use ndarray::{Array2, Axis, concatenate};
use scumble_core::{
    ASSUMED, Brief, Budget, Claim, Descriptor, Design, Designed, Error, Example, Factor, Key, Layout,
    LocalMechanism, NoiseDistribution, Notion, Outcome, Output, Plugin, Randomness, Registry, Release,
    Releases, Result, Table, Target, TargetDomain, Unit, Volunteers, local,
};
use scumble_custody::ShippedDesign;
use serde_json::json;
use std::fmt;

/// Rules that a plugin breaks.
#[derive(Clone, PartialEq)]
pub struct Failures {
    plugin: &'static str,
    broken: Vec<String>,
}

impl Failures {
    /// Sentences, one per broken rule.
    pub fn sentences(&self) -> &[String] {
        &self.broken
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the plugin {:?} does not conform:", self.plugin)?;
        self.broken.iter().try_for_each(|rule| write!(formatter, "\n- {rule}"))
    }
}

/// Prints the displayed text, so that `unwrap` shows it.
impl fmt::Debug for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Failures {}

const SEED: u64 = 1;

/// Checks `plugin` on its own example. A design that is saved and loaded must release the same table. The
/// rules also cover shapes, determinism, independence of the number of threads, projection into the domain,
/// errors, and infinite and large ε.
///
/// # Errors
/// [`Failures`] with a sentence for each rule that the plugin breaks, or for an example that cannot be
/// designed.
pub fn check(plugin: &Plugin) -> std::result::Result<(), Failures> {
    let rules: [(&str, Rule); 24] = [
        ("says of itself what it is", describes_itself),
        ("no symmetry of its example hides a fault", has_a_lopsided_example),
        ("claims no more than its budget", claims_within_budget),
        ("a local claim states all that every such claim assumes", states_its_assumptions),
        ("a release is the output that it states", releases_what_it_states),
        ("a saved design loads and releases the same", saves_and_loads),
        ("a released model is read back from its table", reads_its_model_back),
        ("keeps the records' number and the shape it declares", keeps_shape),
        ("a seed gives the same release, another seed another", is_deterministic),
        ("no two records share their noise", never_repeats_noise),
        ("the number of threads changes nothing", is_independent_of_threads),
        ("a stream of records is released like their table", streams_as_it_releases),
        ("a seeded release claims nothing, another what its design claims", states_provenance),
        ("a record outside the domain releases like its projection", projects_into_domain),
        ("a person counts once, whatever the number of their records", counts_people_once),
        ("encode never leaves the declared range", encodes_into_range),
        ("at ε = ∞ it releases its noise-free view and claims no DP", is_noise_free_at_infinity),
        ("at large ε it approaches its noise-free view", approaches_noise_free_view),
        ("records of the domain are collected from reports", collects_records),
        ("bad tables are errors", refuses_bad_tables),
        ("it publishes the distribution of its noise", publishes_its_distribution),
        ("unknown parameters are errors", refuses_unknown_parameters),
        ("a design that volunteers shaped says so", admits_its_volunteers),
        ("volunteers without labels are enough, or an error", takes_unlabelled_volunteers),
    ];
    let subject = match Subject::new(plugin) {
        Ok(subject) => subject,
        Err(error) => {
            return Err(Failures {
                plugin: plugin.name,
                broken: vec![format!("its example designs: {error}")],
            });
        }
    };
    let broken: Vec<String> = rules
        .iter()
        .filter_map(|(rule, holds)| holds(&subject).err().map(|why| format!("{rule}: {why}")))
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    Err(Failures { plugin: plugin.name, broken })
}

/// Result of a rule. `Err` says how the rule is broken.
type Verdict = std::result::Result<(), String>;
type Rule = fn(&Subject) -> Verdict;

struct Subject<'a> {
    plugin: &'a Plugin,
    example: Example,
    design: Design,
}

impl<'a> Subject<'a> {
    fn new(plugin: &'a Plugin) -> Result<Self> {
        let example = (plugin.example)()?;
        let design = plugin.design(&example.parameters, &example.brief)?;
        Ok(Self { plugin, example, design })
    }

    fn with_epsilon(&self, epsilon: f64) -> Result<Design> {
        let budget = Budget::new(epsilon, self.example.brief.budget.delta())?;
        let brief = self.example.brief.with_budget(budget);
        self.plugin.design(&self.example.parameters, &brief)
    }

    fn local(&self) -> Option<&dyn LocalMechanism> {
        self.design.local().ok()
    }

    /// Records of the example, repeated to more than two blocks of [`local::BLOCK`] records.
    fn long_table(&self) -> Result<Table> {
        let n = self.example.table.len();
        let rows: Vec<usize> = (0..2 * local::BLOCK + 100).map(|row| row % n).collect();
        self.example.table.select(&rows)
    }
}

fn seeded(design: &Design, table: &Table, seed: u64) -> Result<Release> {
    design.mechanism().release(table, &mut Randomness::seeded(seed))
}

/// Returns whether a release consists of records, and therefore has a noise-free view (the output of the
/// mechanism without its noise). Reports, tables and models have no such view.
fn has_view(design: &Design, release: &Release) -> bool {
    let is_of_tables = design.mechanism().releases() == Releases::Tables;
    release.collector().is_none() && release.key.model().is_none() && !is_of_tables
}

/// Statistics that a seeded release is made from; `None` if the mechanism does not provide them.
fn statistics(design: &Design, table: &Table, seed: u64) -> std::result::Result<Option<Vec<f64>>, String> {
    let statistics = design.mechanism().evidence().statistics;
    statistics
        .map(|statistics| statistics.draw(table, &mut Randomness::seeded(seed)).map_err(text))
        .transpose()
}

/// Seeded release, with its noise-free view (the output of the mechanism without its noise).
fn with_view(design: &Design, table: &Table) -> std::result::Result<(Release, Table), String> {
    let release = seeded(design, table, SEED).map_err(text)?;
    let view = release.key.view(table).map_err(text)?;
    Ok((release, view))
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(why()) }
}

fn releases_what_it_states(subject: &Subject) -> Verdict {
    check_output(&subject.design, &subject.example.table)
}

/// Compares a seeded release of `table` by a design with the output that the design states ([`Releases`]). It
/// compares the kind of output (such as records, reports or a model) and the presence of a secret key. Unless
/// the output is reports, it also compares the kind of target. If the design states one row per record, it
/// also compares the number of rows.
///
/// # Errors
/// A sentence, if the release differs from the stated output or cannot be made.
pub fn check_output(design: &Design, table: &Table) -> std::result::Result<(), String> {
    let mechanism = design.mechanism();
    let (stated, own) = (mechanism.releases(), mechanism.domain().layout().target);
    let release = seeded(design, table, SEED).map_err(text)?;
    let (fits, found) = match (&release.key, mechanism) {
        (Key::Model(_), _) => (matches!(stated, Releases::Model { .. }), "its release is a model"),
        (Key::Secret(_), _) => (stated.is_secret(), "its release has a secret key"),
        (Key::None, _) => (
            matches!(stated, Releases::Synthetic { .. } | Releases::Tables | Releases::Records),
            "its release has no key",
        ),
        (Key::Design(_), Designed::Curator(_)) => (false, "its design is the key of its release"),
        (Key::Design(_), Designed::Local(local)) if local.collector().is_some() => {
            (matches!(stated, Releases::Reports { .. }), "it makes reports")
        }
        (Key::Design(_), Designed::Local(local)) => {
            let is_view = stated.is_viewed() && !stated.is_secret();
            match local::alters_records(&**local).map_err(text)? {
                true if is_only_rounded(&**local, table).map_err(text)? => {
                    (is_view || stated == Releases::Records, "it rounds the records")
                }
                true => (
                    is_view,
                    "`encode` and `decode` make other records of those in its domain, which is a view \
                     without a secret",
                ),
                false => (stated == Releases::Records, "it releases the records' own columns"),
            }
        }
    };
    require(fits, || format!("it states {stated:?}, and {found}"))?;
    if !matches!(stated, Releases::Reports { .. }) {
        let layout = Layout { columns: release.table.columns().to_vec(), target: stated.target(own) };
        layout
            .check(&release.table)
            .map_err(|problem| format!("it states {:?}: {problem}", layout.target))?;
    }
    require(!stated.is_aligned() || release.table.len() == table.len(), || {
        format!("it states one row per record, and releases {} of {}", release.table.len(), table.len())
    })
}

/// Returns whether the noise-free view has the columns of `table` and differs from the records of `table` by
/// at most 0.01 in each encoded feature. The view is the output of the mechanism without its noise. A
/// mechanism that only rounds the features has such a view.
fn is_only_rounded(local: &dyn LocalMechanism, table: &Table) -> Result<bool> {
    let view = local::view(local, table)?;
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= 0.01;
    Ok(view.columns() == table.columns() && view.records().iter().zip(table.records()).all(is_near))
}

fn reads_its_model_back(subject: &Subject) -> Verdict {
    let mechanism = subject.design.mechanism();
    if mechanism.releases().family().is_none() {
        return Ok(());
    }
    let table = &subject.example.table;
    let release = seeded(&subject.design, table, SEED).map_err(text)?;
    let model = release.key.model().ok_or("it has a family of models, and its key is none")?;
    let read = mechanism.model_of(&release.table).map_err(text)?;
    let is_same = model.scores(table).map_err(text)? == read.scores(table).map_err(text)?
        && model.predict(table).map_err(text)? == read.predict(table).map_err(text)?;
    require(is_same, || "the model that is read from its table predicts otherwise".into())
}

fn describes_itself(subject: &Subject) -> Verdict {
    let plugin = subject.plugin;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    require(!plugin.name.is_empty() && plugin.name.chars().all(plain), || {
        format!("{:?} is no name of small letters, digits and hyphens", plugin.name)
    })?;
    require(!plugin.summary.is_empty() && !plugin.summary.contains('\n'), || {
        "the summary is not one line".into()
    })?;
    require(!plugin.paper.is_empty(), || "it names no source".into())?;
    let Descriptor { run_by, releases, needs_volunteers, reads_people, .. } = plugin.descriptor;
    let mechanism = subject.design.mechanism();
    require(mechanism.side() == run_by, || {
        format!("it is described as run by {}, and its example is not", run_by.run_by())
    })?;
    let output = Output::from(mechanism.releases());
    require(output == releases, || {
        format!(
            "it is described as releasing {}, and its example releases {}",
            releases.name(),
            output.name()
        )
    })?;
    let designed = |change: &dyn Fn(&mut Brief)| {
        let mut brief = subject.example.brief.clone();
        change(&mut brief);
        plugin.design(&subject.example.parameters, &brief)
    };
    let without = designed(&|brief| brief.volunteers = Volunteers::None);
    require(without.is_err() == needs_volunteers, || match needs_volunteers {
        true => "it is described as needing volunteers, and its example is designed without".into(),
        false => "its example is not designed without volunteers, which its descriptor does not say".into(),
    })?;
    let state = |people: usize| {
        let design = designed(&move |brief| brief.people = Some(people));
        design.map(|design| design.state().to_string()).map_err(text)
    };
    require(reads_people || state(30)? == state(1_000_000)?, || {
        "its design depends on the number of people, which its descriptor does not say".into()
    })
}

/// Refuses an example in which two classes, levels or columns could be exchanged without a visible change. A
/// mechanism that confuses them would pass every check on such an example.
fn has_a_lopsided_example(subject: &Subject) -> Verdict {
    let domain = &subject.example.brief.domain;
    let tables = [Some(&subject.example.table), subject.example.brief.volunteers.table()];
    for table in tables.into_iter().flatten() {
        if let (TargetDomain::Class { levels }, Target::Class(classes)) = (domain.target(), table.target()) {
            let count = |class| classes.iter().filter(|other| **other == class).count();
            require_different((0..levels.len()).map(count), "classes", "records")?;
        }
        let column = |at: usize| table.records().column(at);
        let mut numbers: Vec<Vec<f64>> = vec![];
        for (at, factor) in domain.features().factors() {
            match factor {
                Factor::OneHot { .. } => {
                    let count = |level: usize| column(level).iter().filter(|x| **x == 1.0).count();
                    require_different(at.map(count), "levels", "records")?;
                }
                Factor::Interval { lower, upper } => {
                    let name = &domain.columns()[at.start];
                    require(*lower != -upper, || format!("the bounds of {name:?} lie symmetric about zero"))?;
                    let shares = column(at.start).mapv(|x| (x - lower) / (upper - lower));
                    let mirrored = sorted(shares.iter().map(|share| 1.0 - share));
                    let shares = sorted(shares);
                    require(!is_near(&shares, &mirrored), || {
                        format!("the values of {name:?} lie symmetric about the middle of its bounds")
                    })?;
                    require(!numbers.iter().any(|other| is_near(&shares, other)), || {
                        format!("the values of {name:?} are those of another column")
                    })?;
                    numbers.push(shares);
                }
                _ => {}
            }
        }
    }
    let mechanism = subject.design.mechanism();
    let few = subject.example.table.select(&[0, 1, 2, 3]).map_err(text)?;
    for claim in &mechanism.guarantee().claims {
        let alike = mechanism.evidence().alike;
        if let Some([one, other]) = alike.and_then(|alike| alike(claim, &few)) {
            require(one != other, || {
                format!("the two tables that are to be released alike by \"{claim}\" are one")
            })?;
        }
    }
    Ok(())
}

fn require_different(counts: impl Iterator<Item = usize>, what: &str, unit: &str) -> Verdict {
    let mut counts: Vec<usize> = counts.collect();
    counts.sort_unstable();
    require(counts.windows(2).all(|pair| pair[0] != pair[1]), || format!("two {what} have as many {unit}"))
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

fn is_near(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(x, y)| (x - y).abs() < 1e-9)
}

fn claims_within_budget(subject: &Subject) -> Verdict {
    let budget = subject.example.brief.budget;
    let guarantee = subject.design.mechanism().guarantee();
    for unit in [Unit::Record, Unit::Features, Unit::Label] {
        if let Some(dp) = guarantee.local_dp(unit) {
            require(dp.epsilon <= budget.epsilon() && dp.delta <= budget.delta(), || {
                format!("({}, {}) is claimed for {unit} of {budget:?}", dp.epsilon, dp.delta)
            })?;
        }
    }
    require(!guarantee.claims.is_empty() || !guarantee.discloses.is_empty(), || {
        "it neither claims anything nor says what it discloses".into()
    })
}

fn saves_and_loads(subject: &Subject) -> Verdict {
    let mut registry = Registry::default();
    registry.add(*subject.plugin).map_err(text)?;
    let saved = ShippedDesign::from(subject.design.clone()).to_json().map_err(text)?;
    let loaded = ShippedDesign::from_json(&saved, "the saved design", &registry).map_err(text)?;
    require(loaded.to_json().map_err(text)? == saved, || "saved again, it is another".into())?;
    let table = &subject.example.table;
    let (before, after) = (
        seeded(&subject.design, table, SEED).map_err(text)?,
        seeded(loaded.design(), table, SEED).map_err(text)?,
    );
    require(before.table == after.table, || "it releases another table".into())?;
    require(subject.design.mechanism().guarantee() == loaded.mechanism().guarantee(), || {
        "it has another guarantee".into()
    })
}

fn keeps_shape(subject: &Subject) -> Verdict {
    let table = &subject.example.table;
    let (release, view) = with_view(&subject.design, table)?;
    if let Some(local) = subject.local() {
        let (rows, released) = (table.len(), release.table.len());
        require(rows == released, || format!("{rows} records became {released}"))?;
        local.layout().check(&release.table).map_err(text)?;
    }
    require(!has_view(&subject.design, &release) || view.columns() == release.table.columns(), || {
        "the noise-free view has other columns than the release".into()
    })?;
    let widths: usize = release.noise.features.iter().map(|distribution| distribution.width()).sum();
    require(widths == release.table.columns().len(), || {
        format!("the noise describes {widths} of {} columns", release.table.columns().len())
    })
}

fn is_deterministic(subject: &Subject) -> Verdict {
    let table = subject.long_table().map_err(text)?;
    let release = |seed| seeded(&subject.design, &table, seed).map_err(text);
    let (one, again, other) = (release(SEED)?, release(SEED)?, release(SEED + 1)?);
    require(one.table == again.table, || "the same seed gave another release".into())?;
    // A release that is independent of the records may be a constant.
    let is_secret = |claim: &Claim| matches!(claim.notion, Notion::PerfectSecrecy(_));
    let hides_by_noise = subject.design.mechanism().guarantee().claims.iter().any(|claim| !is_secret(claim));
    require(!hides_by_noise || one.table != other.table, || {
        "it claims privacy, and another seed gave the same release".into()
    })
}

/// Releases three blocks of copies of one record, each of [`local::BLOCK`] rows. The rows of a block must not
/// all be equal, and no two blocks may be equal.
fn never_repeats_noise(subject: &Subject) -> Verdict {
    if subject.local().is_none() || subject.design.mechanism().guarantee().claims.is_empty() {
        return Ok(());
    }
    let rows = vec![0; 3 * local::BLOCK];
    let table = subject.example.table.select(&rows).map_err(text)?;
    let released = seeded(&subject.design, &table, SEED).map_err(text)?.table;
    let block = |number: usize| {
        let rows: Vec<usize> = (number * local::BLOCK..(number + 1) * local::BLOCK).collect();
        released.select(&rows).map_err(text)
    };
    let (first, second, third) = (block(0)?, block(1)?, block(2)?);
    require(first != second && second != third && first != third, || {
        "two blocks of one record are alike".into()
    })?;
    let constant = first.select(&vec![0; local::BLOCK]).map_err(text)?;
    require(first != constant, || "a record that occurs many times is always released alike".into())
}

fn states_its_assumptions(subject: &Subject) -> Verdict {
    let guarantee = subject.design.mechanism().guarantee();
    let is_local = |claim: &Claim| matches!(claim.notion, Notion::LocalDp(_));
    if !guarantee.claims.iter().any(is_local) {
        return Ok(());
    }
    match ASSUMED.iter().find(|assumed| !guarantee.assumes.iter().any(|line| line == *assumed)) {
        None => Ok(()),
        Some(missing) => Err(format!(
            "its card does not say that {missing}; `Guarantee::for_features` and \
             `Guarantee::for_records` say so"
        )),
    }
}

fn is_independent_of_threads(subject: &Subject) -> Verdict {
    let table = subject.long_table().map_err(text)?;
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| error.to_string())?;
        pool.install(|| seeded(&subject.design, &table, SEED)).map_err(text)
    };
    require(with_threads(1)?.table == with_threads(4)?.table, || {
        "one thread and four released different tables".into()
    })
}

fn streams_as_it_releases(subject: &Subject) -> Verdict {
    let table = subject.long_table().map_err(text)?;
    let mechanism = subject.design.mechanism();
    let layout = mechanism.domain().layout();
    let flat: Vec<f64> = (0..table.len()).flat_map(|row| layout.flatten(&table, row)).collect();
    let whole = || seeded(&subject.design, &table, SEED).map(|release| release.table).map_err(text);
    let local = match mechanism {
        Designed::Local(local) => &**local,
        Designed::Curator(curator) => {
            let mut accumulator = curator.start();
            let mut blocks = flat.chunks(7 * layout.width().max(1));
            blocks.try_for_each(|records| accumulator.add(records)).map_err(text)?;
            let streamed = accumulator.release(&mut Randomness::seeded(SEED)).and_then(Outcome::release);
            return require(streamed.map_err(text)?.table == whole()?, || {
                "records that come in blocks give another table than all at once".into()
            });
        }
    };
    let streams = Randomness::seeded(SEED).streams();
    let blocks = || flat.chunks(local::BLOCK * layout.width().max(1)).zip(0..);
    let released = blocks().map(|(records, number)| local::release_block(local, records, &streams, number));
    let streamed = released.collect::<Result<Vec<_>>>().map_err(text)?.concat();
    let one_by_one = blocks().map(|(records, number)| {
        let mut stream = streams.stream(number);
        let release_record = |record: &[f64]| {
            let mut point = local.encode(record)?;
            local.perturb(&mut point, &mut stream)?;
            local.decode(point)
        };
        Ok(records.chunks(layout.width().max(1)).map(release_record).collect::<Result<Vec<_>>>()?.concat())
    });
    let one_by_one = one_by_one.collect::<Result<Vec<_>>>().map_err(text)?.concat();
    require(streamed == one_by_one, || {
        "`release_records` gives other records than `encode`, `perturb` and `decode` of each".into()
    })?;
    let streamed = local.layout().table_of(streamed).map_err(text)?;
    require(streamed == whole()?, || {
        "block by block it gives another table (does it release by `release_local`?)".into()
    })
}

fn states_provenance(subject: &Subject) -> Verdict {
    let table = &subject.example.table;
    let guarantee = seeded(&subject.design, table, SEED).map_err(text)?.guarantee;
    require(guarantee.claims.is_empty(), || {
        format!("with a known seed it still claims {}", guarantee.summary())
    })?;
    let mut fresh = Randomness::from_os().map_err(text)?;
    let release = subject.design.mechanism().release(table, &mut fresh).map_err(text)?;
    let local = subject.local().is_some();
    require(!local || release.guarantee == subject.design.mechanism().guarantee(), || {
        "a fresh release has another guarantee than its design".into()
    })
}

/// Records of the example, with features far outside any domain.
fn wild(subject: &Subject) -> Result<Table> {
    let table = &subject.example.table;
    let (n, d) = table.records().dim();
    let records = Array2::from_shape_fn((n, d), |(row, column)| {
        let x = table.records()[[row, column]];
        [x - 40.0, x, 1e9 * (x - 0.3), -x][(row + column) % 4]
    });
    Table::new(table.columns().to_vec(), records, table.target().clone())
}

fn projects_into_domain(subject: &Subject) -> Verdict {
    let outside = wild(subject).map_err(text)?;
    let mut records = outside.records().clone();
    for mut row in records.outer_iter_mut() {
        let mut point = row.to_vec();
        let features = subject.design.mechanism().domain().features();
        features.project(&mut point).map_err(text)?;
        row.assign(&ndarray::ArrayView1::from(&point));
    }
    let inside = Table::new(outside.columns().to_vec(), records, outside.target().clone()).map_err(text)?;
    let released = |table| seeded(&subject.design, table, SEED).map(|release| release.table).map_err(text);
    require(released(&outside)? == released(&inside)?, || "the two releases differ".into())
}

/// Several equal records of a person release like one.
fn counts_people_once(subject: &Subject) -> Verdict {
    /// Largest number of records of a person.
    const MOST: u16 = 3;
    let brief = &subject.example.brief;
    let domain = brief.domain.clone().with_records_per_person(Some(MOST)).map_err(text)?;
    let brief = Brief { domain, ..brief.clone() };
    let design = subject.plugin.design(&subject.example.parameters, &brief).map_err(text)?;
    let guarantee = design.mechanism().guarantee();
    require(guarantee.records_per_person.is_some(), || "its guarantee is not about people".into())?;
    let once = seeded(&design, &subject.example.table, SEED).map_err(text)?;
    let several = seeded(&design, &subject.example.table.repeated(MOST).map_err(text)?, SEED);
    if design.mechanism().records_per_person() != Some(MOST) {
        return require(several.is_err(), || {
            "it takes several records of a person, and says it does not".into()
        });
    }
    let several = several.map_err(text)?;
    require(once.table == several.table, || {
        format!("{MOST} equal records of a person count for more than one")
    })
}

fn encodes_into_range(subject: &Subject) -> Verdict {
    let Some(local) = subject.local() else {
        return Ok(());
    };
    let layout = local.domain().layout();
    let range = local.range();
    let wild = wild(subject).map_err(text)?;
    for table in [&subject.example.table, &wild] {
        for row in 0..table.len() {
            let record = layout.flatten(table, row);
            let mut point = local.encode(&record).map_err(text)?;
            require(range.contains(&point), || format!("{record:?} became {point:?}"))?;
            let mut stream = Randomness::seeded(SEED).streams().stream(row as u64);
            local.perturb(&mut point, &mut stream).map_err(text)?;
            require(point.iter().all(|x| x.is_finite()), || format!("{record:?} was released as {point:?}"))?;
        }
    }
    Ok(())
}

fn is_noise_free_at_infinity(subject: &Subject) -> Verdict {
    if !subject.design.mechanism().guarantee().has_dp() {
        return Ok(()); // its noise does not depend on ε
    }
    let design = subject.with_epsilon(f64::INFINITY).map_err(text)?;
    match statistics(&design, &subject.example.table, SEED)? {
        // Rows are still drawn at random, from statistics without noise.
        Some(one) => {
            let other = statistics(&design, &subject.example.table, SEED + 1)?;
            require(Some(one) == other, || "its statistics have noise".into())?;
        }
        None => {
            let (release, view) = with_view(&design, &subject.example.table)?;
            // A report without noise still depends on a randomly chosen question. Synthetic rows do not
            // belong to records, so they cannot equal the view of a record.
            let has_view = has_view(&design, &release) && !is_synthetic(&design);
            require(!has_view || release.table == view, || "the release is not the view".into())?;
        }
    }
    let guarantee = design.mechanism().guarantee();
    require(!guarantee.has_dp(), || format!("it claims {}", guarantee.summary()))
}

fn is_synthetic(design: &Design) -> bool {
    matches!(design.mechanism().releases(), Releases::Synthetic { .. } | Releases::Tables)
}

fn approaches_noise_free_view(subject: &Subject) -> Verdict {
    if !subject.design.mechanism().guarantee().has_dp() {
        return Ok(());
    }
    let most = 2f64.powi(40);
    let design = subject.with_epsilon(most).map_err(text)?;
    let guarantee = design.mechanism().guarantee();
    if [Unit::Record, Unit::Features, Unit::Label].iter().any(|unit| guarantee.cost(*unit).0 < most / 2.0) {
        return Ok(()); // the mechanism cannot use such a large ε, and claims a smaller one
    }
    if let Some(noisy) = statistics(&design, &subject.example.table, SEED)? {
        let free = subject.with_epsilon(f64::INFINITY).map_err(text)?;
        let free = statistics(&free, &subject.example.table, SEED)?.unwrap_or_default();
        // Later statistics may depend on random choices. Only the first statistic is the same query in every
        // draw.
        let off = noisy.first().zip(free.first()).map_or(f64::INFINITY, |(noisy, free)| (noisy - free).abs());
        return require(off < 2e-5, || format!("at ε = 2^40 its statistics are off by {off}"));
    }
    let (release, mut view) = with_view(&design, &subject.example.table)?;
    if !has_view(&design, &release) {
        return Ok(());
    }
    if is_synthetic(&design) {
        let free = subject.with_epsilon(f64::INFINITY).map_err(text)?;
        view = seeded(&free, &subject.example.table, SEED).map_err(text)?.table;
    }
    let is_coarse = |distribution: &NoiseDistribution| match distribution {
        NoiseDistribution::Unbiased { moments, .. } => moments.iter().any(|moment| moment.constant > 1e-12),
        _ => false,
    };
    if release.noise.features.iter().chain([&release.noise.target]).any(is_coarse) {
        return Ok(()); // a one-bit answer is random at any ε, as its distribution states
    }
    let difference = largest_difference(&release.table, &view)?;
    // At large ε, the standard deviation of Gaussian noise falls only like 1/√ε.
    require(difference < 2e-5, || format!("at ε = 2^40 it is off by {difference}"))
}

fn collects_records(subject: &Subject) -> Verdict {
    let Some(collector) = subject.local().and_then(LocalMechanism::collector) else {
        return Ok(());
    };
    let domain = subject.design.mechanism().domain();
    let reports = seeded(&subject.design, &subject.long_table().map_err(text)?, SEED).map_err(text)?.table;
    let collected = |reports: &Table, seed: u64| {
        collector.collect(reports, 500, &mut Randomness::seeded(seed).streams().stream(0))
    };
    let records = collected(&reports, SEED).map_err(text)?;
    require(records.len() == 500, || {
        format!("of 500 records that were asked for there are {}", records.len())
    })?;
    domain.layout().check(&records).map_err(text)?;
    for record in records.records().outer_iter() {
        require(domain.features().contains(&record.to_vec()), || {
            format!("a record lies outside the domain: {record}")
        })?;
    }
    require(collected(&reports, SEED).is_ok_and(|again| again == records), || {
        "the same stream gave other records".into()
    })?;
    let adversary_view = collector.adversary_view(&reports).map_err(text)?;
    require(adversary_view.len() == reports.len(), || {
        format!("{} reports tell {} rows", reports.len(), adversary_view.len())
    })?;
    for wrong in [-1.0, 0.5, 1e18] {
        let mut values = reports.records().clone();
        values[[7, 0]] = wrong;
        let altered =
            Table::new(reports.columns().to_vec(), values, reports.target().clone()).map_err(text)?;
        match collected(&altered, SEED) {
            Err(error) if error.to_string().contains("report 8") => {}
            Err(error) => return Err(format!("{wrong} in report 8 is refused without naming it: {error}")),
            Ok(_) => return Err(format!("{wrong} in report 8 is collected as if it were one")),
        }
    }
    Ok(())
}

fn largest_difference(one: &Table, other: &Table) -> std::result::Result<f64, String> {
    require(one.records().dim() == other.records().dim(), || {
        format!(
            "it is a table of {:?} where its view is one of {:?}",
            one.records().dim(),
            other.records().dim()
        )
    })?;
    let mut difference = (one.records() - other.records()).mapv(f64::abs);
    match (one.target(), other.target()) {
        (Target::Real(one), Target::Real(other)) => {
            let target = (one - other).mapv(f64::abs).insert_axis(Axis(1));
            difference = concatenate![Axis(1), difference, target];
        }
        (Target::Vector(one), Target::Vector(other)) if one.dim() == other.dim() => {
            difference = concatenate![Axis(1), difference, (one - other).mapv(f64::abs)];
        }
        (one, other) => require(one == other, || "it released other labels".into())?,
    }
    Ok(difference.iter().copied().fold(0.0, f64::max))
}

fn refuses_bad_tables(subject: &Subject) -> Verdict {
    let table = &subject.example.table;
    let attempt = |table: &Table| seeded(&subject.design, table, SEED).map(|_| ());
    require(matches!(attempt(&table.select(&[]).map_err(text)?), Err(Error::Empty { .. })), || {
        "an empty table is accepted, or refused with another error".into()
    })?;
    let wider = concatenate![Axis(1), *table.records(), Array2::zeros((table.len(), 1))];
    let columns = [table.columns(), &["one too many".to_owned()]].concat();
    let wider = Table::new(columns, wider, table.target().clone()).map_err(text)?;
    require(matches!(attempt(&wider), Err(Error::Shape { .. })), || {
        "a table with a column too many is accepted, or refused with another error".into()
    })?;
    let Some(column) = table.columns().first() else {
        return Ok(());
    };
    for bad in [f64::NAN, f64::INFINITY] {
        let mut records = table.records().clone();
        records[[0, 0]] = bad;
        let bad = Table::new(table.columns().to_vec(), records, table.target().clone()).map_err(text)?;
        let refused = attempt(&bad);
        require(
            matches!(&refused, Err(Error::NonFinite { row: 1, column: named, .. }) if named == column),
            || format!("a value that is no number gave {refused:?}"),
        )?;
    }
    Ok(())
}

fn refuses_unknown_parameters(subject: &Subject) -> Verdict {
    // Call `learn` directly: `Plugin::design` compares names with the schema. The type itself must refuse,
    // because a typo in a saved experiment would otherwise go unnoticed.
    let refused = (subject.plugin.learn)(json!({"no-such-parameter": 1}), &subject.example.brief);
    require(matches!(refused, Err(Error::Parameter { .. })), || {
        "\"no-such-parameter\" is accepted (is there a `deny_unknown_fields`?)".into()
    })
}

/// Largest accepted relative difference between a published number, such as the variance of the noise, and
/// its estimate from released and noise-free values. From two thousand records, the estimate of a Laplace
/// variance has a relative standard deviation of 5 %. The relative standard deviation of an estimated flip
/// rate is 3 % or less. The smallest detected error of a published number is about 25 %.
const LAW_TOLERANCE: f64 = 0.25;

fn publishes_its_distribution(subject: &Subject) -> Verdict {
    let Some(local) = subject.local().filter(|local| local.collector().is_none()) else {
        return Ok(());
    };
    let table = subject.long_table().map_err(text)?;
    let (release, view) = with_view(&subject.design, &table)?;
    let layout = local.layout();
    layout.check(&release.table).and(layout.check(&view)).map_err(text)?;
    let flat =
        |table: &Table| -> Vec<Vec<f64>> { (0..table.len()).map(|row| layout.flatten(table, row)).collect() };
    let (released, clean) = (flat(&release.table), flat(&view));
    let mut at = 0;
    for distribution in release.noise.features.iter().chain([&release.noise.target]) {
        let block = at..at + distribution.width();
        at = block.end;
        require(released.iter().chain(&clean).all(|record| record.len() >= block.end), || {
            format!("it describes {} coordinates, and a record has fewer", block.end)
        })?;
        let pairs = || released.iter().zip(&clean).map(|(r, c)| (&r[block.clone()], &c[block.clone()]));
        match distribution {
            NoiseDistribution::Unknown { .. } => {
                let point = local.range().l1_farthest()[0].clone();
                let decoded = local.decode(point.clone()).map_err(text)?;
                require(decoded != point, || {
                    "it describes some coordinates as unknown, though they leave as they were drawn".into()
                })?;
            }
            NoiseDistribution::Shared { .. } => {
                return Err("it calls noise correlated that no other record has a part in".into());
            }
            NoiseDistribution::Exact { .. } => {
                require(pairs().all(|(r, c)| r == c), || "coordinates that it calls exact are not".into())?;
            }
            NoiseDistribution::Additive { .. } | NoiseDistribution::Correlated { .. } => {
                for (column, variance) in
                    distribution.added_variance().unwrap_or_default().into_iter().enumerate()
                {
                    let squares: f64 = pairs().map(|(r, c)| (r[column] - c[column]).powi(2)).sum();
                    let seen = squares / table.len() as f64;
                    require((seen - variance).abs() <= LAW_TOLERANCE * variance, || {
                        format!("it publishes a variance of {variance}, and {seen} was seen")
                    })?;
                    let bias: f64 = pairs().map(|(r, c)| r[column] - c[column]).sum();
                    let records = table.len() as f64;
                    // The sum of the differences may reach six standard deviations.
                    require(bias.powi(2) <= 36.0 * records * variance + 1e-9, || {
                        format!(
                            "it publishes noise of mean zero, and {records} records add up to {bias} too much"
                        )
                    })?;
                }
            }
            NoiseDistribution::Unbiased { moments, .. } => {
                for (column, moment) in moments.iter().enumerate() {
                    let square = |value: f64| (value - moment.center).powi(2);
                    let squares: f64 = pairs().map(|(r, _)| square(r[column])).sum();
                    let expected: f64 =
                        pairs().map(|(_, c)| moment.constant + moment.slope * square(c[column])).sum();
                    require((squares - expected).abs() <= LAW_TOLERANCE * expected, || {
                        format!("it publishes a mean square of {expected}, and {squares} was seen")
                    })?;
                    let bias: f64 = pairs().map(|(r, c)| r[column] - c[column]).sum();
                    // The sum of the differences may reach six standard deviations.
                    require(bias.powi(2) <= 36.0 * expected + 1e-9, || {
                        format!(
                            "it calls itself unbiased, and {} records add up to {bias} too much",
                            table.len()
                        )
                    })?;
                }
            }
            NoiseDistribution::Flip { keep, .. } => {
                let kept = pairs().filter(|(r, c)| r == c).count() as f64 / table.len() as f64;
                require((kept - keep).abs() <= LAW_TOLERANCE * (1.0 - keep), || {
                    format!("it publishes that a level is kept with probability {keep}, and {kept} were")
                })?;
            }
            other => return Err(format!("its distribution is none that can be checked: {other:?}")),
        }
    }
    Ok(())
}

fn takes_unlabelled_volunteers(subject: &Subject) -> Verdict {
    let volunteers = match &subject.example.brief.volunteers {
        Volunteers::Public(table) => {
            Volunteers::Public(table.clone().with_target(Target::None).map_err(text)?)
        }
        _ => return Ok(()), // its example has no public volunteers whose labels could be removed
    };
    let brief = Brief { volunteers, ..subject.example.brief.clone() };
    match subject.plugin.design(&subject.example.parameters, &brief) {
        Err(_) => Ok(()),
        Ok(design) => {
            let released = design.mechanism().release(&subject.example.table, &mut Randomness::seeded(1));
            released
                .map(|_| ())
                .map_err(|error| format!("designed without labels it does not release: {error}"))
        }
    }
}

fn admits_its_volunteers(subject: &Subject) -> Verdict {
    let table = &subject.example.table;
    // Volunteers are people whose records may shape a design. Saving a design also checks its claim for
    // private volunteers, but nothing for public volunteers.
    for (volunteers, whose) in
        [(Volunteers::Private(table.clone()), "private"), (Volunteers::Public(table.clone()), "public")]
    {
        let shaped_by = volunteers.shaped_by();
        if subject.design.mechanism().guarantee().shaped_by == shaped_by {
            continue; // the example's own volunteers shaped the design, and its guarantee says so
        }
        let design_with = |volunteers| {
            let brief = Brief { volunteers, ..subject.example.brief.clone() };
            subject.plugin.design(&subject.example.parameters, &brief)
        };
        let with = match design_with(volunteers) {
            Err(Error::PrivateVolunteers { .. }) => continue, // the plugin refuses private volunteers
            design => design.map_err(text)?,
        };
        if with.mechanism().guarantee().shaped_by == shaped_by {
            continue;
        }
        let without = design_with(Volunteers::None).map_err(text)?;
        require(with.state() == without.state(), || {
            format!("{whose} volunteers change the design, and its guarantee says that nobody shaped it")
        })?;
    }
    Ok(())
}
