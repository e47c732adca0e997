//! Colours as a person types them (sRGB) and as light adds up (linear).
//!
//! Public colours are sRGB: fractions from 0 to 1 where a picture is described, bytes where pixels are. Light
//! is added and pixels are blended in linear values, and only the finished pixel goes back to sRGB.

use std::sync::LazyLock;

use glam::Vec3;

/// Steps of the table behind [`level_from_linear`]: fine enough that the darkest sRGB step, 1/3295 wide in
/// linear light, spans five entries.
const ENCODE_STEPS: usize = 1 << 14;

static ENCODE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    (0..=ENCODE_STEPS)
        .map(|i| srgb_from_linear(i as f32 / ENCODE_STEPS as f32) * 255.0)
        .collect()
});

static DECODE: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|i| linear_from_srgb(i as f32 / 255.0)));

/// One channel, sRGB to linear; values outside 0..1 are clamped.
pub(crate) fn linear_from_srgb(value: f32) -> f32 {
    let value = clamp_unit(value);
    if value <= 0.040_45 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// One channel, linear to sRGB; values outside 0..1 are clamped.
pub(crate) fn srgb_from_linear(value: f32) -> f32 {
    let value = clamp_unit(value);
    if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    }
}

/// Three channels, sRGB to linear light; values outside 0..1 are clamped.
pub fn linear_from_srgb3(color: [f32; 3]) -> Vec3 {
    Vec3::from_array(color.map(linear_from_srgb))
}

/// Linear light of a colour given by lightness (0 to 1), colourfulness (0 to about 0.3) and hue, as OKLCH has them:
/// equal steps look equally large (Ottosson, "A perceptual color space for image processing", 2020).
///
/// Colours that sRGB does not have give channels outside 0..1.
pub(crate) fn linear_from_oklch(lightness: f32, chroma: f32, hue_rad: f32) -> Vec3 {
    let (a, b) = (chroma * hue_rad.cos(), chroma * hue_rad.sin());
    let cones = Vec3::new(
        lightness + 0.396_337_78 * a + 0.215_803_76 * b,
        lightness - 0.105_561_346 * a - 0.063_854_17 * b,
        lightness - 0.089_484_18 * a - 1.291_485_5 * b,
    );
    let cones = cones * cones * cones;
    Vec3::new(
        Vec3::new(4.076_741_7, -3.307_711_6, 0.230_969_94).dot(cones),
        Vec3::new(-1.268_438, 2.609_757_4, -0.341_319_38).dot(cones),
        Vec3::new(-0.004_196_086_3, -0.703_418_6, 1.707_614_7).dot(cones),
    )
}

/// One linear channel as an sRGB level, 0 to 255, not rounded yet.
pub(crate) fn level_from_linear(value: f32) -> f32 {
    ENCODE[(clamp_unit(value) * ENCODE_STEPS as f32 + 0.5) as usize]
}

/// One linear channel as the nearest sRGB byte.
pub(crate) fn byte_from_linear(value: f32) -> u8 {
    (level_from_linear(value) + 0.5) as u8
}

/// One sRGB byte as a linear channel.
pub(crate) fn linear_from_byte(value: u8) -> f32 {
    DECODE[usize::from(value)]
}

/// An opaque pixel from sRGB fractions.
pub(crate) fn pixel_from_srgb(color: [f32; 3]) -> [u8; 4] {
    let [r, g, b] = color.map(|c| (clamp_unit(c) * 255.0).round() as u8);
    [r, g, b, 255]
}

/// Clamps to 0..1 and sends NaN to 0.
fn clamp_unit(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_srgb_byte_survives_the_trip_through_linear_light() {
        for byte in 0..=255 {
            assert_eq!(
                byte_from_linear(linear_from_byte(byte)),
                byte,
                "byte {byte}"
            );
        }
    }

    #[test]
    fn oklch_has_grey_in_the_middle_and_red_at_29_degrees() {
        let grey = linear_from_oklch(0.6, 0.0, 1.0);
        assert!(
            grey.distance(Vec3::splat(0.216)) < 1e-4,
            "the cube of lightness: {grey}"
        );
        let red = linear_from_oklch(0.627_955, 0.257_683, 29.233_88_f32.to_radians());
        assert!(red.distance(Vec3::X) < 1e-3, "{red}");
    }

    #[test]
    fn half_the_light_is_a_much_brighter_byte_than_128() {
        assert_eq!(byte_from_linear(0.5), 188, "the sRGB curve at one half");
    }

    #[test]
    fn nan_and_out_of_range_channels_are_clamped() {
        assert_eq!(byte_from_linear(f32::NAN), 0, "NaN is black");
        assert_eq!(byte_from_linear(7.0), 255, "over-exposed is white");
        assert_eq!(byte_from_linear(-1.0), 0, "negative light is black");
    }
}
