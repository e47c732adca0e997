//! From the text of a project to a checked one.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::fit::PsdLayer;
use dermis::pose_space::{InterpolateOptions, Kernel};
use dermis_io::Document;

use super::controls::{self, NamedControl, listed};
use super::file::{FalloffText, KernelText, LayerText, ProjectText, SculptText};
use super::{Layer, Project, SculptEntry, base, falloff, folder_of, pose};
use crate::talk::Talk;

impl Project {
    /// Reads a project and its base, and checks that they belong together.
    pub(crate) fn read(path: &Path, talk: &Talk) -> anyhow::Result<Self> {
        let bytes = dermis_io::read_file(path).with_context(|| {
            format!(
                "{}: the project cannot be read (`dermis psd new` begins one)",
                path.display()
            )
        })?;
        let text = String::from_utf8(bytes)
            .with_context(|| format!("{}: expected text", path.display()))?;
        Self::from_text(path, text, talk)
    }

    /// The project that a text says, read as if it were in the file.
    pub(crate) fn from_text(path: &Path, text: String, talk: &Talk) -> anyhow::Result<Self> {
        let parsed = ProjectText::parse(path, &text)?;
        let (base, skin) = base::read(&folder_of(path).join(&parsed.base))
            .with_context(|| format!("{}: base", path.display()))?;
        talk.remark_notes(&base);
        Self::assemble(path, text, &parsed, base, skin)
    }

    /// The same project with another text, on the same base.
    pub(crate) fn with_text(&self, text: String) -> anyhow::Result<Self> {
        let parsed = ProjectText::parse(&self.path, &text)?;
        let skin = base::skin_of(&self.base)?;
        Self::assemble(&self.path, text, &parsed, self.base.clone(), skin)
    }

    fn assemble(
        path: &Path,
        text: String,
        parsed: &ProjectText,
        base: Document,
        mut skin: Skin,
    ) -> anyhow::Result<Self> {
        let in_file = || path.display().to_string();
        let controls = controls(parsed, &mut skin).with_context(in_file)?;
        let mut layers: Vec<Layer> = Vec::new();
        for layer in &parsed.layer {
            let read = self::layer(layer, &controls)
                .with_context(|| format!("layer {}", layer.name))
                .with_context(in_file)?;
            layers.push(read);
        }
        check_names(&layers, &skin).with_context(in_file)?;
        Ok(Self {
            path: path.to_owned(),
            text,
            base,
            skin,
            controls,
            layers,
        })
    }
}

fn controls(parsed: &ProjectText, skin: &mut Skin) -> anyhow::Result<Vec<NamedControl>> {
    let mut found: Vec<NamedControl> = Vec::new();
    for (name, text) in &parsed.control.0 {
        let control =
            controls::resolve(name, text, skin).with_context(|| format!("control {name}"))?;
        let reads_same = |other: &&NamedControl| match control.bone() {
            Some(bone) => other.bone() == Some(bone),
            None => other.control == control.control,
        };
        if let Some(other) = found.iter().find(reads_same) {
            bail!(
                "controls {} and {name} are both {}: expected one control for it, with as many \
                 axes as it turns about",
                other.name,
                match control.bone() {
                    Some(bone) =>
                        format!("about bone {}", skin.skeleton.bones()[bone.index()].name),
                    None => control.description(skin),
                }
            );
        }
        found.push(control);
    }
    Ok(found)
}

