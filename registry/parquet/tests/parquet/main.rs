//! Tests of Parquet files: all types, the settings of several writers, damaged files and false metadata. Also
//! checks that a release does not depend on the format it is read from or written to.

mod damaged;
mod file;
mod read;
mod release;
