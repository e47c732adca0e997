//! Tests of file formats. One binary with a module per subject, so that it links only once.

mod affine_bones_on_animations;
mod alembic;
mod anim_space_on_characters;
mod assembled;
mod atlases_of_real_files;
mod decompositions_in_pieces;
mod decompositions_of_animations;
mod distances_on_characters;
mod exact_skins;
mod example_sets;
mod examples_run;
mod formats;
mod formats_hostile;
mod formats_keep_their_promises;
mod glb_plays_elsewhere;
mod levels_on_characters;
mod normals_on_characters;
mod old_versions;
#[path = "../../../../tests/support/overlaps.rs"]
mod overlaps;
mod pose_space_files;
mod proxy_files;
mod read_gltf;
mod sculpting_projects;
mod sequences;
mod shapes_of_their_meshes;
mod skin_that_turns_on_characters;
mod subdivided;
#[path = "../../../../tests/support/mod.rs"]
mod support;
