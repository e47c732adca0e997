//! Any bytes as a .fbx file: a document or an error, never a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dermis_fuzz::read("fbx", bytes));
