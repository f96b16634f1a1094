"""What a fitted model says: its topics as plain data, and `report`, how good it is.

What is where:

* `terms`: the words of topics, `top_terms` and `summarize_topics`;
* `summary`: `report`, which puts it together; `value`: what it is, `Report`;
* `folding`: each view folded in alone, and documents resampled from the model;
* `disagreement`: where views disagree beyond chance;
* `topics`, `quality`, `search`: topics, views, and search of one view with another;
* `sentences`, `page`: the same in words, and as a page of text.
"""

from typing import TYPE_CHECKING

from coview._lazy import lazy_names

# The modules of the public names, imported on first use: the words of topics are shown without
# SciPy and scikit-learn.
_HOMES = {
    "report": "summary",
    "Report": "value",
    "TopicReport": "value",
    "ViewReport": "value",
    "Disagreement": "value",
    "SearchQuality": "value",
    "top_terms": "terms",
    "terms_frame": "terms",
    "topic_names": "terms",
    "topic_stability": "terms",
    "summarize_topics": "terms",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from coview.reporting.summary import report as report
    from coview.reporting.terms import summarize_topics as summarize_topics
    from coview.reporting.terms import terms_frame as terms_frame
    from coview.reporting.terms import top_terms as top_terms
    from coview.reporting.terms import topic_names as topic_names
    from coview.reporting.terms import topic_stability as topic_stability
    from coview.reporting.value import Disagreement as Disagreement
    from coview.reporting.value import Report as Report
    from coview.reporting.value import SearchQuality as SearchQuality
    from coview.reporting.value import TopicReport as TopicReport
    from coview.reporting.value import ViewReport as ViewReport

__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
