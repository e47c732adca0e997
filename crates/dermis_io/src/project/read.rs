//! From the text of a project to a checked one.

use std::path::Path;

use dermis::Skin;
use dermis::fit::PsdLayer;
use dermis::pose_space::{InterpolateOptions, Kernel};

use super::controls::{self, NamedControl, names};
use super::error::{Placed, ProjectError, ProjectFault};
use super::text::{FalloffText, KernelText, LayerText, ProjectText, SculptText};
use super::{Layer, Project, SculptEntry, all_sculpts, base, falloff, folder_of, pose};
use crate::Document;

impl Project {
    /// Reads a project and its base, and checks that they belong together.
    ///
    /// What had to be repaired in the base is in [`base().notes`](crate::Document::notes).
    ///
    /// # Errors
    /// [`ProjectError`], with the line or the place that is wrong.
    pub fn read(path: &Path) -> Result<Self, ProjectError> {
        Self::from_text(path, crate::text_file::read(path)?)
    }

    /// The project that a text says, read as if it were in the file.
    fn from_text(path: &Path, text: String) -> Result<Self, ProjectError> {
        let base = Self::read_base(path, &ProjectText::parse(path, &text)?.base)?;
        Self::from_text_on(path, text, base)
    }

    /// The base that a project names.
    pub(super) fn read_base(path: &Path, base: &Path) -> Result<(Document, Skin), ProjectError> {
        base::read(&folder_of(path).join(base))
            .map_err(|error| ProjectFault::from(error).in_item("base").in_file(path))
    }

    /// The project that a text says about a base that was read.
    pub(super) fn from_text_on(
        path: &Path,
        text: String,
        (base, skin): (Document, Skin),
    ) -> Result<Self, ProjectError> {
        let parsed = ProjectText::parse(path, &text)?;
        let parts = Parts::new(&parsed, skin).map_err(|placed| placed.in_file(path))?;
        Ok(Self {
            path: path.to_owned(),
            saved: Some(text.clone()),
            text,
            base,
            skin: parts.skin,
            controls: parts.controls,
            layers: parts.layers,
            unsaved: Vec::new(),
            edits: Vec::new(),
        })
    }

    /// Takes another text, on the same base; left as it is when that is wrong.
    pub(super) fn set_text(&mut self, text: String) -> Result<(), ProjectError> {
        let parsed = ProjectText::parse(&self.path, &text)?;
        let parts = base::skin_of(&self.base)
            .map_err(Placed::from)
            .and_then(|skin| Parts::new(&parsed, skin))
            .map_err(|placed| placed.in_file(&self.path))?;
        self.text = text;
        self.skin = parts.skin;
        self.controls = parts.controls;
        self.layers = parts.layers;
        Ok(())
    }
}

/// What a text says about a base.
struct Parts {
    skin: Skin,
    controls: Vec<NamedControl>,
    layers: Vec<Layer>,
}

impl Parts {
    fn new(parsed: &ProjectText, mut skin: Skin) -> Result<Self, Placed> {
        let controls = controls(parsed, &mut skin)?;
        let layers = (parsed.layer.iter())
            .map(|text| layer(text, &controls).map_err(|placed| placed.in_layer(&text.name)))
            .collect::<Result<Vec<Layer>, Placed>>()?;
        check_names(&layers, &skin)?;
        Ok(Self {
            skin,
            controls,
            layers,
        })
    }
}

fn controls(parsed: &ProjectText, skin: &mut Skin) -> Result<Vec<NamedControl>, Placed> {
    let mut found: Vec<NamedControl> = Vec::new();
    for (name, text) in &parsed.control.0 {
        let control =
            controls::resolve(name, text, skin).map_err(|placed| placed.in_control(name))?;
        let reads_same = |other: &&NamedControl| match control.bone() {
            Some(bone) => other.bone() == Some(bone),
            None => other.control == control.control,
        };
        if let Some(other) = found.iter().find(reads_same) {
            let what = match control.bone() {
                Some(bone) => format!("about bone {}", skin.skeleton.bones()[bone.index()].name),
                None => control.description(skin),
            };
            return Err(ProjectFault::SameControl {
                first: other.name.clone(),
                second: name.clone(),
                what,
            }
            .into());
        }
        found.push(control);
    }
    Ok(found)
}

fn layer(text: &LayerText, controls: &[NamedControl]) -> Result<Layer, Placed> {
    controls::check_long_name(&text.name)?;
    let mut own: Vec<usize> = Vec::new();
    for name in &text.controls {
        let place = find_control(name, controls)?;
        if own.contains(&place) {
            return Err(ProjectFault::ControlTwice { name: name.clone() }.into());
        }
        own.push(place);
    }
    if own.is_empty() {
        let known = names(controls).join(", ");
        let expected = format!("at least one of the controls {known}");
        return Err(ProjectFault::expected(expected).in_item("controls"));
    }
    let kernel = kernel(text)?;
    if kernel == Kernel::Superposition {
        check_superposition(&own, controls)?;
    }
    if text.weightings == Some(0) {
        return Err(ProjectFault::expected("at least 1").in_item("weightings"));
    }
    let is_distance = |x: f64| x >= 0.0 && x.is_finite();
    if text
        .compress
        .is_some_and(|tolerance| !is_distance(tolerance))
    {
        let expected = "a distance of 0 or more, in model units";
        return Err(ProjectFault::expected(expected).in_item("compress"));
    }
    let settings = PsdLayer {
        interpolation: InterpolateOptions {
            kernel,
            linear: text.kernel == KernelText::GaussianLinear,
        },
        hold_rest: text.hold_rest.unwrap_or(true),
        weightings: text.weightings,
        compress: text.compress,
        ..PsdLayer::new(
            text.name.as_str(),
            own.iter().map(|&c| controls[c].control).collect(),
        )
    };
    let needs_falloffs = kernel != Kernel::Superposition;
    let sculpts = (text.sculpt.iter())
        .map(|text| {
            sculpt(text, controls, &own, needs_falloffs)
                .map_err(|placed| placed.in_sculpt(&text.name))
        })
        .collect::<Result<_, Placed>>()?;
    Ok(Layer {
        settings,
        controls: own,
        sculpts,
    })
}

