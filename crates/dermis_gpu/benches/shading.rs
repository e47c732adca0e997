//! What shading costs: normals of vertices, a fixed normal map, and a tangent map that is made anew in every frame.
//!
//! `cargo bench -p dermis_gpu --features wgpu --bench shading` prints a table. A picture of a coarse tube is drawn with and
//! without a normal map, so the ratio is that of whole pictures; passes that make a tangent map are timed one by one. The best
//! of several runs counts.

#[cfg(not(feature = "wgpu"))]
fn main() {
    println!("needs --features wgpu");
}

#[cfg(feature = "wgpu")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    with_gpu::main()
}

#[cfg(feature = "wgpu")]
mod with_gpu {
    use std::time::Instant;

    use dermis::bake::{AtlasOptions, DrawnSurface, MatchOptions, SurfaceMap, match_surfaces};
    use dermis::mesh::vertex_normals;
    use dermis::run::{PackOptions, PackedSkin};
    use dermis::synth::{Tube, TubeOptions, tube};
    use dermis_gpu::draw::Renderer;
    use dermis_gpu::layout::{GpuSkin, face_table, texel_table};
    use dermis_gpu::skin::{FaceNormalPass, SkinBuffers, SkinPipelines, TangentMapPass};
    use dermis_gpu::{Gpu, GpuError};
    use dermis_render::glam::{Vec2, Vec3, Vec4};
    use dermis_render::{
        Camera, Material, NormalMap, Paint, Scene, Surface, TexturePicture, UpAxis,
    };

