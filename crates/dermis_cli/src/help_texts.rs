//! What `--help` says below the flags of each command: examples first, then what is not clear from the flags. Those of
//! `dermis psd` stand with its flags, in `psd_args.rs`.

/// What the numbers are called, for the help of the commands that ask for them.
macro_rules! words_of_errors {
    () => {
        "
Words:
  example    a mesh in a pose that is known
  held out   kept from the fit and used only to test it
  E_RMS      root mean square error of a coordinate, times 1000, with the model
             scaled to a radius of 1; below 1 is hard to see
  EE         enveloping error: the error as a share of that of vertices which
             follow one bone rigidly"
    };
}

/// Above the list of commands.
pub(crate) const BEFORE_ALL: &str = "\
Three things to try:
  dermis demo                 shows a human arm before and after dermis
  dermis info hero.glb        says what is in your file, and what is wrong there
  dermis fit poses.npz --method auto -o skin.glb
                              fits the best skin to your example meshes";

/// Below the list of commands.
pub(crate) const AFTER_ALL: &str = "\
`dermis COMMAND --help` has examples for each command. `dermis completions --help` and `dermis man --help` set up \
your shell.

Examples:
  dermis fit examples.npz -o skin.glb --report report.html
  dermis compare examples.npz --csv > methods.csv
  dermis measure truth.npz mine.npz --per-frame

Exit codes: 0 done; 1 done, but the error is larger than you allowed; 2 could not do it.";

/// Of `dermis info`.
pub(crate) const INFO: &str = "\
Examples:
  dermis info fox.glb walk.npz
  dermis info fox.glb --bones
  dermis info fox_lod.glb --level 2

With --bones, a hinge is a joint that turns about one axis in all clips, such as 'hinge z, 0° to 132°': z is the \
bone's own axis, and angles are counted from the pose in which the mesh was bound. A ball turns about several: \
how far about each is said, from one end to the other. `dermis stats` says more about joints.";

/// Of `dermis convert`.
pub(crate) const CONVERT: &str = "\
Examples:
  dermis convert 'poses/*.obj' poses.npz
  dermis convert sim.pc2 --mesh shirt.obj shirt.glb
  dermis convert fox.glb --clip Run frames/run_####.obj
  dermis convert fox_lod.glb --level 2 fox_far.glb
  dermis convert fox.glb -o - --format obj | wc -l";

