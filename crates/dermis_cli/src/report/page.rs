//! What all pages share: their look, their head, pictures inside them, and how to read the numbers.

use std::fmt::Write;

use base64::Engine;
use dermis::TriMesh;
use dermis_render::Image;

/// Width of charts in CSS pixels: that of the page.
pub(super) const CHART_WIDTH: u32 = 1100;

/// Side of each picture in pixels; shown at about half that, so that it is sharp on dense screens.
pub(super) const PICTURE_SIZE: u32 = 560;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:1160px;\
margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem}\
h3{font-size:1rem;margin-bottom:0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .9rem;text-align:right;border-bottom:1px solid #ddd}\
th:first-child,td:first-child{text-align:left;padding-left:0;white-space:nowrap}\
table.wide{font-size:.82rem;line-height:1.35;width:100%}\
table.wide th,table.wide td{padding:.35rem .45rem}\
table.wide th{vertical-align:bottom;font-weight:600}\
th.group{text-align:center;border-bottom:none;color:#555}\
td.words,th.words{text-align:left}td.best{font-weight:700;color:#005a8d}\
tr.chosen{background:#eef5fa}\
img{width:100%;height:auto;margin:.4rem 0}\
code{background:#f3f3f3;padding:.15rem .35rem;border-radius:3px;overflow-wrap:anywhere}\
svg{max-width:100%;height:auto}.pair{display:flex;flex-wrap:wrap;gap:1.2rem}.note{color:#555}";

/// Opens a page: title, heading, what was fitted and the command that did it.
pub(super) fn open(title: &str, heading: &str, mesh: &TriMesh, bones: usize, cmd: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style></head><body>\n\
         <h1>{}</h1>\n\
         <p class=\"note\">{} vertices, {} triangles, {bones} bones. Made by dermis {} with<br>\
         <code>{}</code></p>\n",
        escape(title),
        escape(heading),
        mesh.vertex_count(),
        mesh.triangles().len(),
        env!("CARGO_PKG_VERSION"),
        escape(cmd)
    )
}

/// Closes a page.
pub(super) fn close(page: &mut String) {
    page.push_str("</body></html>\n");
}

/// Puts a picture into the page itself.
pub(super) fn picture(page: &mut String, image: &Image, alt: &str) -> anyhow::Result<()> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(image.to_png()?);
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "<img alt=\"{}\" src=\"data:image/png;base64,{encoded}\">",
        escape(alt)
    );
    Ok(())
}

/// A list of sentences; nothing for none.
pub(super) fn list(page: &mut String, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    page.push_str("<ul>");
    for sentence in sentences {
        let _ = write!(page, "<li>{}</li>", escape(sentence));
    }
    page.push_str("</ul>\n");
}

/// How to read the numbers, with more entries of the page's own.
pub(super) fn explanation(page: &mut String, more: &str) {
    let _ = writeln!(
        page,
        "<h2>How to read the numbers</h2><ul>\
         <li><b>E_RMS</b>: root mean square error of a coordinate, times 1000, with the first \
         example scaled to fit a ball of radius 1.</li>\
         <li><b>EE</b>: error as a share of the error when every vertex follows one bone rigidly. \
         100% means that blending gained nothing.</li>\
         <li><b>Distances</b> are shares of the diagonal of the rest mesh's box; <b>normal angles</b> \
         compare area-weighted vertex normals.</li>\
         <li><b>Held out</b>: examples that the fit did not see. A skin that is written is fitted to \
         all of them.</li>{more}</ul>"
    );
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
