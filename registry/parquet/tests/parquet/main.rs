//! Parquet files as they come: of every type, from several writers' habits, damaged and lying; and a release, whatever it is read from
//! and written to.

mod damaged;
mod file;
mod read;
mod release;