/// The number of a control.
pub(super) fn find_control(name: &str, controls: &[NamedControl]) -> Result<usize, ProjectFault> {
    let place = controls.iter().position(|control| control.name == name);
    place.ok_or_else(|| ProjectFault::NoControl {
        name: name.to_owned(),
        known: names(controls),
    })
}

fn kernel(text: &LayerText) -> Result<Kernel, Placed> {
    if text.power.is_some() && text.kernel != KernelText::Shepard {
        let fault = ProjectFault::Misplaced {
            fields: "'power'",
            belongs_to: "kernel = \"shepard\"",
        };
        return Err(fault.into());
    }
    Ok(match text.kernel {
        KernelText::Gaussian | KernelText::GaussianLinear => Kernel::Gaussian,
        KernelText::Superposition => Kernel::Superposition,
        KernelText::Shepard => {
            let power = text.power.unwrap_or(2.0);
            if !(power > 1.0 && power.is_finite()) {
                let fault = ProjectFault::malformed("more than 1", power.to_string());
                return Err(fault.in_item("power"));
            }
            Kernel::Shepard { power }
        }
    })
}

/// Shapes are added up by one number each, which is 0 at rest.
fn check_superposition(own: &[usize], controls: &[NamedControl]) -> Result<(), ProjectFault> {
    for &c in own {
        let control = &controls[c];
        let (needs, has) = match (control.control.dimension(), &control.default[..]) {
            (2.., _) => ("takes controls with one number", "has more"),
            (_, [0.0]) => continue,
            _ => ("counts from 0", "has another default"),
        };
        return Err(ProjectFault::NotForSuperposition {
            control: control.name.clone(),
            needs,
            has,
        });
    }
    Ok(())
}

fn sculpt(
    text: &SculptText,
    controls: &[NamedControl],
    own: &[usize],
    needs_falloffs: bool,
) -> Result<SculptEntry, Placed> {
    controls::check_long_name(&text.name)?;
    let mut at = pose::at_rest(controls);
    for (name, numbers) in &text.at.0 {
        let in_at = |fault: ProjectFault| fault.in_item("at");
        let c = find_control(name, controls).map_err(in_at)?;
        let dimension = controls[c].control.dimension();
        if numbers.0.len() != dimension || !numbers.0.iter().all(|x| x.is_finite()) {
            let expected = format!("{dimension} for {name}");
            return Err(in_at(ProjectFault::malformed(
                expected,
                numbers.0.len().to_string(),
            )));
        }
        let shown = numbers.0.iter();
        at[c] = shown.map(|x| controls[c].coordinate(*x)).collect();
    }
    if pose::moved(controls, &at).is_empty() {
        let expected = "a pose that moves a control from rest";
        return Err(ProjectFault::expected(expected).in_item("at"));
    }
    let layer_controls: Vec<&NamedControl> = own.iter().map(|&c| &controls[c]).collect();
    let falloffs = match &text.falloff {
        None if needs_falloffs => Err(ProjectFault::expected("one, such as { elbow = 40 }")),
        None => Ok(vec![1.0; own.len()]),
        Some(FalloffText::One(shown)) => falloff::one_for_all(*shown, &layer_controls),
        Some(FalloffText::Each(shown)) => falloff::one_for_each(shown, &layer_controls),
    };
    Ok(SculptEntry {
        name: text.name.clone(),
        at,
        falloffs: falloffs.map_err(|fault| fault.in_item("falloff"))?,
        shape: text.shape.clone(),
    })
}

/// Layers are told apart by their names, sculpts by those of their morph targets.
fn check_names(layers: &[Layer], skin: &Skin) -> Result<(), Placed> {
    let layer_names = layers.iter().map(|layer| layer.settings.name.as_str());
    check_once("layers", layer_names.collect())?;
    let sculpt_names = all_sculpts(layers).map(|(_, sculpt)| sculpt.name.as_str());
    check_once("sculpts", sculpt_names.collect())?;
    for (layer, sculpt) in all_sculpts(layers) {
        if skin.coefficients.iter().any(|c| c.name == sculpt.name) {
            let name = sculpt.name.clone();
            let placed = Placed::from(ProjectFault::NameOfTarget { name });
            return Err(placed.in_layer(&layer.settings.name));
        }
    }
    Ok(())
}

fn check_once(what: &'static str, mut names: Vec<&str>) -> Result<(), ProjectFault> {
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(ProjectFault::NameTwice {
            what,
            name: pair[0].to_owned(),
        }),
    }
}
