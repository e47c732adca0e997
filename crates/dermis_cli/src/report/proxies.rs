//! What rotational regression made of a mesh, in words and as JSON.

use dermis::ExampleSet;
use dermis::fit::{FitReport, Method, ProxySummary, RotationalOptions, proxy_summary};

use crate::talk::plural;

/// The options of rotational regression, if the method is it or was asked to stand on it.
pub(crate) fn rotational_options(method: &Method) -> Option<&RotationalOptions> {
    match method {
        Method::RotationalRegression(options) => Some(options),
        Method::Psd(psd) => match &psd.bases[..] {
            [base] => rotational_options(base),
            _ => None,
        },
        _ => None,
    }
}

/// The options of rotational regression, if the skin was made by it or stands on it.
fn used_options<'a>(method: &'a Method, fitted: &'a FitReport) -> Option<&'a RotationalOptions> {
    rotational_options(fitted.base.as_ref().unwrap_or(method))
}

/// How many proxies there are and what vertices follow; `None` for skins without.
pub(super) fn summary(
    set: &ExampleSet,
    method: &Method,
    fitted: &FitReport,
) -> Option<ProxySummary> {
    let everything: Vec<usize> = (0..set.examples().len()).collect();
    let tolerance = used_options(method, fitted)?.rigid_tolerance;
    // The skin has been measured on these very examples.
    proxy_summary(&fitted.skin, set, &everything, tolerance).ok()?
}

/// A sentence for each thing that the method decided.
pub(super) fn remarks(set: &ExampleSet, method: &Method, fitted: &FitReport) -> Vec<String> {
    let Some(options) = used_options(method, fitted) else {
        return Vec::new();
    };
    let tolerance = format!(
        "within {}% of the size (--rigid-tolerance {})",
        100.0 * options.rigid_tolerance,
        options.rigid_tolerance
    );
    let Some(s) = summary(set, method, fitted) else {
        return vec![format!(
            "no vertex needs a proxy bone: linear blend skinning is right {tolerance} everywhere, or at least \
             better than proxy bones would be"
        )];
    };
    let mut vertices = format!(
        "{} of {} near-rigid: linear blend skinning is right {tolerance} there, so they follow the skeleton; ",
        s.near_rigid_vertices,
        match set.rest().vertex_count() {
            1 => "1 vertex is".to_owned(),
            count => format!("{count} vertices are"),
        },
    );
    if s.given_back_vertices > 0 {
        vertices += &format!(
            "{} more follow it because proxy bones are no better there; ",
            s.given_back_vertices
        );
    }
    vertices += &format!("{} follow proxy bones", s.proxied_vertices);
    vec![
        format!(
            "{} for {} of skin, whose motion is predicted from the turns of {}; the matrices that place them take {} \
             bytes, however many vertices there are",
            plural(s.proxies, "proxy bone"),
            match s.patches {
                1 => "1 patch".to_owned(),
                count => format!("{count} patches"),
            },
            plural(s.joints, "joint"),
            fitted.cost.proxy_bytes
        ),
        vertices,
    ]
}
