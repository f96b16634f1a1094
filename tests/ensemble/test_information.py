"""What clusterings tell of each other, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from coview.ensemble.information import contingency, information


@pytest.mark.parametrize("n_clusters", [1, 2, 9])
def test_it_is_the_same_as_in_scikit_learn_to_the_last_bit(rng, n_clusters):
    for n_docs in (2, 30, 400):
        one = rng.integers(-1, n_clusters, n_docs)
        other = np.where(rng.random(n_docs) < 0.6, one, rng.integers(0, n_clusters + 3, n_docs))
        table = contingency_matrix(one, other)
        np.testing.assert_array_equal(contingency(one, other), table)
        expected = mutual_info_score(one, other), expected_mutual_information(table, n_docs)
        assert information(contingency(one, other)) == expected
