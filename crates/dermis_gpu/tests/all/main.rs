//! Everything that skins of dermis do on a graphics card, next to what they do on the processor.

mod layout_equals_run;
#[path = "../../../dermis/tests/all/run_support/mod.rs"]
mod run_support;
mod skins;
#[path = "../../../../tests/support/mod.rs"]
mod support;
