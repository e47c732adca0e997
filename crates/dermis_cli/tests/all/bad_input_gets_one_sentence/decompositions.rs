//! What `dermis decompose` refuses.

/// A command, and parts of the sentence that refuses it.
pub(crate) type Refused = (&'static str, &'static [&'static str]);

/// Commands in the folder of good and bad files.
pub(crate) const REFUSED: &[Refused] = &[
    // Decompositions that cannot be made.
    (
        "decompose no_bones.npz -o out.glb",
        &["--bones", "--target-error"],
    ),
    (
        "decompose no_bones.npz --bones 200 -o out.glb",
        &["no_bones.npz", "200 bones", "98 points"],
    ),
    (
        "decompose no_bones.npz --bones 70000 -o out.glb",
        &["bones", "at most 65535"],
    ),
    (
        "decompose quad.obj --bones 1 -o out.glb",
        &["quad.obj", "a mesh that moves", "a single mesh"],
    ),
    (
        "decompose still.glb --bones 1 -o out.glb",
        &["still.glb", "a mesh that moves", "without a clip"],
    ),
    (
        "decompose missing.npz --bones 3 -o out.glb",
        &["missing.npz", "cannot be read"],
    ),
    (
        "decompose nan.npz --bones 3 -o out.glb",
        &["nan.npz", "vertex 7", "finite"],
    ),
    (
        "decompose quad.obj three.obj --bones 1 -o out.glb",
        &["three.obj", "expected 4 as in quad.obj", "found 3"],
    ),
    (
        "decompose five.npz four.npz --bones 3 -o out.glb",
        &["four.npz", "4 vertices", "five.npz", "98"],
    ),
    (
        "decompose five.npz turned.npz --bones 3 -o out.glb",
        &["turned.npz", "other faces than five.npz", "--reorder"],
    ),
    (
        "decompose lonely.pc2 --bones 3 -o out.glb",
        &["lonely.pc2", "expected the mesh", "lonely.obj", "--mesh"],
    ),
    (
        "decompose no_bones.npz --bones 3 -o out.obj",
        &["out.obj", ".glb or .gltf"],
    ),
    (
        "decompose no_bones.npz --bones 3 -o out.fbx",
        &["out.fbx", "is written as .glb or .gltf"],
    ),
    (
        "decompose no_bones.npz --bones 3 -o in_the_way/out.glb",
        &["in_the_way/out.glb", "cannot be written", "is a file"],
    ),
    (
        "decompose no_bones.npz --bones 3 -o out.glb --report in_the_way/out.html",
        &["in_the_way/out.html", "cannot be written", "is a file"],
    ),
    (
        "decompose no_bones.npz --target-error nan -o out.glb",
        &["--target-error NaN", "above 0"],
    ),
    (
        "decompose no_bones.npz --target-error 0 -o out.glb",
        &["--target-error 0", "above 0"],
    ),
    (
        "decompose no_bones.npz --bones 3 --smooth=-1 -o out.glb",
        &["--smooth -1", "at least 0"],
    ),
    (
        "decompose no_bones.npz --bones 3 --smooth nan -o out.glb",
        &["--smooth NaN", "at least 0"],
    ),
    (
        "decompose no_bones.npz --bones 3 --key-tolerance=-0.1 -o out.glb",
        &["--key-tolerance -0.1", "at least 0"],
    ),
    (
        "decompose no_bones.npz --bones 3 --key-tolerance inf -o out.glb",
        &["--key-tolerance inf", "at least 0"],
    ),
    (
        "decompose no_bones.npz --bones 3 --max-influences 33 -o out.glb",
        &["max_influences", "1 to 32"],
    ),
    (
        "decompose no_bones.npz --bones 3 --max-bones 9 -o out.glb",
        &["--max-bones", "--target-error"],
    ),
    // Rigs that cannot be kept.
    (
        "decompose no_bones.npz --weights-only -o out.glb",
        &["--weights-only", "--keep"],
    ),
    (
        "decompose no_bones.npz --transforms-only -o out.glb",
        &["--transforms-only", "--keep"],
    ),
    (
        "decompose no_bones.npz --bones 3 --lock fit:1 -o out.glb",
        &["--lock", "--keep"],
    ),
    (
        "decompose no_bones.npz --bones 3 --clip wave -o out.glb",
        &["--clip", "--keep"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb -o out.glb",
        &["--keep: say what to fit", "--bones N", "--weights-only"],
    ),
    (
        "decompose no_bones.npz --keep quad.obj --bones 1 -o out.glb",
        &["quad.obj", "a skin", "4 vertices"],
    ),
    (
        "decompose four.npz --keep tube.glb --bones 1 -o out.glb",
        &["tube.glb", "98 vertices", "the animation has 4"],
    ),
    (
        "decompose no_bones.npz --keep two.glb --clip run --bones 1 -o out.glb",
        &["two.glb", "no clip 'run'", "'frames', 'wave'"],
    ),
    (
        "decompose no_bones.npz --keep two.glb --bones 1 -o out.glb",
        &["two.glb", "several clips", "--clip"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --lock fit:some -o out.glb",
        &["--lock fit:some", "E_RMS"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --lock fit:-1 -o out.glb",
        &["--lock fit:-1", "E_RMS"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --lock missing.txt -o out.glb",
        &["--lock missing.txt", "fit:E"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --lock quad.obj -o out.glb",
        &["quad.obj", "vertex numbers from 0 to 97", "'v'"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --lock too_far.txt -o out.glb",
        &["too_far.txt", "from 0 to 97", "'98'"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 2 --weights-only -o out.glb",
        &["--weights-only", "leave --bones out"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 2 --transforms-only -o out.glb",
        &["--transforms-only", "--bones"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --transforms-only --lock fit:1 -o out.glb",
        &["--transforms-only", "leave --lock out"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --target-error 1 -o out.glb",
        &["--target-error", "--keep"],
    ),
    (
        "decompose no_bones.npz --keep tube.glb --bones 1 --hierarchy -o out.glb",
        &["--hierarchy", "--keep"],
    ),
];
