//! The lights of every picture, as plain numbers: a shader can do the same arithmetic.
//!
//! The lights stand still relative to the camera, as in a modelling viewport: a warm key from the upper left, a cool
//! fill from the right, light from all around that is stronger from above, and a soft rim where the surface turns away.
//! The numbers were tuned by eye on tubes, spheres and heat maps; a surface facing the viewer comes out close to its own
//! colour, so that heat maps can be read against their legend.

use glam::Vec3;

use crate::camera::Camera;
use crate::projector::Basis;

/// The lights as one camera sees them; colours are linear, directions are unit vectors in the world.
///
/// [`Lights::reflect`] says what each number does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lights {
    /// Towards the bright side of the light from all around: nearly the picture's top.
    pub up: Vec3,
    /// Towards the key light.
    pub key: Vec3,
    /// Towards the fill light.
    pub fill: Vec3,
    /// Light from all around on a surface that faces away from [`Lights::up`].
    pub around_below: Vec3,
    /// Light from all around on a surface that faces [`Lights::up`].
    pub around_above: Vec3,
    /// Colour and strength of the key light.
    pub key_color: Vec3,
    /// How far the key reaches around the edge of the light, as clay scatters.
    pub key_wrap: f32,
    /// Factors of the key's wrapped cosine and of its square.
    pub key_curve: [f32; 2],
    /// Colour and strength of the fill light.
    pub fill_color: Vec3,
    /// How far the fill reaches around the edge of the light.
    pub fill_wrap: f32,
    /// Colour and strength of the rim.
    pub rim_color: Vec3,
    /// The part of the rim that takes no colour from the surface.
    pub rim_gloss: f32,
    /// Strength of the key's highlight.
    pub glint: f32,
    /// Sharpness of the highlight: the power of its cosine, a whole number.
    pub glint_power: i32,
    /// Where light starts to roll off towards 1 instead of growing.
    pub knee: f32,
    /// How much darker the inside of a surface is than its outside, after everything else: a factor.
    pub backface: f32,
    /// How far the light on heat maps is evened out, `even` of [`Lights::reflect`]. In between 0 and 1 the shape still
    /// reads, and a pale colour in the shade is not mistaken for a darker one.
    pub heat_evenness: f32,
}

impl Lights {
    /// The lights of a picture that a camera takes.
    ///
    /// ```
    /// use dermis_render::{Camera, Lights, glam::Vec3};
    ///
    /// let lights = Lights::for_camera(&Camera::framing([], -Vec3::Z, Vec3::Y, 1.0));
    /// assert!(lights.key.x < 0.0 && lights.key.y > 0.0, "from the upper left");
    /// ```
    pub fn for_camera(camera: &Camera) -> Self {
        Self::new(&camera.basis())
    }

    pub(crate) fn new(basis: &Basis) -> Self {
        let towards = |right: f64, up: f64, viewer: f64| {
            (basis.right * right + basis.up * up - basis.forward * viewer)
                .normalize()
                .as_vec3()
        };
        Self {
            up: towards(0.0, 1.0, 0.25),
            key: towards(-0.55, 0.62, 0.62),
            fill: towards(0.85, 0.05, 0.45),
            around_below: Vec3::new(0.170, 0.158, 0.150),
            around_above: Vec3::new(0.350, 0.362, 0.385),
            key_color: Vec3::new(0.860, 0.820, 0.760),
            key_wrap: 0.22,
            key_curve: [0.35, 0.65],
            fill_color: Vec3::new(0.200, 0.215, 0.240),
            fill_wrap: 0.5,
            rim_color: Vec3::new(0.36, 0.37, 0.39),
            rim_gloss: 0.2,
            glint: 0.06,
            glint_power: 28,
            knee: 0.80,
            backface: 0.62,
            heat_evenness: 0.38,
        }
    }

