//! A file released in a stream equals the table released at once.

use scumble::core::{Brief, Budget, Randomness, Registry, Table, local};

use scumble::custody::ShippedDesign;

use scumble::records::{OutOfBounds, Reader, Schema, csv, stream};

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 8.0 },
    { name = "colour", kind = "category", levels = ["red", "green", "blue"] },
    { name = "price", kind = "real", lower = -1.0, upper = 1.0 },
]
"#;

/// Returns more than two batches of blocks on two threads, and an odd remainder.
fn rows() -> String {
    let colours = ["red", "green", "blue"];
    let row = |at: usize| format!("{},{},{}\n", colours[at % 3], (at % 17) as f64 / 16.0, at % 9);
    let rows: String = (0..20 * local::BLOCK + 7).map(row).collect();
    format!("colour,price,size\n{rows}")
}

fn streamed(design: &ShippedDesign, text: &str, threads: usize) -> (String, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let records = design.records().unwrap();
        let target = records.target.as_deref();
        let rows = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        let mut reader = Reader::new(rows, &records.schema, target, OutOfBounds::Clip).unwrap();
        let (local, decoder) = (design.local().unwrap(), design.decoder().unwrap());
        let streams = Randomness::seeded(3).streams();
        let mut output = vec![];
        let writer = csv::Writer::new(&mut output, &decoder).unwrap();
        let done = stream::release(local, &mut reader, &decoder, &streams, writer, |_| Ok(())).unwrap();
        (String::from_utf8(output).unwrap(), done.records)
    })
}

fn at_once(design: &ShippedDesign, table: &Table) -> String {
    let release = design.mechanism().release(table, &mut Randomness::seeded(3)).unwrap();
    let mut output = vec![];
    let layout = stream::layout(&release.table, design.mechanism().domain());
    let decoder = design.decoder_of(&layout).unwrap();
    let writer = csv::Writer::new(&mut output, &decoder).unwrap();
    stream::write(&release.table, &decoder, writer).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn every_local_mechanism_streams_what_it_releases_at_once_on_any_number_of_threads() {
    let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
    let text = rows();
    for target in [None, Some("colour"), Some("price")] {
        let loaded = csv::read(text.as_bytes(), "data.csv", &schema, target).unwrap();
        let brief = Brief::new(loaded.domain.clone(), Budget::pure(3.0).unwrap());
        let mut designed = 0;
        for plugin in Registry::installed().unwrap().iter() {
            let Ok(design) = plugin.design(&Default::default(), &brief) else { continue };
            let design = ShippedDesign::for_records(design, schema.clone(), target).unwrap();
            if design.local().is_err() {
                continue;
            }
            let whole = at_once(&design, &loaded.table);
            for threads in [1, 2, 5] {
                let (streamed, records) = streamed(&design, &text, threads);
                assert_eq!(records as usize, loaded.table.len());
                assert!(streamed == whole, "{} on {threads} threads, target {target:?}", plugin.name);
            }
            designed += 1;
        }
        assert!(designed >= 3, "{designed} mechanisms apply with the target {target:?}");
    }
}
