//! File names as relative URIs, byte by byte: on Unix a name need not be text.

use std::ffi::OsStr;
use std::path::PathBuf;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// A file name as a relative URI.
pub(super) fn uri_of_name(name: &OsStr) -> String {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(name);
    #[cfg(not(unix))]
    let text = name.to_string_lossy();
    #[cfg(not(unix))]
    let bytes = text.as_bytes();
    percent_encode(bytes, RESERVED).to_string()
}

/// The path that a relative URI names; `None` when it is not Unicode on a system whose file names must be.
pub(super) fn path_of_uri(uri: &str) -> Option<PathBuf> {
    let bytes: Vec<u8> = percent_decode_str(uri).collect();
    #[cfg(unix)]
    let name = Some(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes));
    #[cfg(not(unix))]
    let name = String::from_utf8(bytes).ok();
    name.map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_escaped_where_a_uri_needs_it() {
        for (name, uri) in [
            ("fox.bin", "fox.bin"),
            ("a b#?.bin", "a%20b%23%3F.bin"),
            ("100%.bin", "100%25.bin"),
            ("é:.bin", "%C3%A9%3A.bin"),
        ] {
            assert_eq!(uri_of_name(name.as_ref()), uri, "for {name}");
            assert_eq!(path_of_uri(uri), Some(name.into()), "and back");
        }
    }

    #[cfg(unix)]
    proptest! {
        #[test]
        fn any_name_comes_back_byte_by_byte(bytes in proptest::collection::vec(1u8.., 1..20)) {
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&bytes);
            let uri = uri_of_name(name);
            prop_assert!(uri.is_ascii(), "{uri}");
            prop_assert_eq!(path_of_uri(&uri), Some(PathBuf::from(name)));
        }
    }
}
