//! The graphics card that tests use, or why they skip.

use std::sync::OnceLock;

use dermis_gpu::{Gpu, GpuError};

/// One card for all tests; `None`, with a printed message, where there is none.
///
/// With `DERMIS_REQUIRE_GPU` set, as the test command does where it could install a driver, its absence fails the test.
pub(crate) fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Result<Gpu, GpuError>> = OnceLock::new();
    match GPU.get_or_init(Gpu::new) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            assert!(
                std::env::var_os("DERMIS_REQUIRE_GPU").is_none(),
                "DERMIS_REQUIRE_GPU is set, but {error}"
            );
            eprintln!("skipped: {error}");
            None
        }
    }
}
