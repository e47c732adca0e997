//! One control from end to end: the poses on the way, and how much of each shape shows there.

use dermis::Skin;
use dermis::pose_space::Driver;
use dermis::skin::SkinError;

use super::error::{Placed, ProjectError, ProjectFault};
use super::read::find_control;
use super::{Coordinates, NamedControl, Project, all_sculpts, pose};

/// A coefficient that changes less than this along the sweep has no curve.
const STILL: f64 = 1e-4;
/// The share of its range by which a sweep goes beyond the sculpts.
const MARGIN: f64 = 0.12;

/// One coordinate that runs from one number to another, while all others stand.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    project: &'a Project,
    /// Number of the control.
    control: usize,
    /// Which of its coordinates.
    axis: usize,
    /// Where all others stand.
    at: Coordinates,
    /// Where it begins, as people see it: degrees for joints.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// How much of one shape shows along a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepCurve {
    /// The morph target.
    pub name: String,
    /// Number of the sweep and coefficient.
    pub points: Vec<[f64; 2]>,
    /// Where the shape was sculpted, when the sweep passes through its pose.
    pub sculpted_at: Vec<[f64; 2]>,
    /// The falloff alone, where the coefficient is made of falloffs.
    pub falloff: Option<Vec<[f64; 2]>>,
}

impl Project {
    /// A sweep of a control, `elbow`, or of the second of its axes, `shoulder.2`.
    ///
    /// It covers the sculpts and a little more; `from` and `to` of the result may be changed. `at` is where all
    /// others stand.
    ///
    /// # Errors
    /// [`ProjectFault::NoControl`], and for an axis that the control has not.
    pub fn sweep(&self, control: &str, at: Coordinates) -> Result<Sweep<'_>, ProjectError> {
        let (control, axis) = swept(control, &self.controls).map_err(|fault| {
            let placed = Placed::from(fault).asked(format!("sweep {control}"));
            placed.in_file(&self.path)
        })?;
        let (from, to) = sculpted_range(self, control, axis);
        Ok(Sweep {
            project: self,
            control,
            axis,
            at,
            from,
            to,
        })
    }
}

impl Sweep<'_> {
    /// The control that moves.
    pub fn control(&self) -> &NamedControl {
        &self.project.controls[self.control]
    }

    /// What moves, with its axis where it has several.
    pub fn name(&self) -> String {
        match self.control().control.dimension() {
            1 => self.control().name.clone(),
            _ => format!("{}.{}", self.control().name, self.axis + 1),
        }
    }

    /// Where the controls stand that do not move, as people type it; `None` at rest.
    pub fn others(&self) -> Option<String> {
        let mut at = self.at.clone();
        at[self.control].clone_from(&self.control().default);
        let has_moved = !pose::moved(&self.project.controls, &at).is_empty();
        has_moved.then(|| self.project.pose_text(&at))
    }

    /// All coordinates, with the swept one at a number that people see.
    pub fn at(&self, shown: f64) -> Coordinates {
        let mut at = self.at.clone();
        at[self.control][self.axis] = self.control().coordinate(shown);
        at
    }

    /// So many numbers from one end to the other.
    pub fn numbers(&self, count: usize) -> Vec<f64> {
        let (from, to) = (self.from, self.to);
        let last = count.saturating_sub(1).max(1) as f64;
        (0..count)
            .map(|k| from + (to - from) * k as f64 / last)
            .collect()
    }

    /// Coefficients of the project's skin that change along the sweep, at so many numbers.
    ///
    /// # Errors
    /// When the skin is not the project's.
    pub fn curves(&self, skin: &Skin, count: usize) -> Result<Vec<SweepCurve>, SkinError> {
        let numbers = self.numbers(count);
        let mut rows = Vec::with_capacity(numbers.len());
        for x in &numbers {
            let pose = self.project.pose(&self.at(*x));
            rows.push(skin.run_pose_program(&pose)?.coefficients);
        }
        let mut curves = Vec::new();
        let mut next = skin.posed_coefficient_count();
        for driver in &skin.pose_program.drivers {
            for m in 0..driver.output_count() {
                let values = rows.iter().map(|row| row[next + m]);
                let points: Vec<[f64; 2]> =
                    (numbers.iter().zip(values)).map(|(x, y)| [*x, y]).collect();
                if !changes(&points) {
                    continue;
                }
                let name = skin.coefficients[next + m].name.clone();
                curves.push(SweepCurve {
                    sculpted_at: self.sculpted_at(&name, &points),
                    falloff: self.falloff(skin, driver, m, &numbers),
                    name,
                    points,
                });
            }
            next += driver.output_count();
        }
        Ok(curves)
    }

    /// The bump of one sculpt, where its driver is made of them.
    fn falloff(
        &self,
        skin: &Skin,
        driver: &Driver,
        m: usize,
        numbers: &[f64],
    ) -> Option<Vec<[f64; 2]>> {
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
        let point = |&x: &f64| {
            let pose = self.project.pose(&self.at(x));
            let mut coefficients = skin.default_coefficients();
            coefficients[..pose.coefficients.len()].copy_from_slice(&pose.coefficients);
            let at = bump.point(&skin.skeleton, &pose.parent_from_bone, &coefficients);
            [x, bump.evaluate(&at)[0]]
        };
        Some(numbers.iter().map(point).collect())
    }

    /// The sculpt's own pose, when the sweep passes through it.
    fn sculpted_at(&self, name: &str, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        (all_sculpts(&self.project.layers).filter(|(_, sculpt)| sculpt.name == name))
            .filter_map(|(layer, sculpt)| {
                let x = self.control().to_shown(sculpt.at[self.control][self.axis]);
                let swept = self.at(x);
                let is_on_the_way = (self.from..=self.to).contains(&x)
                    && (layer.controls.iter()).all(|&c| pose::is_same(&sculpt.at[c], &swept[c]));
                is_on_the_way.then_some([x, at_number(points, x)])
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
fn swept(text: &str, controls: &[NamedControl]) -> Result<(usize, usize), ProjectFault> {
    let (name, axis) = match text.rsplit_once('.') {
        Some((name, axis)) => (name, axis.parse::<usize>().ok()),
        None => (text, Some(1)),
    };
    let control = find_control(name, controls)?;
    let dimension = controls[control].control.dimension();
    match axis {
        Some(axis) if (1..=dimension).contains(&axis) => Ok((control, axis - 1)),
        _ => {
            let expected = format!("an axis of 1 to {dimension} after the dot");
            Err(ProjectFault::expected(expected))
        }
    }
}

/// From the lowest to the highest number of a control's sculpts and rest, and a little beyond.
fn sculpted_range(project: &Project, control: usize, axis: usize) -> (f64, f64) {
    let named = &project.controls[control];
    let rest = named.to_shown(named.default[axis]);
    let (low, high) = all_sculpts(&project.layers)
        .map(|(_, sculpt)| named.to_shown(sculpt.at[control][axis]))
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
