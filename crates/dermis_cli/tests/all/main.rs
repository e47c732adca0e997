//! User stories, told with the real binary. One binary, a module per subject: it links once.

mod bad_input_gets_one_sentence;
mod bench_times_a_skin;
mod bound_a_crowd;
mod clips_of_a_fit;
mod common;
mod compare_decompositions;
mod compare_methods;
mod convert_anything;
mod decompose_animations;
mod decompose_onto_a_rig;
mod decompose_real_animations;
mod demo_shows_the_fix;
mod every_method;
mod files_stay_whole;
mod fit_a_known_rig;
mod fit_with_any_method;
mod glb_plays_elsewhere;
mod info_says_what_is_there;
mod input_that_cannot_be_right;
mod numbers_have_limits;
mod proxy_bones;
mod psd_check;
mod rig_from_meshes_alone;
mod same_on_any_threads;
mod sculpt_a_face;
mod sculpt_an_elbow;
mod shapes_on_a_body;
mod skin_that_turns;
mod statistics_of_joints;
mod stops_cleanly;
mod subdivide_a_skin;
#[path = "../../../../tests/support/mod.rs"]
mod support;
