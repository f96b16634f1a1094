"""Naive reference implementations, straight from the papers, that decide what the engine must do.

Dense float64 arrays, explicit posteriors or explicit loops, no cleverness and no import from
coview. A test starts the engine and the reference from the same parameters and compares.

Conventions of all modules here
-------------------------------
* `X` is (D, W) documents x terms; probability arrays are named `p_<outcome>_<condition>` with the
  condition on axis 0; `theta` is p(z|d), (D, K). Every row sums to one.
* 0/0 = 0 in an E-step, 0 log 0 = 0 in an objective; a positive count whose probability is 0 makes
  the objective minus infinity (the references have no floor).
* A row of expected counts without mass (empty document, dead topic) keeps its old row.
* `pinned` is a (D,) boolean mask (or None): those rows of theta never move, but their documents
  feed the emissions. `present` is (D, V) boolean (or None): an absent view contributes nothing.
* Iterating functions return `(states, values)`: the parameters after each iteration
  (`n_iter` of them) and the objective at the start and after each (`n_iter + 1` of them).

Papers: 000 = Jiang et al. 2012 (pairwise CoPLSA), 001 = Wang et al. 2017 (MGGM, LTM), 002 = Kim et
al. 2010 (voted-PLSA), 003 = Wang et al. 2016 (coPLSA, divergences), 004 = Zhuang et al. 2012
(MVPLSA, dual PLSA).
"""
