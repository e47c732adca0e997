//! The same loops with and without threads, in the same order and with the same results.

#[cfg(feature = "threads")]
use rayon::prelude::*;

/// `work(state, 0..count)` in order, where each thread makes its own `state` once in a while.
///
/// The state is scratch memory: what `work` returns must not depend on its history.
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

/// `work(0..count)` in order.
pub(crate) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    map_with(count, || (), |(), i| work(i))
}

/// `work` on every item, which it may change; what it returns, in order.
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

/// Runs `work` on a thread of the pool, from which many short loops start sooner than from one outside of it.
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
