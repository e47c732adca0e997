//! `dermis psd show`: the result along one control, and the curves behind it.

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::pose_space::Driver;
use dermis_render::glam::Vec3;
use dermis_render::{Curve, CurvePlot, Image, Panel, SheetStyle, sheet};

use crate::Outcome;
use crate::psd_args::ShowArgs;
use crate::psd_project::{Coordinates, NamedControl, Project, pose};
use crate::report::{View, single};
use crate::talk::Talk;

/// Points of a curve.
const CURVE_POINTS: usize = 241;
/// A coefficient that changes less than this along the sweep is not drawn.
const STILL: f64 = 1e-4;
/// Width of the strip of pictures, whatever their number.
const STRIP_WIDTH: u32 = 1680;
/// The share of its range by which a sweep goes beyond the sculpts.
const MARGIN: f64 = 0.12;

pub(crate) fn run(args: &ShowArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if args.output.extension().is_none_or(|ending| ending != "png") {
        bail!("{}: the picture is written as .png", args.output.display());
    }
    let project = Project::read(&args.project, talk)?;
    let in_project = || args.project.display().to_string();
    let sweep = Sweep::new(args, &project).with_context(in_project)?;
    let skin = project.skin_of_layers(project.layers.len())?;
    let strip = sweep.strip(args, &skin, talk)?;
    let plot = sweep.plot(&skin, strip.width())?;
    let mut picture = Image::new(strip.width(), strip.height() + plot.height(), [255; 4]);
    picture.blit(&strip, 0, 0);
    picture.blit(&plot, 0, strip.height() as i32);
    talk.check_stopped()?;
    dermis_io::write_file(&args.output, &picture.to_png()?)?;
    talk.clear();
    talk.remark(format!("wrote {}", args.output.display()));
    Ok(Outcome::Done)
}

/// One coordinate that runs from one number to another, while all others stand.
struct Sweep<'a> {
    project: &'a Project,
    /// Number of the control.
    control: usize,
    /// Which of its coordinates.
    axis: usize,
    /// Where all others stand.
    at: Coordinates,
    /// Ends, as people see them.
    from: f64,
    to: f64,
}

impl<'a> Sweep<'a> {
    fn new(args: &ShowArgs, project: &'a Project) -> anyhow::Result<Self> {
        let (control, axis) = swept(&args.sweep, &project.controls)?;
        let at = match &args.at {
            Some(text) => pose::parse(text, &project.controls, &project.skin)?,
            None => pose::at_rest(&project.controls),
        };
        let (low, high) = sculpted_range(project, control, axis);
        let (from, to) = (args.from.unwrap_or(low), args.to.unwrap_or(high));
        if !(from.is_finite() && to.is_finite() && from < to) {
            bail!("--from {from} --to {to}: expected a range that rises");
        }
        Ok(Self {
            project,
            control,
            axis,
            at,
            from,
            to,
        })
    }

    fn named(&self) -> &NamedControl {
        &self.project.controls[self.control]
    }

    /// All coordinates, with the swept one at a number that people see.
    fn at(&self, shown: f64) -> Coordinates {
        let mut at = self.at.clone();
        at[self.control][self.axis] = self.named().coordinate(shown);
        at
    }

    /// So many numbers from one end to the other.
    fn numbers(&self, count: usize) -> impl Iterator<Item = f64> {
        let (from, to) = (self.from, self.to);
        let last = count.saturating_sub(1).max(1) as f64;
        (0..count).map(move |k| from + (to - from) * k as f64 / last)
    }

