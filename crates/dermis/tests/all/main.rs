//! The library as its users meet it. One binary, a module per subject: it links once.

mod affine_bones;
mod anim_space_fit;
mod anim_space_textbook;
mod any_unit_of_length;
mod bones_from_meshes;
mod bones_of_exact_rigs;
mod bounds;
mod decompose;
mod decompose_pieces;
mod every_method;
mod every_skin;
mod fewer_keys;
mod joined_small_animations;
mod layers;
mod levels_of_detail;
mod method_options;
mod metric;
mod metric_long_averages;
mod metric_support;
mod multi_weight_fit;
mod normals;
#[path = "../../../../tests/support/overlaps.rs"]
mod overlaps;
mod plain_exact;
mod pose_space_deformation;
mod poses_from_meshes;
mod progressive_levels;
mod proxy_clips;
mod psd_fit;
mod pseudo_bones;
mod rotational_regression;
mod run_drivers;
mod run_equals_eval;
mod run_normals;
mod run_pose;
mod run_proxies;
mod run_support;
mod ssd_fit;
mod subdivision;
#[path = "../../../../tests/support/mod.rs"]
mod support;
mod texture_atlases;