    /// Linear light that a clay-like surface of a linear colour sends to the viewer.
    ///
    /// `normal` and `viewer` are unit vectors in the world: away from the surface on the side that is seen, and towards
    /// the eye (against the view's direction in parallel projection). `even` takes shading back, 0 to 1: 0, but
    /// [`Lights::heat_evenness`] for heat maps.
    ///
    /// With `n` the normal, `v` the viewer, `mix(a, b, t) = a + (b − a) t`, and products of colours by channel:
    ///
    /// ```text
    /// facing  = clamp(n·v, 0, 1)
    /// above   = 0.5 + 0.5 n·up
    /// around  = mix(around_below, around_above, above)
    /// k       = max((n·key + key_wrap) / (1 + key_wrap), 0)
    /// key     = key_color  · k (key_curve[0] + key_curve[1] k)
    /// f       = max((n·fill + fill_wrap) / (1 + fill_wrap), 0)
    /// fill    = fill_color · f²
    /// rim     = rim_color  · (1 − facing)⁴ above
    /// h       = (key direction + v) / |key direction + v|, or 0 where they cancel
    /// glint   = glint · max(n·h, 0)^glint_power · (1 − even)
    /// diffuse = mix(around + key + fill + rim, 1, even)
    /// light   = color · diffuse + rim · rim_gloss (1 − even) + glint
    /// result  = shoulder(light) by channel
    /// shoulder(x) = x                                               for x ≤ knee
    ///               1 − (1 − knee) exp(−(x − knee) / (1 − knee))    above
    /// ```
    ///
    /// Which side is seen: `facet` is the normalised cross product `(b − a) × (c − a)` of the triangle's corners, and
    /// `seen` is it, or against it where `facet·v < 0`. The interpolated vertex normal `m` (`facet` itself without
    /// vertex normals, or where they cancel) says which side is the outside: where `m·seen < 0` the inside is seen, and
    /// the light is `backface · reflect(color, even, −m, v)`; elsewhere it is `reflect(color, even, m, v)`. With a normal
    /// map the side is decided by the vertex normal, before the map bends it.
    pub fn reflect(&self, color: Vec3, even: f32, normal: Vec3, viewer: Vec3) -> Vec3 {
        let facing = normal.dot(viewer).clamp(0.0, 1.0);
        let above = 0.5 + 0.5 * normal.dot(self.up);
        let around = self.around_below.lerp(self.around_above, above);
        let key = ((normal.dot(self.key) + self.key_wrap) / (1.0 + self.key_wrap)).max(0.0);
        let key = self.key_color * (key * (self.key_curve[0] + self.key_curve[1] * key));
        let fill = ((normal.dot(self.fill) + self.fill_wrap) / (1.0 + self.fill_wrap)).max(0.0);
        let fill = self.fill_color * (fill * fill);
        let edge = (1.0 - facing) * (1.0 - facing);
        let rim = self.rim_color * (edge * edge * above);
        let half = (self.key + viewer).normalize_or_zero();
        let glint = normal.dot(half).max(0.0).powi(self.glint_power) * self.glint * (1.0 - even);
        let diffuse = (around + key + fill + rim).lerp(Vec3::ONE, even);
        (color * diffuse + rim * self.rim_gloss * (1.0 - even) + glint).map(|x| self.shoulder(x))
    }

    /// Rolls off towards white instead of clipping; also keeps one bright fragment from dominating its pixel.
    fn shoulder(&self, light: f32) -> f32 {
        let room = 1.0 - self.knee;
        if light <= self.knee {
            light
        } else {
            1.0 - room * (-(light - self.knee) / room).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surface_that_faces_the_viewer_keeps_about_its_colour() {
        let camera = Camera::framing([], Vec3::new(-1.0, -0.2, 0.4), Vec3::Y, 1.0);
        let viewer = (camera.eye - camera.target).normalize();
        let color = Vec3::new(0.5, 0.3, 0.2);
        let light = Lights::for_camera(&camera).reflect(color, 0.0, viewer, viewer);
        assert!(light.distance(color) < 0.12, "{light} for {color}");
    }

    #[test]
    fn light_never_exceeds_one_and_grows_smoothly_up_to_it() {
        let lights = Lights::for_camera(&Camera::framing([], -Vec3::Z, Vec3::Y, 1.0));
        let seen: Vec<f32> = (0..400).map(|i| lights.shoulder(i as f32 * 0.01)).collect();
        let steps = seen.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(
            steps.clone().all(|step| (0.0..0.0101).contains(&step)),
            "no step back and no jump"
        );
        assert!(seen[399] <= 1.0, "{}", seen[399]);
    }
}