    /// The result at steps of the sweep, from one place.
    fn strip(&self, args: &ShowArgs, skin: &Skin, talk: &Talk) -> anyhow::Result<Image> {
        use dermis::progress::Progress;
        let shown: Vec<f64> = self.numbers(args.steps).collect();
        let meshes: Vec<Vec<Vec3>> = (shown.iter())
            .map(|x| Ok(single(&skin.evaluate(&self.project.pose(&self.at(*x)))?)))
            .collect::<anyhow::Result<_>>()?;
        let style = SheetStyle {
            gap: 4,
            border: 12,
            caption_px: 22.0,
            ..SheetStyle::default()
        };
        let gaps = 2 * style.border + style.gap * (args.steps as u32 - 1);
        let size = (STRIP_WIDTH.saturating_sub(gaps) / args.steps as u32).clamp(64, 640);
        let borrowed: Vec<&[Vec3]> = meshes.iter().map(Vec::as_slice).collect();
        let view = View::new(&self.project.base.mesh, &borrowed, args.up, size);
        let mut panels = Vec::new();
        for (k, (x, mesh)) in shown.iter().zip(&meshes).enumerate() {
            talk.report("drawing", k, shown.len());
            talk.check_stopped()?;
            let digits = if self.named().is_joint() { 10.0 } else { 100.0 };
            let rounded = (x * digits).round() / digits;
            let caption = format!("{rounded}{}", self.named().unit());
            panels.push(Panel::new(view.draw(mesh, None)?, caption));
        }
        Ok(sheet(&panels, &style))
    }

    /// Coefficients along the sweep, with a dot where each was sculpted, and the bumps behind them.
    fn plot(&self, skin: &Skin, width: u32) -> anyhow::Result<Image> {
        let numbers: Vec<f64> = self.numbers(CURVE_POINTS).collect();
        let mut rows = Vec::with_capacity(numbers.len());
        for x in &numbers {
            let pose = self.project.pose(&self.at(*x));
            rows.push(skin.run_pose_program(&pose)?.coefficients);
        }
        let column = |m: usize| -> Vec<[f64; 2]> {
            (numbers.iter().zip(&rows))
                .map(|(x, row)| [*x, row[m]])
                .collect()
        };
        let mut curves = Vec::new();
        let mut faint = Vec::new();
        let mut next = skin.posed_coefficient_count();
        for driver in &skin.pose_program.drivers {
            for m in 0..driver.output_count() {
                let points = column(next + m);
                if changes(&points) {
                    let name = skin.coefficients[next + m].name.clone();
                    faint.extend(self.bump(skin, driver, m, curves.len()));
                    curves.push(Curve {
                        markers: self.markers(&name, &points),
                        color: curves.len(),
                        name,
                        points,
                        ..Curve::default()
                    });
                }
            }
            next += driver.output_count();
        }
        let all = curves.iter().chain(&faint).flat_map(|curve| &curve.points);
        let (low, high) = all.fold((0.0, 1.0), |(low, high): (f64, f64), [_, y]| {
            (low.min(*y), high.max(*y))
        });
        if let Some(first) = faint.first_mut() {
            first.name = "falloffs".to_owned();
        }
        let control = self.named();
        let mut x_label = match control.control.dimension() {
            1 => control.name.clone(),
            _ => format!("{}.{}", control.name, self.axis + 1),
        };
        if control.is_joint() {
            x_label += " (degrees)";
        }
        let others: Vec<usize> = pose::moved(&self.project.controls, &self.at)
            .into_iter()
            .filter(|c| *c != self.control)
            .collect();
        if !others.is_empty() {
            let mut at = pose::at_rest(&self.project.controls);
            others.iter().for_each(|&c| at[c] = self.at[c].clone());
            x_label += &format!(", at {}", pose::to_text(&self.project.controls, &at));
        }
        faint.extend(curves);
        let plot = CurvePlot {
            x_label,
            y_label: "how much of each shape".to_owned(),
            x_range: [self.from, self.to],
            y_range: [low - 0.05, high + 0.05],
            curves: faint,
            width,
            height: 400,
            text_px: 22.0,
        };
        Ok(plot.draw())
    }

