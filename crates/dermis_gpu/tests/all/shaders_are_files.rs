//! The shaders as files: valid for WebGPU's default profile, short, without copies that differ, and the same in GLSL and HLSL.
//!
//! `DERMIS_REFRESH=1 cargo test -p dermis_gpu --test all shaders_are_files` writes the GLSL and HLSL files anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use naga::back::{glsl, hlsl};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders")
}

/// Name and source of the shaders that stand alone: those that skin, and normals of faces.
fn sources() -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder()).expect("the folder of shaders");
    let paths = files.map(|file| file.expect("a file").path());
    let mut sources: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "wgsl"))
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("text"))
        })
        .filter(|(name, _)| {
            name.starts_with("skin_") || ["face_normals", "tangent_map"].contains(&&name[..])
        })
        .collect();
    sources.sort();
    assert_eq!(
        sources.len(),
        12,
        "four programs in two stages, one of them in the space of the rest pose, and two of normals"
    );
    sources
}

fn parsed(name: &str, source: &str) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
    (module, info)
}

#[test]
fn shaders_are_valid_short_and_within_the_default_limits() {
    for (name, source) in sources() {
        let (module, info) = parsed(&name, &source);
        let lines = source.lines().count();
        assert!(
            lines < 100,
            "{name}.wgsl has {lines} lines; less than 100 are read at once"
        );
        for (number, entry) in module.entry_points.iter().enumerate() {
            let invocations: u32 = entry.workgroup_size.iter().product();
            assert!(
                invocations <= 256,
                "{name}: {invocations} invocations in a workgroup"
            );
            let own = info.get_entry_point(number);
            let storage = (module.global_variables.iter())
                .filter(|(_, v)| matches!(v.space, AddressSpace::Storage { .. }))
                .filter(|(handle, _)| !own[*handle].is_empty());
            let count = storage.count();
            assert!(
                count <= 8,
                "{name}: {count} storage buffers in {}",
                entry.name
            );
        }
    }
}

/// The functions of a shader, by name.
fn functions(source: &str) -> BTreeMap<String, String> {
    let starts = source.match_indices("\nfn ");
    starts
        .map(|(start, _)| {
            let text = &source[start + 1..];
            let end = text.find("\n}\n").expect("an end") + 3;
            let name = text[3..].split('(').next().expect("a name");
            (name.to_owned(), text[..end].to_owned())
        })
        .collect()
}

#[test]
fn functions_of_one_name_are_the_same_in_all_shaders() {
    // The stages of one program share everything, and all programs how numbers are read.
    let sources: BTreeMap<_, _> = sources().into_iter().collect();
    let mut compared = 0;
    for (name, source) in sources
        .iter()
        .filter(|(name, _)| name.starts_with("skin_vertex_"))
    {
        let twin = &sources[&name.replace("skin_vertex_", "skin_")];
        let mut own = functions(source);
        let mut others = functions(twin);
        // The entry points differ.
        own.remove("vertex");
        others.remove("skin");
        assert_eq!(own, others, "{name} and its compute pass");
        let first = functions(&sources["skin_linear"]);
        for shared in ["number", "three", "displacement", "finished"] {
            assert_eq!(own[shared], first[shared], "{shared} of {name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 20, "four functions of five shaders");
}

/// All files that are made from the WGSL ones: path and text.
fn made() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for (name, source) in sources() {
        // Constants as variables that nobody writes: whoever takes the file can still change them, and compilers see
        // through it. As constants they would be folded, and gone.
        let (module, info) = parsed(&name, &source.replace("override ", "var<private> "));
        for entry in &module.entry_points {
            let ending = match entry.stage {
                ShaderStage::Vertex => "vert",
                _ => "comp",
            };
            let stem = match module.entry_points.len() {
                1 => name.clone(),
                _ => format!("{name}_{}", entry.name),
            };
            let head = head(&name, &module, |b, space, place| match space {
                AddressSpace::Uniform => format!("uniform block {place}, {}", mangled(b)),
                _ => format!("storage block {place}, {}", mangled(b)),
            });
            let text = to_glsl(&module, &info, entry.stage, &entry.name);
            files.push((folder().join(format!("glsl/{stem}.{ending}")), head + &text));
        }
        let head = head(&name, &module, |b, space, _| match space {
            AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
                format!("register u{}, space {}", b.binding, b.group)
            }
            AddressSpace::Uniform => format!("register b{}, space {}", b.binding, b.group),
            _ => format!("register t{}, space {}", b.binding, b.group),
        });
        let text = to_hlsl(&module, &info);
        files.push((folder().join(format!("hlsl/{name}.hlsl")), head + &text));
    }
    files
}

fn mangled(binding: naga::ResourceBinding) -> String {
    format!("_group_{}_binding_{}", binding.group, binding.binding)
}

/// What a reader of the file has to know: where it comes from, and which buffer goes where.
fn head(
    name: &str,
    module: &Module,
    place: impl Fn(naga::ResourceBinding, AddressSpace, u32) -> String,
) -> String {
    let mut text = format!(
        "// Made from {name}.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.\n\
         // Buffers, as the README of dermis_gpu describes them:\n"
    );
    let places = places(module);
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = variable.binding else {
            continue;
        };
        let number = places
            .iter()
            .find(|(b, _)| *b == binding)
            .expect("all are numbered")
            .1;
        let own = variable.name.as_deref().unwrap_or_default();
        let place = place(binding, variable.space, number);
        text += &format!("//   {own}: {place}\n");
    }
    text
}

