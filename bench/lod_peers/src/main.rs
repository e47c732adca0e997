//! Levels of detail of dermis beside what others do, in one run, judged in poses that nobody has seen.
//!
//!     lod_peers peers FILE.glb...        triangles: dermis and meshoptimizer
//!     lod_peers influences FILE.glb...   influences alone: dermis and what exporters do
//!     lod_peers curves FOLDER FILE...    error against influences, as charts
//!     lod_peers growth TRIANGLES         time and memory, up to so many triangles
//!
//! Every second pose of a file's clips gives the statistics; the others judge. The error is the root mean square distance of
//! the full character's surface from the simplified one, over those poses, as a share of the character's size.

mod character;
mod curves;
mod growth;
mod influences;
mod meshoptimizer;
mod peers;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, files)) if what == "peers" => peers::print(files),
        Some((what, files)) if what == "influences" => influences::print(files),
        Some((what, rest)) if what == "curves" && rest.len() > 1 => {
            curves::draw(rest[0].as_ref(), &rest[1..])
        }
        Some((what, [most])) if what == "growth" => growth::print(most.parse()?),
        _ => Err("expected: peers FILE..., influences FILE..., curves FOLDER FILE..., or growth TRIANGLES".into()),
    }
}