/// Of `dermis fit`.
pub(crate) const FIT: &str = concat!("\
Examples:
  dermis fit examples.npz -o skin.glb --report report.html
  dermis fit sim.pc2 --mesh body.obj --skeleton rig.glb --clip Walk -o skin.glb
  dermis fit hero.glb --max-influences 2 -o hero_lean.glb --max-error 1.5
  dermis fit examples.npz --method animation-space --delta 0.005 -o skin.glb
  dermis fit examples.npz --method auto --max-bytes-per-vertex 40 -o skin.glb
  dermis fit examples.npz --method auto --target dermis -o skin.glb
  dermis fit train.npz --test test.npz --hold-out none -o skin.glb --csv

Where the poses of the examples come from:
  the .npz file itself; a clip of the file given with --skeleton; or bones found
  from the meshes with --bones. A single skinned glTF file is played: the
  examples are what its clips show.

The skin keeps every clip of the rig. Poses that no clip has become one: `examples`, a motion, when something \
says how fast the meshes follow each other (--fps, the file, a point cache) or neighbours are much more alike than \
others; else `poses`, each held for a second.
", words_of_errors!());

/// Of `dermis compare`.
pub(crate) const COMPARE: &str = concat!(
    "\
Examples:
  dermis compare examples.npz --report compare.html
  dermis compare sim.pc2 --mesh body.obj --skeleton rig.glb --hold-out one
  dermis compare hero.glb --methods lbs,dual-quaternion --save skins
  dermis compare train.npz --test test.npz --csv
  dermis compare large.npz --hold-out one --resume rows.json
  dermis compare cloth.npz --decompose 30 --report compare.html

Takes the same inputs as `dermis fit`. With --decompose, meshes are enough: no skeleton is needed.
",
    words_of_errors!()
);

/// Of `dermis decompose`.
pub(crate) const DECOMPOSE: &str = concat!("\
Examples:
  dermis decompose cloth.pc2 --mesh cloth.obj --bones 30 -o cloth.glb
  dermis decompose 'frames/*.obj' --target-error 1.5 -o skin.glb --report r.html
  dermis decompose walk.npz run.npz --bones 24 --rigid --hierarchy -o skin.glb
  dermis decompose sim.npz --keep rig.glb --bones 6 -o helped.glb
  dermis decompose sim.npz --keep rig.glb --weights-only -o reweighted.glb

The result is a plain skinned file with the animation as its clip.

Several inputs become several clips of one mesh, with one set of weights. Files of a single mesh \
(.obj, .ply) are the frames of one clip. A skinned or morphed glTF file is played: its clips are the \
animation.

Bones may stretch and shear, unless --rigid is given. A bone that shears is written as two nested \
nodes, which every player shows.
", words_of_errors!());

/// Of `dermis rig`.
pub(crate) const RIG: &str = "\
Examples:
  dermis rig 'poses/*.obj' --bones 24 -o rigged.npz
  dermis rig sim.npz --skeleton guess.glb -o rigged.glb

The result has a skeleton, its pose in each mesh, and a first skin. A .glb can be played; an .npz goes \
into `dermis fit` and `dermis compare`.

With --skeleton, the hierarchy of that file is kept, and its weights say which vertices each bone has. \
Where its joints stand matters little: they are moved to where they turn in place.";

/// Of `dermis pose`.
pub(crate) const POSE: &str = "\
Examples:
  dermis pose skin.glb --to target.obj -o posed.glb
  dermis pose skin.glb --to run.npz --joints turn -o run.glb

The meshes must have the vertices of the skin, in the same order. A .glb that is written holds the skin \
with the poses as a clip; an .npz holds the meshes with their poses.";

/// Of `dermis psd`.
pub(crate) const PSD: &str = "\
A project, step by step:
  dermis psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z
  dermis psd pose arm.psd.toml --pose elbow=90 -o to_sculpt.obj
  dermis psd add arm.psd.toml --pose elbow=90 --mesh sculpted.obj
  dermis psd check arm.psd.toml
  dermis psd fit arm.psd.toml -o arm_sculpted.glb";

/// Of `dermis bake-clips`.
pub(crate) const BAKE_CLIPS: &str = "\
Examples:
  dermis bake-clips skin.glb --clips mocap.glb -o played.glb
  dermis bake-clips skin.glb --clips walk.glb run.glb --replace -o played.glb

Joints, and the sliders of morph targets, are matched by name; what does not match is said. Keys are local \
transforms, as glTF has them, and are taken as they are. Bones and shapes that a skin computes from its joints \
(pseudo-bones, proxy bones, pose space deformation) get keys in the new clips, so that stock players show them; \
the exact model stays in the file.";

/// Of `dermis eval`.
pub(crate) const EVAL: &str = "\
Examples:
  dermis eval skin.glb --clip Run --fps 30 -o frames.npz
  dermis eval skin.glb --pose 'forearm.rz=90, hand.rx=45' -o posed.obj
  dermis eval face.glb --pose rest --pose 'smile=0.5' -o face.pc2
  dermis eval skin.glb --poses test.npz -o shown.npz

A pose lists what differs from the default pose: BONE.rx, .ry, .rz turn a bone about its own axes, in \
degrees; .tx, .ty, .tz move it, along its parent's axes; .s scales it; NAME=VALUE sets a morph target.";

/// Of `dermis measure`.
pub(crate) const MEASURE: &str = concat!(
    "\
Examples:
  dermis measure truth.npz mine.npz
  dermis measure 'truth/*.obj' 'mine/*.obj' --per-frame --csv
  dermis measure test.npz skin.glb --per-vertex --json
  dermis measure sim.pc2 mine.pc2 --mesh body.obj --surface --max-error 1.5

Frames are matched by order, vertices by number. --scale, --input-up and --reorder are about MINE.
",
    words_of_errors!()
);

/// Of `dermis stats`.
pub(crate) const STATS: &str = "\
Examples:
  dermis stats fox.glb
  dermis stats fox.glb --clip Run --clip Walk -o fox_stats.glb
  dermis stats hero.glb --limits limits.toml -o hero_limits.glb
  dermis stats hero.glb --limits arms.toml --clip Run -o hero_run.glb
  dermis stats hero.glb --uniform --json

Joints that the limits file names take every pose within their limits, all equally likely. The line \
'others' of that file says what the rest do: \"seen\", as in the clips (so, too, with --clip); \"free\", \
turn every way; \"fixed\", not move at all.

`dermis bounds` uses these statistics when they are in the file (-o): see docs/guide/bounds.md.";

/// Of `dermis bounds`.
pub(crate) const BOUNDS: &str = "\
Examples:
  dermis bounds hero.glb
  dermis bounds hero.glb --limits limits.toml -o hero_bounds.glb
  dermis bounds hero.glb --frustum 10,2,5:0,1,0 --fov 50 --crowd 40x25:2.5";

/// Of `dermis transform`.
pub(crate) const TRANSFORM: &str = "\
Examples:
  dermis transform hero.glb --scale 0.01 -o hero_m.glb
  dermis transform hero.glb --rotate x=-90 --translate 0,0,1 -o hero_up.glb

The model is scaled about the origin, then turned about it, then moved.";

/// Of `dermis subdivide`.
pub(crate) const SUBDIVIDE: &str = "\
Examples:
  dermis subdivide hero.glb --levels 2 -o hero_smooth.glb
  dermis subdivide robot.glb --scheme catmull-clark --crease-angle 60 -o cc.glb
  dermis subdivide fox.glb --crease-angle 80 --crease-sharpness 1.5 -o fox2.glb

Each new point is moved by the bones of all points that it is made of, so there are more influences \
per vertex than before: see docs/guide/subdivide.md.";

/// Of `dermis crowd`.
pub(crate) const CROWD: &str = "\
Examples:
  dermis lod hero.glb -o hero_lod.glb
  dermis crowd hero_lod.glb -o crowd.png --report crowd.html
  dermis crowd hero_lod.glb -o crowd.png --count 2000 --pixels 2 --clip Walk
  dermis crowd hero_lod.glb -o full.png --level 0 --no-culling

Needs a graphics card, and dermis built with `--features gpu`. Every instance plays a clip from a time of its own. \
Those that no pixel can show are left out; the others are drawn with the coarsest level that is off by at most \
--pixels, and their vertices move over from level to level.";

/// Of `dermis bench`.
pub(crate) const BENCH: &str = "\
Examples:
  dermis bench skin.glb
  dermis bench skin.glb --against lbs.glb --threads 1
  dermis bench skin_lod.glb --level 2
  dermis bench skin.glb --json
  dermis bench --gpu

Times are the best of several runs. The memory traffic is compared with how fast this machine copies \
memory, measured in the same run.

For a skin with proxy bones, whole frames are timed as well, and compared with linear blend skinning \
that has as many influences on the other bones; --against compares with another skin of the mesh.

With --gpu, every vertex program is timed as a compute pass and in the vertex stage; see docs/performance/gpu.md.";

/// Of `dermis completions`.
pub(crate) const COMPLETIONS: &str = "\
Examples:
  dermis completions bash > ~/.local/share/bash-completion/completions/dermis
  dermis completions zsh > ~/.zfunc/_dermis     (~/.zfunc in fpath, then compinit)
  dermis completions fish > ~/.config/fish/completions/dermis.fish
  dermis completions powershell >> $PROFILE";

/// Of `dermis man`.
pub(crate) const MAN: &str = "\
Examples:
  dermis man ~/.local/share/man/man1
  dermis man | man -l -";

/// Of `dermis demo`.
pub(crate) const DEMO: &str = "Example:\n  dermis demo my_demo";

/// Of `dermis lod`.
pub(crate) const LOD: &str = "\
Examples:
  dermis lod hero.glb --ratios 0.5,0.25,0.1 -o hero_lod.glb
  dermis lod hero.glb --pixels 1 --distances 5,10,20 -o hero_lod.glb
  dermis lod hero.glb --ratios 0.25 -o hero_lod.glb --report levels.html
  dermis lod hero.glb --triangles 2000 --guarantee 2mm --separate -o far.glb
  dermis lod hero.glb --no-mesh --influences 8000 -o hero_light.glb

Levels share bones, clips and materials, and stand in one file (MSFT_lod), the full character first: players that do \
not know the extension show that. `dermis convert hero_lod.glb --level 2 far.glb` takes one out; eval, info and bench \
have --level, too. Exit code 1 says that a level could not be made as small as asked; the file is written all the same.";

/// Of `dermis unwrap`.
pub(crate) const UNWRAP: &str = "\
Examples:
  dermis unwrap hero.glb -o hero_uv.glb
  dermis unwrap hero.glb --charts 12 --size 1024 -o hero_uv.glb --picture uv.png
  dermis unwrap hero.glb --from drawn.obj -o hero_uv.glb --report uv.html
  dermis unwrap hero.glb --keep -o hero_better.glb
  dermis unwrap scan.obj --poses rest -o scan_uv.obj

Points, bones and clips stay as they are. Vertices are split along seams. Levels of detail are left out: make them of \
the result. See docs/guide/unwrap.md.";

/// Of `dermis bake`.
pub(crate) const BAKE: &str = "\
Examples:
  dermis bake hero.glb --to hero_lod1.glb --size 1024 -o hero_far.glb
  dermis bake hero_lod.glb -o hero_baked.glb
  dermis bake hero_lod.glb --level 2 --normal-map -o hero_baked.glb
  dermis bake scan.glb --to game.glb --cage 5% --tangent-map map.npz -o out.glb

The coarse form must have UVs that do not lie over each other: `dermis unwrap` makes some, and levels made with \
`dermis lod` keep those of the full character. Normal maps are tangent-space maps as glTF has them (MikkTSpace), and the \
file has the tangents that they were made for. See docs/guide/bake.md.";

/// Of `dermis render`.
pub(crate) const RENDER: &str = "\
Examples:
  dermis render hero.glb -o hero.png
  dermis render hero.glb --clip Run --time 0.4 --size 1920x1080 -o hero.png
  dermis render hero.glb --pose 'forearm.rz=90' --view front -o hero.png
  dermis render hero.glb --clip Run --sheet -o run.png
  dermis render hero.glb --turntable -o around.apng
  dermis render hero.glb --clip Run --frames 'run_####.png'

All pictures of one command are taken by one camera, which has every pose in view. Light is that of a studio: \
colours, textures, normal maps, glow and transparency are shown, metal and roughness are not. See \
docs/guide/render.md.";