    /// The bump of one sculpt, where its driver is made of them.
    fn bump(&self, skin: &Skin, driver: &Driver, m: usize, color: usize) -> Option<Curve> {
        // After compression outputs are no sculpts' own.
        if driver.centers.len() < driver.output_count() {
            return None;
        }
        let alone = (0..driver.centers.len()).map(|k| f64::from(u8::from(k == m)));
        let bump = Driver {
            weights: vec![alone.collect()],
            linear: Vec::new(),
            ..driver.clone()
        };
        let points = self.numbers(CURVE_POINTS).map(|x| {
            let pose = self.project.pose(&self.at(x));
            let mut coefficients = skin.default_coefficients();
            coefficients[..pose.coefficients.len()].copy_from_slice(&pose.coefficients);
            let at = bump.point(&skin.skeleton, &pose.parent_from_bone, &coefficients);
            [x, bump.evaluate(&at)[0]]
        });
        Some(Curve {
            color,
            is_faint: true,
            points: points.collect(),
            ..Curve::default()
        })
    }

    /// The sculpt's own pose, when the sweep passes through it.
    fn markers(&self, name: &str, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let sculpts = self.project.layers.iter().flat_map(|layer| {
            let own = layer.sculpts.iter();
            own.map(move |sculpt| (sculpt, &layer.controls))
        });
        (sculpts.filter(|(sculpt, _)| sculpt.name == name))
            .filter_map(|(sculpt, controls)| {
                let x = self.named().to_shown(sculpt.at[self.control][self.axis]);
                let swept = self.at(x);
                let is_on_the_way = (self.from..=self.to).contains(&x)
                    && (controls.iter()).all(|&c| pose::is_same(&sculpt.at[c], &swept[c]));
                let value = at_number(points, x);
                is_on_the_way.then_some([x, value])
            })
            .collect()
    }
}

/// A curve's value between its points.
fn at_number(points: &[[f64; 2]], x: f64) -> f64 {
    let after = points.iter().position(|p| p[0] >= x);
    match after {
        None | Some(0) => points.first().map_or(0.0, |p| p[1]),
        Some(k) => {
            let [a, b] = [points[k - 1], points[k]];
            a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
        }
    }
}

fn changes(points: &[[f64; 2]]) -> bool {
    let values = points.iter().map(|p| p[1]);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    high - low > STILL
}

/// `elbow`, or `shoulder.2` for the second axis.
fn swept(text: &str, controls: &[NamedControl]) -> anyhow::Result<(usize, usize)> {
    let (name, axis) = match text.rsplit_once('.') {
        Some((name, axis)) => (name, axis.parse::<usize>().ok()),
        None => (text, Some(1)),
    };
    let names: Vec<&str> = controls.iter().map(|c| c.name.as_str()).collect();
    let control = names.iter().position(|n| *n == name).with_context(|| {
        format!(
            "--sweep {text}: there is no control '{name}'; there are {}",
            names.join(", ")
        )
    })?;
    let dimension = controls[control].control.dimension();
    match axis {
        Some(axis) if (1..=dimension).contains(&axis) => Ok((control, axis - 1)),
        _ => bail!("--sweep {text}: expected an axis of 1 to {dimension} after the dot"),
    }
}

/// From the lowest to the highest number of a control's sculpts and rest, and a little beyond.
fn sculpted_range(project: &Project, control: usize, axis: usize) -> (f64, f64) {
    let named = &project.controls[control];
    let sculpts = project.layers.iter().flat_map(|layer| &layer.sculpts);
    let rest = named.to_shown(named.default[axis]);
    let (low, high) = sculpts
        .map(|sculpt| named.to_shown(sculpt.at[control][axis]))
        .fold((rest, rest), |(low, high), x| (low.min(x), high.max(x)));
    match high > low {
        true => {
            let margin = MARGIN * (high - low);
            (low - margin, high + margin)
        }
        false if named.is_joint() => (rest - 90.0, rest + 90.0),
        false => (rest, rest + 1.0),
    }
}
