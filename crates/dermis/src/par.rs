//! Loops that give the same results in the same order with and without threads.

#[cfg(feature = "threads")]
use rayon::prelude::*;

/// Returns `work(state, i)` for every `i` in `0..count`, in order; each thread makes a `state` of its own now and then.
///
/// The state is scratch memory: the results of `work` must not depend on earlier calls.
pub(crate) fn map_with<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, usize) -> T + Sync + Send,
) -> Vec<T> {
    #[cfg(feature = "threads")]
    {
        (0..count).into_par_iter().map_init(state, work).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        let mut state = state();
        (0..count).map(|i| work(&mut state, i)).collect()
    }
}

/// Returns `work(i)` for every `i` in `0..count`, in order.
pub(crate) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    map_with(count, || (), |(), i| work(i))
}

/// Calls `work` on every item, which it may change, and returns the results in order.
pub(crate) fn map_mut<S: Send, T: Send>(
    items: &mut [S],
    work: impl Fn(usize, &mut S) -> T + Sync + Send,
) -> Vec<T> {
    #[cfg(feature = "threads")]
    {
        let items = items.par_iter_mut().enumerate();
        items.map(|(i, item)| work(i, item)).collect()
    }
    #[cfg(not(feature = "threads"))]
    {
        let items = items.iter_mut().enumerate();
        items.map(|(i, item)| work(i, item)).collect()
    }
}

/// Runs `work` on a thread of the pool: many short loops start faster from there than from a thread outside it.
pub(crate) fn within_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    #[cfg(feature = "threads")]
    {
        rayon::scope(|_| work())
    }
    #[cfg(not(feature = "threads"))]
    {
        work()
    }
}
