//! Reads and replaces the JSON of a GLB file.

use serde_json::Value;

/// The first chunk of a GLB file.
pub(crate) fn json_of(glb: &[u8]) -> Value {
    serde_json::from_slice(&glb[20..20 + json_length(glb)]).expect("the file's JSON")
}

/// The same file with other JSON.
pub(crate) fn with_json(glb: &[u8], json: &Value) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &glb[20 + json_length(glb)..];
    let mut out = glb[..8].to_vec();
    out.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend_from_slice(&glb[16..20]);
    out.extend(text);
    out.extend_from_slice(rest);
    out
}

fn json_length(glb: &[u8]) -> usize {
    u32::from_le_bytes(glb[12..16].try_into().expect("four bytes")) as usize
}
