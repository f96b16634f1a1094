"""What a fitted model says: its topics as plain data, and `summarize`, how good it is.

What is where:

* `terms`: the words of topics, `top_terms` and `summarize_topics`;
* `summary`: `summarize`, which puts a report together; `value`: what it is, `Report`;
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
    "summarize": "summary",
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
    from coview.report.summary import summarize as summarize
    from coview.report.terms import summarize_topics as summarize_topics
    from coview.report.terms import terms_frame as terms_frame
    from coview.report.terms import top_terms as top_terms
    from coview.report.terms import topic_names as topic_names
    from coview.report.terms import topic_stability as topic_stability
    from coview.report.value import Disagreement as Disagreement
    from coview.report.value import Report as Report
    from coview.report.value import SearchQuality as SearchQuality
    from coview.report.value import TopicReport as TopicReport
    from coview.report.value import ViewReport as ViewReport

__getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)