    const PICTURE: u32 = 512;
    const ATLAS: [usize; 2] = [256, 512];
    const RUNS: usize = 7;

    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        let gpu = Gpu::new()?;
        println!("{}\n", gpu.description());
        let (fine, coarse) = (made(100, 50), made(8, 8));
        println!("| picture of {PICTURE} × {PICTURE} | ms | ratio |\n| --- | ---: | ---: |");
        let [plain, mapped] = pictures(&gpu, &coarse)?;
        println!("| normals of vertices | {plain:.1} | 1.00 |");
        println!("| normal map | {mapped:.1} | {:.2} |\n", mapped / plain);
        println!("| tangent map | texels | ms |\n| --- | ---: | ---: |");
        let vertices = fine.examples.rest().vertex_count();
        for (name, texels, ms) in passes(&gpu, &fine, &coarse)? {
            println!("| {name}, {vertices} vertices | {texels} | {ms:.3} |");
        }
        Ok(())
    }

    fn made(ring_count: usize, segment_count: usize) -> Tube {
        tube(&TubeOptions {
            ring_count,
            segment_count,
            bone_count: 4,
            example_count: 2,
        })
    }

    fn best(mut work: impl FnMut() -> Result<(), GpuError>) -> Result<f64, GpuError> {
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            let begun = Instant::now();
            work()?;
            best = best.min(begun.elapsed().as_secs_f64());
        }
        Ok(1e3 * best)
    }

    /// Milliseconds of a picture with the normals of vertices, and with a normal map.
    fn pictures(gpu: &Gpu, coarse: &Tube) -> Result<[f64; 2], Box<dyn std::error::Error>> {
        let mesh = coarse.examples.rest();
        let triangles = mesh.triangles();
        let positions: Vec<Vec3> = mesh.positions().iter().map(|p| p.as_vec3()).collect();
        let normals = vertex_normals(mesh.positions(), triangles);
        let normals: Vec<Vec3> = normals.iter().map(|n| n.as_vec3()).collect();
        let tangents: Vec<Vec4> = (normals.iter())
            .map(|n| n.any_orthonormal_vector().extend(1.0))
            .collect();
        let uvs: Vec<Vec2> = positions.iter().map(|p| Vec2::new(p.x, p.y)).collect();
        let bumps =
            (0..256u32 * 256).map(|n| [(96 + n % 64) as u8, (96 + n / 1024) as u8, 240, 255]);
        let bumps = TexturePicture::linear(256, 256, bumps.collect())?;
        let camera = Camera::three_quarter(&[&positions], UpAxis::Y, 1.0);
        let map = NormalMap {
            uvs: &uvs,
            picture: &bumps,
            tangents: &tangents,
            scale: 1.0,
        };
        let mut renderer = Renderer::new(gpu.clone())?;
        let scenes = [None, Some(map)].map(|normal_map| {
            let paint = Paint::Material(Material {
                normal_map,
                ..Material::default()
            });
            Scene {
                surfaces: vec![Surface::new(&positions, &normals, triangles).painted(paint)],
                ..Scene::default()
            }
        });
        // In turns, so that both meet the same load.
        let mut times = [f64::INFINITY; 2];
        for _ in 0..2 * RUNS {
            for (time, scene) in times.iter_mut().zip(&scenes) {
                let begun = Instant::now();
                renderer.rasterize(scene, &camera, PICTURE, PICTURE)?;
                *time = time.min(1e3 * begun.elapsed().as_secs_f64());
            }
        }
        Ok(times)
    }

    /// The texels of a coarse tube, seen from the side, and the points of a fine one that they show.
    fn matched(
        fine: &Tube,
        coarse: &Tube,
        size: usize,
    ) -> Result<SurfaceMap, Box<dyn std::error::Error>> {
        let shape = |made: &Tube| [made.examples.rest().positions().to_vec()];
        let (fine_shape, coarse_shape) = (shape(fine), shape(coarse));
        let triangles = [fine, coarse].map(|made| made.examples.rest().triangles());
        let normals = [
            [vertex_normals(&fine_shape[0], triangles[0])],
            [vertex_normals(&coarse_shape[0], triangles[1])],
        ];
        let low = coarse_shape[0].iter().copied().reduce(|a, b| a.min(b));
        let high = coarse_shape[0].iter().copied().reduce(|a, b| a.max(b));
        let (low, high) = low.zip(high).ok_or("a tube without points")?;
        let place = |p: &glam::DVec3| {
            let at = (*p - low) / (high - low);
            [at.x as f32, at.y as f32]
        };
        let uvs: Vec<[f32; 2]> = coarse_shape[0].iter().map(place).collect();
        let near = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(|v| coarse_shape[0][v as usize]);
            (b - a).cross(c - a).z > 0.0
        };
        let near: Vec<[u32; 3]> = triangles[1].iter().filter(near).copied().collect();
        let source = DrawnSurface {
            triangles: triangles[0],
            parts: &[],
            uvs: &[],
            positions: &fine_shape,
            normals: &normals[0],
        };
        let target = DrawnSurface {
            triangles: &near,
            parts: &[],
            uvs: &uvs,
            positions: &coarse_shape,
            normals: &normals[1],
        };
        let atlas = AtlasOptions {
            size,
            samples: 1,
            ..AtlasOptions::default()
        };
        Ok(match_surfaces(
            &target,
            &source,
            atlas,
            &MatchOptions::default(),
        )?)
    }

    /// What a pass of a tangent map takes: its name, how many texels it writes, milliseconds.
    type Timed = (&'static str, usize, f64);

    /// The passes of a tangent map, one by one.
    fn passes(
        gpu: &Gpu,
        fine: &Tube,
        coarse: &Tube,
    ) -> Result<Vec<Timed>, Box<dyn std::error::Error>> {
        let packed = PackedSkin::new(&fine.truth, &PackOptions::default())?;
        let skin = GpuSkin::new(&packed)?;
        let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
        let buffers = SkinBuffers::new(gpu, &pipelines, skin, 1)?;
        let triangles = fine.examples.rest().triangles();
        let table = face_table(triangles, packed.vertex_count())?;
        let faces = FaceNormalPass::new(gpu, &table, buffers.positions())?;
        let timed = |work: &dyn Fn(&mut wgpu::ComputePass<'_>) -> Result<(), GpuError>| {
            best(|| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                work(&mut encoder.begin_compute_pass(&Default::default()))?;
                gpu.queue.submit([encoder.finish()]);
                gpu.wait()
            })
        };
        let mut found = vec![
            ("an empty pass", 0, timed(&|_| Ok(()))?),
            (
                "skinning",
                0,
                timed(&|pass| buffers.dispatch(&pipelines, pass))?,
            ),
            (
                "normals of faces",
                0,
                timed(&|pass| {
                    faces.dispatch(pass);
                    Ok(())
                })?,
            ),
        ];
        for size in ATLAS {
            let map = matched(fine, coarse, size)?;
            let texels = texel_table(&map, triangles, 2)?;
            let pass = TangentMapPass::new(gpu, &texels, faces.normals())?;
            let ms = timed(&|at| {
                pass.dispatch(at);
                Ok(())
            })?;
            found.push(("normals of texels", texels.texel_count(), ms));
        }
        Ok(found)
    }
}
