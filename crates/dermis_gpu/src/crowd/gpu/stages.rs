//! The stages before drawing: choose, order, place, and palettes.

use super::binding::{Slot, Step};
use super::buffers::Buffers;

/// Instances in a workgroup.
const WORKGROUP: u32 = 64;

/// The compute shaders of a crowd.
#[derive(Debug)]
pub(super) struct Stages {
    choose: Step,
    order: Step,
    place: Step,
    palettes: Step,
}

impl Stages {
    pub(super) fn new(device: &wgpu::Device, b: &Buffers) -> Self {
        use Slot::{Read, Uniform, Write};
        let step = |label, source, bound: &[(Slot, &wgpu::Buffer)]| {
            Step::new(device, label, source, &[], bound)
        };
        Self {
            choose: step(
                "choose levels",
                include_str!("../../../shaders/crowd_choose.wgsl"),
                &[
                    (Uniform, &b.view),
                    (Read, &b.instances),
                    (Read, &b.levels),
                    (Write, &b.choices),
                    (Write, &b.groups),
                ],
            ),
            order: step(
                "order levels",
                include_str!("../../../shaders/crowd_order.wgsl"),
                &[
                    (Uniform, &b.view),
                    (Read, &b.levels),
                    (Read, &b.draws),
                    (Write, &b.groups),
                    (Write, &b.summary),
                    (Write, &b.commands),
                ],
            ),
            place: step(
                "place instances",
                include_str!("../../../shaders/crowd_place.wgsl"),
                &[
                    (Uniform, &b.view),
                    (Read, &b.choices),
                    (Read, &b.groups),
                    (Read, &b.summary),
                    (Write, &b.drawn),
                ],
            ),
            palettes: step(
                "palettes",
                include_str!("../../../shaders/crowd_palettes.wgsl"),
                &[
                    (Uniform, &b.view),
                    (Read, &b.instances),
                    (Read, &b.drawn),
                    (Read, &b.summary),
                    (Read, &b.levels),
                    (Read, &b.clips),
                    (Read, &b.level_bones),
                    (Read, &b.steps),
                    (Write, &b.palettes),
                ],
            ),
        }
    }

    /// Which instances are drawn, with which levels, and the commands that draw them.
    pub(super) fn choose(&self, pass: &mut wgpu::ComputePass<'_>, instances: u32) {
        let groups = instances.div_ceil(WORKGROUP);
        self.choose.begin(pass);
        pass.dispatch_workgroups(groups, 1, 1);
        self.order.begin(pass);
        pass.dispatch_workgroups(1, 1, 1);
        self.place.begin(pass);
        pass.dispatch_workgroups(groups, 1, 1);
    }

    /// Matrices of the bones that they use.
    pub(super) fn pose(&self, pass: &mut wgpu::ComputePass<'_>, buffers: &Buffers) {
        self.palettes.begin(pass);
        pass.dispatch_workgroups_indirect(&buffers.commands, 0);
    }
}
