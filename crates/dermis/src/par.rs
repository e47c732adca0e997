//! Loops that give the same results in the same order with and without threads.
//!
//! The loops of a library this size are many, and what rayon makes of one is some ninety functions. So only
//! [`for_each`] knows rayon, and it takes its work as a trait object, for a run of items at a time: the machinery is
//! compiled once, and the indirect call costs nothing beside the items.

use std::sync::{Mutex, PoisonError};

/// Runs of items for each thread: enough that one with much work does not keep the others waiting.
#[cfg(feature = "threads")]
const RUNS_PER_THREAD: usize = 32;

/// Returns `work(state, i)` for every `i` in `0..count`, in order; each thread makes a `state` of its own now and then.
///
/// The state is scratch memory: the results of `work` must not depend on earlier calls.
pub(crate) fn map_with<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, usize) -> T + Sync + Send,
) -> Vec<T> {
    let length = run_length(count);
    let runs: Vec<Mutex<Vec<T>>> = (0..count.div_ceil(length))
        .map(|_| Mutex::default())
        .collect();
    for_each(runs.len(), &|run| {
        let mut state = state();
        let items = run * length..count.min((run + 1) * length);
        let results = items.map(|i| work(&mut state, i)).collect();
        *runs[run].lock().unwrap_or_else(PoisonError::into_inner) = results;
    });
    joined(count, runs.into_iter().map(inner))
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
    let (count, length) = (items.len(), run_length(items.len()));
    let runs = items.chunks_mut(length).map(|run| (run, Vec::new()));
    let runs: Vec<Mutex<(&mut [S], Vec<T>)>> = runs.map(Mutex::new).collect();
    for_each(runs.len(), &|run| {
        let mut own = runs[run].lock().unwrap_or_else(PoisonError::into_inner);
        let (items, results) = &mut *own;
        let numbered = (run * length..).zip(items.iter_mut());
        results.extend(numbered.map(|(i, item)| work(i, item)));
    });
    joined(count, runs.into_iter().map(|run| inner(run).1))
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

/// Calls `work` with every number in `0..count`, on all threads of the pool.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        (0..count).into_par_iter().for_each(work);
    }
    #[cfg(not(feature = "threads"))]
    {
        (0..count).for_each(work);
    }
}

/// How many items make a run.
fn run_length(count: usize) -> usize {
    #[cfg(feature = "threads")]
    let runs = RUNS_PER_THREAD * rayon::current_num_threads();
    #[cfg(not(feature = "threads"))]
    let runs = 1;
    count.div_ceil(runs).max(1)
}

fn inner<T>(run: Mutex<T>) -> T {
    run.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The results of all runs, one after the other.
fn joined<T>(count: usize, runs: impl Iterator<Item = Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    runs.for_each(|run| all.extend(run));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_items() {
        for count in [0, 1, 2, 31, 64, 65, 1000, 4097] {
            let expected: Vec<usize> = (0..count).map(|i| 3 * i).collect();
            assert_eq!(map(count, |i| 3 * i), expected, "{count} items");
            let mut items = vec![1; count];
            let changed = map_mut(&mut items, |i, item| {
                *item += i;
                3 * i
            });
            assert_eq!(changed, expected, "{count} items that change");
            assert!(items.iter().copied().eq(1..=count), "each changed once");
        }
    }

    #[test]
    fn a_panic_in_the_work_reaches_the_caller() {
        let ended = std::panic::catch_unwind(|| map(100, |i| assert!(i != 57, "item 57")));
        assert!(ended.is_err(), "it is passed on");
    }
}