fn layer(text: &LayerText, controls: &[NamedControl]) -> anyhow::Result<Layer> {
    controls::check_long_name(&text.name)?;
    let names: Vec<&str> = controls.iter().map(|c| c.name.as_str()).collect();
    let mut own: Vec<usize> = Vec::new();
    for name in &text.controls {
        let place = names.iter().position(|n| n == name).with_context(|| {
            format!("there is no control '{name}'; there are {}", listed(&names))
        })?;
        if own.contains(&place) {
            bail!("control '{name}' is there twice");
        }
        own.push(place);
    }
    if own.is_empty() {
        bail!("expected at least one of the controls {}", listed(&names));
    }
    let kernel = kernel(text)?;
    if kernel == Kernel::Superposition {
        let several = own.iter().find(|&&c| controls[c].control.dimension() > 1);
        if let Some(&c) = several {
            bail!(
                "superposition takes controls with one number, but {} has more",
                names[c]
            );
        }
        if let Some(&c) = own.iter().find(|&&c| controls[c].default != [0.0]) {
            bail!(
                "superposition counts from 0, but the default of {} is another",
                names[c]
            );
        }
    }
    if text.weightings == Some(0) {
        bail!("weightings: expected at least 1");
    }
    if text
        .compress
        .is_some_and(|tolerance| !(tolerance >= 0.0 && tolerance.is_finite()))
    {
        bail!("compress: expected a distance of 0 or more, in model units");
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
                .with_context(|| format!("sculpt {}", text.name))
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(Layer {
        settings,
        controls: own,
        sculpts,
    })
}

fn kernel(text: &LayerText) -> anyhow::Result<Kernel> {
    if text.power.is_some() && text.kernel != KernelText::Shepard {
        bail!("'power' is for kernel = \"shepard\"");
    }
    Ok(match text.kernel {
        KernelText::Gaussian | KernelText::GaussianLinear => Kernel::Gaussian,
        KernelText::Superposition => Kernel::Superposition,
        KernelText::Shepard => {
            let power = text.power.unwrap_or(2.0);
            if !(power > 1.0 && power.is_finite()) {
                bail!("power is {power}, expected more than 1");
            }
            Kernel::Shepard { power }
        }
    })
}

fn sculpt(
    text: &SculptText,
    controls: &[NamedControl],
    own: &[usize],
    needs_falloffs: bool,
) -> anyhow::Result<SculptEntry> {
    controls::check_long_name(&text.name)?;
    let mut at = pose::at_rest(controls);
    for (name, numbers) in &text.at.0 {
        let c = controls.iter().position(|control| control.name == *name);
        let c = c.with_context(|| format!("at: there is no control '{name}'"))?;
        let dimension = controls[c].control.dimension();
        if numbers.0.len() != dimension || !numbers.0.iter().all(|x| x.is_finite()) {
            bail!(
                "at: expected {dimension} for {name}, found {}",
                numbers.0.len()
            );
        }
        at[c] = numbers
            .0
            .iter()
            .map(|x| controls[c].coordinate(*x))
            .collect();
    }
    if pose::moved(controls, &at).is_empty() {
        bail!("at: expected a pose that moves a control from rest");
    }
    let layer_controls: Vec<&NamedControl> = own.iter().map(|&c| &controls[c]).collect();
    let falloffs = match &text.falloff {
        None if needs_falloffs => bail!("expected 'falloff', such as {{ elbow = 40 }}"),
        None => Ok(vec![1.0; own.len()]),
        Some(FalloffText::One(shown)) => falloff::one_for_all(*shown, &layer_controls),
        Some(FalloffText::Each(shown)) => falloff::one_for_each(shown, &layer_controls),
    };
    Ok(SculptEntry {
        name: text.name.clone(),
        at,
        falloffs: falloffs.context("falloff")?,
        shape: text.shape.clone(),
    })
}

/// Layers are told apart by their names, sculpts by those of their morph targets.
fn check_names(layers: &[Layer], skin: &Skin) -> anyhow::Result<()> {
    let twice = |names: Vec<&str>| -> Option<String> {
        let mut sorted = names;
        sorted.sort_unstable();
        let pair = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        pair.map(|pair| pair[0].to_owned())
    };
    let names = layers.iter().map(|layer| layer.settings.name.as_str());
    if let Some(name) = twice(names.collect()) {
        bail!("two layers have the name {name}: expected one each");
    }
    let sculpts = layers.iter().flat_map(|layer| &layer.sculpts);
    if let Some(name) = twice(sculpts.map(|sculpt| sculpt.name.as_str()).collect()) {
        bail!("two sculpts have the name {name}: expected one each, in all layers together");
    }
    let own = |name: &str| skin.coefficients.iter().any(|c| c.name == name);
    let mut sculpts = layers.iter().flat_map(|layer| &layer.sculpts);
    if let Some(sculpt) = sculpts.find(|sculpt| own(&sculpt.name)) {
        bail!(
            "sculpt {} has the name of a slider or morph target: choose another",
            sculpt.name
        );
    }
    Ok(())
}
