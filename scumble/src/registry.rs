//! The core types, with the files that they are read from and kept in: what `scumble-core`, `scumble-records` and `scumble-custody` have.
//!
//! [`Error`] is the one of designs and releases. Those of files say that they are: [`records::Error`](scumble_records::Error) of records and
//! schemas, [`custody::Error`](scumble_custody::Error) of saved designs, keys and ledgers.

pub use scumble_core::*;
pub use scumble_custody::{
    Account, Admitted, AdmittedRecords, Amount, Binding, Card, Charge, ENCODED, Existing, InformationAccount,
    InformationCharge, Ledger, NewFile, Part, Readable, ShippedDesign, ShippedModel, Spending, Ticket, admit,
    check_private, forget, is_beside, is_same_file, key,
};
pub use scumble_records::{
    Cell, Clipped, Clips, Column, Decoder, Encoder, Kind, Learning, Loaded, Missing, OutOfBounds, RawRows,
    ReadRows, Reader, Records, Schema, TextFormat, Values, WriteRows, csv, draft, open_to_read, read_matrix,
    read_numbers, read_text, stream,
};