/// The place of each buffer: storage buffers are counted, and so are uniforms, by group and binding.
fn places(module: &Module) -> Vec<(naga::ResourceBinding, u32)> {
    let mut uniforms = Vec::new();
    let mut storage = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        match (variable.space, variable.binding) {
            (AddressSpace::Uniform, Some(binding)) => uniforms.push(binding),
            (_, Some(binding)) => storage.push(binding),
            _ => {}
        }
    }
    let numbered = |mut list: Vec<naga::ResourceBinding>| {
        list.sort_by_key(|b| (b.group, b.binding));
        list.into_iter().zip(0..).collect::<Vec<_>>()
    };
    [numbered(uniforms), numbered(storage)].concat()
}

fn to_glsl(module: &Module, info: &ModuleInfo, stage: ShaderStage, entry: &str) -> String {
    let options = glsl::Options {
        version: glsl::Version::Desktop(450),
        writer_flags: glsl::WriterFlags::empty(),
        binding_map: places(module)
            .into_iter()
            .map(|(b, place)| (b, place as u8))
            .collect(),
        zero_initialize_workgroup_memory: false,
    };
    let pipeline = glsl::PipelineOptions {
        shader_stage: stage,
        entry_point: entry.to_owned(),
        multiview: None,
    };
    let mut text = String::new();
    glsl::Writer::new(
        &mut text,
        module,
        info,
        &options,
        &pipeline,
        Default::default(),
    )
    .expect("GLSL 4.5 has all of it")
    .write()
    .expect("GLSL 4.5 has all of it");
    text
}

fn to_hlsl(module: &Module, info: &ModuleInfo) -> String {
    let target = |b: &naga::ResourceBinding| hlsl::BindTarget {
        space: b.group as u8,
        register: b.binding,
        ..Default::default()
    };
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        binding_map: places(module)
            .into_iter()
            .map(|(b, _)| (b, target(&b)))
            .collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: None };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .expect("shader model 6 has all of it");
    text
}

#[test]
fn glsl_and_hlsl_files_are_what_the_wgsl_ones_become() {
    let refresh = std::env::var_os("DERMIS_REFRESH").is_some();
    let made = made();
    for (path, text) in &made {
        if refresh {
            std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            std::fs::write(path, text).expect("written");
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == *text,
            "{} is not what its WGSL file becomes: DERMIS_REFRESH=1 cargo test -p dermis_gpu --test all \
             shaders_are_files writes it anew",
            path.display()
        );
    }
    for language in ["glsl", "hlsl"] {
        let files = std::fs::read_dir(folder().join(language)).expect("a folder");
        let own = made
            .iter()
            .filter(|(path, _)| path.parent() == Some(&folder().join(language)));
        assert_eq!(
            files.count(),
            own.count(),
            "no file of {language} is left from another time"
        );
    }
}
