//! Eight looks for the series of a chart: a colour, a dash and a marker each.
//!
//! Colours alone are not enough for eight methods: a second cue, the dashes of a line and the shape of its
//! points, says the same again. The colours were found by a search that pushes all pairs apart, in CIELAB, as
//! seen by normal eyes and by the three kinds of colour-blind ones (the simulation of Machado, Oliveira and
//! Fernandes, 2009), while each keeps a contrast of about 3 against the paper. There is a set for white paper
//! and one for dark; pages that have both set the second with [`dark_chart_style`].

/// Colours on white, in the order in which series take them.
pub(crate) const ON_WHITE: [[u8; 3]; COUNT] = [
    [0x24, 0x54, 0xd6],
    [0x7e, 0x20, 0x00],
    [0x13, 0xa1, 0x67],
    [0xb6, 0x90, 0x15],
    [0x92, 0x82, 0xc9],
    [0x10, 0x15, 0x6a],
    [0x5b, 0x44, 0x5f],
    [0x0f, 0x00, 0x00],
];

/// Colours on dark paper, for the same series.
const ON_DARK: [[u8; 3]; COUNT] = [
    [0x32, 0x78, 0xf5],
    [0xdf, 0x6f, 0x32],
    [0x44, 0xd1, 0x99],
    [0xf5, 0xcf, 0x32],
    [0xad, 0x75, 0xbe],
    [0xc6, 0xe2, 0xf5],
    [0x9d, 0x58, 0x44],
    [0xef, 0xf5, 0x93],
];

/// Lengths of dashes and gaps, as SVG has them; empty for a full line.
const DASHES: [&str; COUNT] = [
    "",
    "8 3",
    "2 3",
    "9 3 2 3",
    "14 3",
    "5 3",
    "9 3 2 3 2 3",
    "2 6",
];

/// How many looks there are; the ninth series looks like the first.
pub(crate) const COUNT: usize = 8;

/// The shape of a marker, as wide and high as 2, about the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// A circle.
    Circle,
    /// The corners of a closed polygon.
    Polygon(&'static [[f64; 2]]),
}

const SHAPES: [Shape; COUNT] = [
    Shape::Circle,
    Shape::Polygon(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
    Shape::Polygon(&[[0.0, -1.15], [1.1, 0.85], [-1.1, 0.85]]),
    Shape::Polygon(&[[0.0, -1.25], [1.25, 0.0], [0.0, 1.25], [-1.25, 0.0]]),
    Shape::Polygon(&[[0.0, 1.15], [1.1, -0.85], [-1.1, -0.85]]),
    // A fat plus.
    Shape::Polygon(&[
        [-0.4, -1.15],
        [0.4, -1.15],
        [0.4, -0.4],
        [1.15, -0.4],
        [1.15, 0.4],
        [0.4, 0.4],
        [0.4, 1.15],
        [-0.4, 1.15],
        [-0.4, 0.4],
        [-1.15, 0.4],
        [-1.15, -0.4],
        [-0.4, -0.4],
    ]),
    // An hourglass.
    Shape::Polygon(&[[-1.0, -1.1], [1.0, -1.1], [-1.0, 1.1], [1.0, 1.1]]),
    // A fat cross.
    Shape::Polygon(&[
        [0.0, -0.5],
        [0.7, -1.2],
        [1.2, -0.7],
        [0.5, 0.0],
        [1.2, 0.7],
        [0.7, 1.2],
        [0.0, 0.5],
        [-0.7, 1.2],
        [-1.2, 0.7],
        [-0.5, 0.0],
        [-1.2, -0.7],
        [-0.7, -1.2],
    ]),
];

/// The colour of a series on white, as SVG has it.
pub(crate) fn color(series: usize) -> String {
    hex(ON_WHITE[series % COUNT])
}

/// The dashes of a series' line.
pub(crate) fn dashes(series: usize) -> &'static str {
    DASHES[series % COUNT]
}

/// The shape of a series' markers.
pub(crate) fn shape(series: usize) -> Shape {
    SHAPES[series % COUNT]
}

/// CSS rules that give the series of all [`Chart`](crate::Chart)s on a page the colours for dark paper.
///
/// A page puts them where it knows that its paper is dark: `@media (prefers-color-scheme: dark) {…}`. They
/// leave series alone that have a colour of their own.
pub fn dark_chart_style() -> String {
    let rule = |(number, color): (usize, &[u8; 3])| {
        format!(
            "[data-look=\"{number}\"]{{fill:{0};stroke:{0}}}",
            hex(*color)
        )
    };
    ON_DARK.iter().enumerate().map(rule).collect()
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = [[f64; 3]; 3];

    /// What the three kinds of colour-blind eyes make of linear light (Machado, Oliveira and Fernandes 2009).
    const EYES: [(&str, Matrix); 4] = [
        (
            "normal",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "no red cones",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "no green cones",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "no blue cones",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    fn apply(matrix: &Matrix, v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    fn linear(color: [u8; 3]) -> [f64; 3] {
        color.map(|byte| {
            let c = f64::from(byte) / 255.0;
            match c <= 0.04045 {
                true => c / 12.92,
                false => ((c + 0.055) / 1.055).powf(2.4),
            }
        })
    }

    fn xyz(light: [f64; 3]) -> [f64; 3] {
        let matrix = [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ];
        apply(&matrix, light.map(|c| c.clamp(0.0, 1.0)))
    }

    fn lab(light: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = xyz(light);
        let f = |t: f64| match t > 0.008856 {
            true => t.cbrt(),
            false => 7.787 * t + 16.0 / 116.0,
        };
        let (x, y, z) = (f(x / 0.95047), f(y), f(z / 1.08883));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn all_pairs_of_colours_differ_to_every_kind_of_eye() {
        for (paper, colors) in [("white", ON_WHITE), ("dark", ON_DARK)] {
            for (eye, matrix) in &EYES {
                let seen: Vec<[f64; 3]> = (colors.iter())
                    .map(|color| lab(apply(matrix, linear(*color))))
                    .collect();
                for i in 0..COUNT {
                    for j in 0..i {
                        let pairs = seen[i].iter().zip(seen[j]);
                        let apart = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                        // Differences below 10 are hard to name; 2 cannot be seen.
                        assert!(apart > 20.0, "{i} and {j} on {paper}, {eye}: {apart}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_colour_stands_out_from_its_paper() {
        let luminance = |color: [u8; 3]| xyz(linear(color))[1];
        let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
        for color in ON_WHITE {
            let found = contrast(luminance(color), 1.0);
            assert!(found > 2.8, "{color:?} on white: {found}");
        }
        for color in ON_DARK {
            let found = contrast(luminance(color), luminance([0x17, 0x19, 0x1d]));
            assert!(found > 2.8, "{color:?} on dark: {found}");
        }
    }

    #[test]
    fn no_two_of_eight_share_dashes_or_shape() {
        for i in 0..COUNT {
            for j in 0..i {
                assert_ne!(dashes(i), dashes(j), "dashes of {i} and {j}");
                assert_ne!(shape(i), shape(j), "shapes of {i} and {j}");
            }
        }
        assert_eq!(color(COUNT), color(0), "the ninth is as the first");
    }
}
