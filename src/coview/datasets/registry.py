"""`DATASETS`: what is known of the papers' data sets, such as their views, publisher and terms.

Loaders, importers, the command line and error messages read this table. Nothing here needs numpy,
so that `coview data list` is fast.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JIANG = "Jiang et al. 2012 (PairwiseCoPLSA)"
WANG_2017 = "Wang et al. 2017 (MGGM)"
KIM = "Kim et al. 2010 (VotedPLSA)"
WANG_2016 = "Wang et al. 2016 (DivergenceCoPLSA)"
ZHUANG = "Zhuang et al. 2012 (MVPLSA)"

NEWSGROUPS = (
    *("alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware"),
    *("comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles"),
    *("rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med"),
    *("sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast"),
    *("talk.politics.misc", "talk.religion.misc"),
)
UNIVERSITIES = {"cornell": 195, "texas": 187, "washington": 230, "wisconsin": 265}  # web pages


@dataclass(frozen=True)
class Dataset:
    """Facts about one data set.

    Attributes
    ----------
    name : str
        Its name, and that of its folder.
    title : str
    n_docs : int
    classes : tuple of str
        In the order of the labels.
    views : dict of str to int
        Number of columns of each view.
    publisher : str
        Address of the publisher's page.
    archive : str
        What to download from there.
    terms, citation : str
    papers : tuple of str
        The models' papers that use it.
    notes : tuple of str
        What to know before using it.
    default_views : tuple of str
        Views that its loader reads by default; empty if all.
    built_from : str or None
        The data set that it is made from when it is loaded; it then has no folder of its own.
    has_split : bool
        Whether the publisher says which documents are for training and which for testing.
    """

    name: str
    title: str
    n_docs: int
    classes: tuple[str, ...]
    views: Mapping[str, int]
    publisher: str
    archive: str
    terms: str
    citation: str
    papers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    default_views: tuple[str, ...] = ()
    built_from: str | None = None
    has_split: bool = False

    @property
    def folder(self) -> str:
        """Name of the folder that holds it, or the data set that it is built from."""
        return self.built_from or self.name

    @property
    def import_command(self) -> str:
        """The command that imports it, in a clone of coview's repository.

        >>> DATASETS["newsgv2"].import_command
        'python -m experiments import 20newsgroups ARCHIVE'
        """
        return f"python -m experiments import {self.folder} ARCHIVE"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        lists = {k: list(v) for k, v in vars(self).items() if isinstance(v, tuple)}
        return {**vars(self), **lists, "views": dict(self.views), "import": self.import_command}


def dataset(name: str) -> Dataset:
    """Return the data set of that name; ValueError with all names if there is none.

    >>> dataset("cora").n_docs
    2708
    """
    if name not in DATASETS:
        raise ValueError(f"There is no data set {name!r}; there are {', '.join(DATASETS)}.")
    return DATASETS[name]


_UCI_TERMS = "CC BY 4.0 (UCI repository; see the page)"
_LINQS_TERMS = "none stated; made public for research"
_SEN = "Sen et al., Collective classification in network data, AI Magazine 29(3), 2008"
_NEWS: dict[str, Any] = {
    "publisher": "http://qwone.com/~jason/20Newsgroups/",
    "archive": "20news-bydate.tar.gz",
    "terms": "none stated; public Usenet posts of 1993 with names and addresses of their writers",
    "citation": "Lang, NewsWeeder: learning to filter netnews, ICML 1995",
}
_REUTERS: dict[str, Any] = {
    "classes": ("E21", "CCAT", "M11", "GCAT", "C15", "ECAT"),
    "publisher": "https://archive.ics.uci.edu/dataset/259/reuters+rcv1+rcv2+multilingual+"
    "multiview+text+categorization+test+collection",
    "terms": "for research only",
}
_AMINI = (
    "Amini, Usunier & Goutte, Learning from multiple partially observed views: an application "
    "to multilingual text categorization, NIPS 2009"
)


def _webkb(university: str, n_docs: int) -> Dataset:
    return Dataset(
        name=f"webkb_{university}",
        title=f"WebKB, {university.capitalize()}: web pages, words and links",
        n_docs=n_docs,
        classes=("course", "faculty", "student", "project", "staff"),
        views={"content": 1703, "cites": n_docs},
        publisher="https://linqs.org/datasets/",
        archive="WebKB.tgz",
        terms=_LINQS_TERMS,
        citation="Craven et al., Learning to extract symbolic knowledge from the World Wide Web, "
        f"AAAI 1998; this version: {_SEN}",
        papers=(ZHUANG,) if university in ("cornell", "washington") else (),
        notes=(
            "Words are 0 or 1 and have no names.",
            "Many pages link in one direction only; the loader adds both.",
            "Staff and project are very small classes.",
        ),
    )


_ALL = (
    Dataset(
        name="mfeat",
        title="UCI Multiple Features: handwritten digits",
        n_docs=2000,
        classes=tuple("0123456789"),
        views={"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47},
        publisher="https://archive.ics.uci.edu/dataset/72/multiple+features",
        archive="multiple+features.zip",
        terms=_UCI_TERMS,
        citation="Duin, Multiple Features, UCI Machine Learning Repository, 1998",
        papers=(WANG_2017,),
        notes=(
            "kar has negative values; the paper leaves it out, and so does the loader by default: "
            'views="all" reads all six.',
            "The views have very different scales.",
        ),
        default_views=("pix", "fou", "fac", "zer", "mor"),
    ),
    Dataset(
        name="reuters1200",
        title="Reuters multilingual: a sample of 1,200 stories",
        n_docs=1200,
        views=dict.fromkeys(("en", "fr", "gr", "it", "sp"), 2000),
        archive="the sample as Reuters-1200.mat, or the whole collection, from which a like "
        "sample is drawn",
        citation=f"{_AMINI}; this sample: Bisson & Grimal, Co-clustering of multi-view datasets: "
        "a parallelizable approach, ICDM 2012",
        papers=(WANG_2017, JIANG, KIM),
        notes=(
            "Values are weights of the tf-idf type, not counts; words have no names.",
            "The names it and sp may be swapped, and the names of the classes are inferred; the "
            "partition itself is certain.",
            "Jiang et al. and Kim et al. used other samples of the same collection.",
        ),
        **_REUTERS,
    ),
    Dataset(
        name="reuters",
        title="Reuters multilingual: all stories in English",
        n_docs=18758,
        views={"en": 21531, "fr": 24893, "gr": 34279, "it": 15506, "sp": 11547},
        archive="rcv1rcv2aminigoutte.tar.bz2, also inside the zip file that the page offers",
        citation=_AMINI,
        papers=(JIANG, KIM),
        notes=(
            "Values are weights of the tf-idf type, not counts; words are numbers.",
            "The number of columns is that of words that occur, at most the one given here.",
        ),
        **_REUTERS,
    ),
    Dataset(
        name="20newsgroups",
        title="20 Newsgroups, sorted by date",
        n_docs=18846,
        classes=NEWSGROUPS,
        views={"words": 28769},
        papers=(ZHUANG,),
        notes=(
            "Words of the bodies: headers leak the group.",
            "39 posts have no word; some posts are encoded binaries, cross-posts or copies.",
        ),
        has_split=True,
        **_NEWS,
    ),
    Dataset(
        name="newsgv2",
        title="NewsGv2: posts of newsgroups in pairs",
        n_docs=1000,
        classes=("class1", "class2"),
        views={"view1": 3958, "view2": 7094},
        papers=(ZHUANG,),
        notes=("Drawn and paired at random; see load_newsgv2 for what the paper leaves open.",),
        built_from="20newsgroups",
        **_NEWS,
    ),
    Dataset(
        name="newsgv4",
        title="NewsGv4: posts of newsgroups in fours",
        n_docs=1500,
        classes=("class1", "class2", "class3"),
        views={"view1": 6827, "view2": 5974, "view3": 7229, "view4": 8919},
        papers=(ZHUANG,),
        notes=("Drawn and joined at random; see load_newsgv4 for what the paper leaves open.",),
        built_from="20newsgroups",
        **_NEWS,
    ),
    *(_webkb(university, n_docs) for university, n_docs in UNIVERSITIES.items()),
    Dataset(
        name="cora",
        title="Cora: papers, words and citations",
        n_docs=2708,
        classes=(
            *("Neural_Networks", "Rule_Learning", "Reinforcement_Learning"),
            *("Probabilistic_Methods", "Theory", "Genetic_Algorithms", "Case_Based"),
        ),
        views={"content": 1433, "cites": 2708, "inbound": 2708, "outbound": 2708},
        publisher="https://linqs.org/datasets/",
        archive="cora.tgz",
        terms=_LINQS_TERMS,
        citation=_SEN,
        papers=(WANG_2017,),
        notes=(
            "The paper used another version, of 12,004 papers in 10 classes.",
            "cites = inbound + outbound: do not use all three as if independent.",
            "Words are 0 or 1 and have no names.",
        ),
        default_views=("content", "cites"),
    ),
    Dataset(
        name="wikipedia",
        title="Wikipedia sections: text and image",
        n_docs=2866,
        classes=(
            *("art", "biology", "geography", "history", "literature"),
            *("media", "music", "royalty", "sport", "warfare"),
        ),
        views={
            "text_words": 15371,
            "image_sift128": 128,
            "text_lda10": 10,
            "text_tfidf1000": 1000,
        },
        publisher="http://www.svcl.ucsd.edu/projects/crossmodal/",
        archive="wikipedia_dataset.zip",
        terms="none stated for the features; the text is Wikipedia's (CC BY-SA, GFDL)",
        citation="Rasiwasia et al., A new approach to cross-modal multimedia retrieval, "
        "ACM Multimedia 2010",
        papers=(WANG_2016,),
        notes=(
            "The image view is weak: 128 normalized frequencies, not counts; the paper's has "
            "1,024 words.",
            "text_tfidf1000 is not part of the publisher's archive.",
        ),
        default_views=("text_words", "image_sift128"),
        has_split=True,
    ),
    Dataset(
        name="msrcv1",
        title="MSRC-v1: images of objects",
        n_docs=210,
        classes=tuple(f"class{i}" for i in range(1, 8)),
        views={"cm24": 24, "hog576": 576, "gist512": 512, "lbp256": 256, "centrist254": 254},
        publisher="https://github.com/ChuanbinZhang/Multi-view-datasets",
        archive="MSRC-v5.mat",
        terms="none stated; features of images of Microsoft Research Cambridge",
        citation="Winn & Jojic, LOCUS: learning object classes with unsupervised segmentation, "
        "ICCV 2005",
        notes=("In none of the papers: a small stand-in for NUS-WIDE.",),
        default_views=("cm24", "hog576", "gist512", "lbp256", "centrist254"),
    ),
)
DATASETS: dict[str, Dataset] = {entry.name: entry for entry in _ALL}
