//! Release of a CSV file in a stream, 20,000 records × 30 numbers, compared with a copy by the `csv` crate.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use scumble::core::{Brief, Budget, Randomness, Registry};
use scumble::records::csv::{Rows, Writer};
use scumble::records::{OutOfBounds, Reader, Schema, stream};
use std::fmt::Write;
use std::hint::black_box;

const RECORDS: usize = 20_000;
const COLUMNS: usize = 30;

fn schema() -> Schema {
    let mut text = String::new();
    for column in 0..COLUMNS {
        let _ =
            writeln!(text, "[[column]]\nname = \"x{column}\"\nkind = \"real\"\nlower = 0.0\nupper = 100.0");
    }
    Schema::from_toml(&text, "schema.toml").expect("a schema")
}

fn records() -> String {
    let row = |cell: &dyn Fn(usize) -> String| (0..COLUMNS).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let mut text = row(&|column| format!("x{column}"));
    for at in 0..RECORDS {
        text += &row(&|column| format!("{}.{:04}", (at + column) % 100, (at * 31 + column * 17) % 10_000));
    }
    text
}

fn copied(text: &str) -> Vec<u8> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut writer = csv::Writer::from_writer(vec![]);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).expect("a record") {
        writer.write_record(&record).expect("a record");
    }
    writer.into_inner().expect("the copy")
}

fn release(criterion: &mut Criterion) {
    let (schema, text) = (schema(), records());
    let domain = schema.domain(None).expect("a domain");
    let brief = Brief::new(domain, Budget::pure(1.0).expect("an epsilon"));
    let registry = Registry::installed().expect("plugins");

    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
    for name in ["identity", "laplace", "piecewise"] {
        let plugin = registry.get(name).expect("a built-in plugin");
        let design = plugin.design(&Default::default(), &brief).expect("a design");
        let local = design.local().expect("a local mechanism");
        let decoder = schema.decoder(&local.layout(), None);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut reader = Rows::new(text.as_bytes(), "bench")
                    .and_then(|rows| Reader::new(rows, &schema, None, OutOfBounds::Clip))
                    .expect("a header");
                let mut output = vec![];
                let streams = Randomness::seeded(1).streams();
                let writer = Writer::new(&mut output, &decoder).expect("a header");
                let done = stream::release(local, &mut reader, &decoder, &streams, writer, |_| Ok(()));
                black_box((done, output))
            });
        });
    }
    group.bench_function("a copy by the csv crate", |bencher| bencher.iter(|| black_box(copied(&text))));
    group.finish();
}

criterion_group!(benches, release);
criterion_main!(benches);
