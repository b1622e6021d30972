//! Time zones of instants, which writers store in the metadata of a Parquet file's footer.

use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_schema::DataType;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::file::metadata::KeyValue;
use scumble_records::Zone;

/// Zone of the instants in the column `name`, from the metadata that Arrow's writers add (pyarrow, pandas,
/// Polars).
///
/// The Arrow schema in this metadata has a zone for instants, and no zone for local times. Old writers may
/// mark local times as UTC in the Parquet schema, so the zone in the Arrow schema decides.
pub(crate) fn zone_of(metadata: Option<&Vec<KeyValue>>, name: &str) -> Zone {
    let schema = metadata.into_iter().flatten().find(|pair| pair.key == "ARROW:schema");
    let schema = schema.and_then(|pair| BASE64_STANDARD.decode(pair.value.as_ref()?).ok());
    let schema = schema.and_then(|bytes| try_schema_from_ipc_buffer(&bytes).ok());
    let field = schema.and_then(|schema| schema.field_with_name(name).ok().cloned());
    match field.as_ref().map(|field| field.data_type()) {
        Some(DataType::Timestamp(_, Some(zone))) => Zone::named(zone),
        Some(DataType::Timestamp(_, None)) => Zone::Local,
        _ => Zone::Unknown,
    }
}
