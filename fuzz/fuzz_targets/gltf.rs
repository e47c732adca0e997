//! Any bytes as a .gltf file: a document or an error, never a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = dermis_io::read_bytes("fuzzed.gltf".as_ref(), bytes);
});
