//! The programs in `examples/`, each of which checks what it says: built and run as they are.

#[path = "../../../../examples/bounds_in_a_loop.rs"]
mod bounds_in_a_loop;
#[path = "../../../../examples/custom_kernel.rs"]
mod custom_kernel;
#[path = "../../../../examples/decompose_an_animation.rs"]
mod decompose_an_animation;
#[path = "../../../../examples/fit_from_code.rs"]
mod fit_from_code;
#[path = "../../../../examples/load_and_play.rs"]
mod load_and_play;

#[test]
fn a_file_is_loaded_and_played() {
    load_and_play::main().expect("its own checks hold");
}

#[test]
fn arrays_are_fitted_from_code() {
    fit_from_code::main().expect("its own checks hold");
}

#[test]
fn an_animation_is_decomposed() {
    decompose_an_animation::main().expect("its own checks hold");
}

#[test]
fn a_crowd_is_culled_in_a_loop() {
    bounds_in_a_loop::main().expect("its own checks hold");
}

#[test]
fn a_kernel_of_ones_own_agrees_with_ours() {
    custom_kernel::main().expect("its own checks hold");
}
