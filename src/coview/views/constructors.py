"""The ways from raw documents to `Views`: texts, DataFrames and files of rows.

The ways from pictures, links, files of matrices and multi-omics data to `Views`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from coview.reading.columns import Roles


# what does the work is imported when it is first used: scikit-learn takes its time
Columns = str | Iterable[str] | Mapping[str, str] | None


class FromRaw:
    """Constructors of `Views` that count terms themselves and keep the recipe of each view."""

    __slots__ = ()
    __init__: Any

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[str, Iterable[Any]] | Iterable[Any],
        *,
        ids: Any = None,
        labels: Any = None,
        label_names: Sequence[str] | None = None,
        vectorizer: Any = None,
        languages: str | Mapping[str, str | None] | None = "auto",
        stop_words: Any = "auto",
        min_df: int | float | None = None,
        max_df: int | float | None = None,
        max_features: int | None = None,
        ngram_range: tuple[int, int] = (1, 1),
    ) -> Self:
        """Count the words of texts.

        Words are found in any script: see `coview.reading.words.split_words`. They are put in lower
        case; stop words, words in fewer than `min_df` and words in more than `max_df` documents
        are left out. A document without a text (None, NaN, blank) lacks the view; one whose words
        are all left out has it, and it is empty.

        Parameters
        ----------
        texts : dict view -> iterable of str or None
            A text for each document. A view may hold lists of tokens instead, which are counted as
            they are. Without a dict, the view is called ``text``.
        ids, labels, label_names : default=None
            As in the constructor.
        vectorizer : CountVectorizer, TfidfVectorizer, or dict view -> one, default=None
            scikit-learn's, for views that need another way of counting. It is copied, and its own
            settings hold instead of those below.
        languages : {"auto"}, str, None, or dict view -> str or None, default="auto"
            The language of each view, by code or name, for its stop words. "auto": the one that
            the view's name speaks of ("en", "text_de", "french"), if any. None: none.
        stop_words : {"auto"}, list of str, None, or dict view -> one of these, default="auto"
            Words to leave out. "auto": those of the view's language.
        min_df : int, float or None, default=None
            A word must be in so many documents (int) or such a share (float) of those that have
            the view. None: 1 if these are fewer than 50, and 2 otherwise.
        max_df : int, float or None, default=None
            A word must not be in more documents than that. None: 1.0 (no limit) if fewer than 10
            documents have the view, and 0.5 otherwise.
        max_features : int, default=None
            Keep only so many words, the most frequent.
        ngram_range : (int, int), default=(1, 1)
            Shortest and longest runs of words to count as terms.

        Raises
        ------
        ValueError
            If no word of a view is left; if a text is mostly in a script that does not part words
            (Thai, Lao, Khmer, Burmese, Tibetan) and there is no vectorizer for it.

        Examples
        --------
        >>> from coview import Views
        >>> views = Views.from_texts({
        ...     "en": ["the cat and the dog", "dogs sleep", None],
        ...     "de": ["Katze und Hund", "Hunde schlafen", "die Maus"],
        ... })
        >>> views.features["en"].tolist(), views.features["de"].tolist()
        (['cat', 'dog', 'dogs', 'sleep'], ['hund', 'hunde', 'katze', 'maus', 'schlafen'])
        >>> views.present[:, 0].tolist()
        [True, True, False]
        """
        from coview.reading.columns import read_texts
        from coview.reading.text import TextOptions

        options = TextOptions(
            vectorizer, languages, stop_words, min_df, max_df, max_features, ngram_range
        )
        parts = read_texts(texts, options)
        return cls(**parts, ids=ids, labels=labels, label_names=label_names)

    @classmethod
    def from_table(
        cls,
        path: str | os.PathLike[str],
        *,
        text: Columns = None,
        tokens: Columns = None,
        image: Columns = None,
        id: str | None = None,
        label: str | None = None,
        encoding: str = "utf-8",
        delimiter: str | None = None,
        quotechar: str | None = '"',
        separator: str | None = None,
        image_options: Mapping[str, Any] | None = None,
        on_bytes: Any = None,
        **options: Any,
    ) -> Self:
        """Count the words of a file of rows, read row by row: CSV, TSV, JSON Lines or Parquet.

        Memory grows with the counts and the vocabulary, not with the file.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv``, ``.tab``, ``.jsonl``, ``.ndjson``, ``.json`` (one object a line),
            each also with ``.gz`` after it, or ``.parquet``. The first row of a CSV or TSV file
            names the columns.
        text, tokens, image : str, list of str, or dict view -> column, default=None
            Columns of texts; of tokens, which are counted as they are; of paths of pictures,
            relative to the folder of the table. Each is a view, called like its column unless a
            dict says otherwise. An empty cell is a view that the document lacks.
        id : str, default=None
            The column of the documents' names.
        label : str, default=None
            The column of their classes: integers, or texts, which become numbers of their sorted
            names (`label_names`). An empty cell is unlabeled.
        encoding : str, default="utf-8"
        delimiter : str, default=None
            What parts the cells of a line; None: a comma, or a tab in ``.tsv`` and ``.tab``.
        quotechar : str or None, default='"'
            What cells that hold a delimiter or the end of a line are quoted by; None: quotes are
            plain characters.
        separator : str, default=None
            What parts the tokens of a cell that is no list; None: white space, unless the cell is
            a list in JSON.
        image_options : dict, default=None
            Options of `coview.reading.images.image_views`.
        on_bytes : callable, default=None
            Is told from time to time how many bytes of how many are read.
        **options
            Those of `from_texts`: `vectorizer`, `languages`, `stop_words`, `min_df`, `max_df`,
            `max_features`, `ngram_range`. The limits hold for tokens, too.

        Examples
        --------
        >>> import tempfile
        >>> from coview import Views
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "pets.csv"
        ...     _ = path.write_text("name,en,kind\\na,the cat sleeps,cat\\nb,,dog\\n")
        ...     Views.from_table(path, text="en", id="name", label="kind")
        Views: 2 documents, 1 view
          en  2 terms  2 non-zeros (50.0 %)  1 document (1 lacks it)
          labels: 2 classes (cat, dog), 0 unlabeled; ids: yes; feature names: all views
        """
        from coview.reading.columns import read_rows
        from coview.reading.tables import open_table
        from coview.reading.text import TextOptions

        source = open_table(
            path, encoding=encoding, delimiter=delimiter, quotechar=quotechar, on_bytes=on_bytes
        )
        parts = read_rows(
            source,
            _roles(text, tokens, image, id, label),
            TextOptions(**options),
            separator=separator,
            folder=Path(path).parent,
            image_options=image_options,
        )
        return cls(**parts)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        text: Columns = None,
        tokens: Columns = None,
        counts: Any = None,
        image: Columns = None,
        id: str | None = None,
        label: str | None = None,
        separator: str | None = None,
        image_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Count the words of the columns of a DataFrame: pandas, polars (also lazy) or pyarrow.

        Parameters
        ----------
        frame : DataFrame, LazyFrame or Table
        text, tokens, image, id, label, separator, image_options
            Columns as in `from_table`; a column of lists is one of tokens. Without `id`, the index
            of a pandas frame names the documents if it does more than count them.
        counts : list of str, or dict view -> list of str or pattern, default=None
            Columns of numbers that are counts already: one view called ``counts``, or views by
            name. A pattern such as ``"gene_*"`` stands for all columns that it fits. A row without
            any number lacks the view.
        **options
            Those of `from_texts`.

        Examples
        --------
        >>> import pandas as pd
        >>> from coview import Views
        >>> frame = pd.DataFrame({"en": ["a red cat", "a dog"], "n_red": [1, 0], "n_blue": [0, 2]})
        >>> views = Views.from_dataframe(frame, text="en", counts={"colors": "n_*"})
        >>> views.names, views["colors"].toarray().tolist()
        (('en', 'colors'), [[1.0, 0.0], [0.0, 2.0]])
        """
        from coview.reading.columns import FrameRows, read_rows
        from coview.reading.text import TextOptions

        source = FrameRows(frame)
        parts = read_rows(
            source,
            _roles(text, tokens, image, id, label),
            TextOptions(**options),
            separator=separator,
            image_options=image_options,
            counted=source.counted(counts),
        )
        return cls(**{"ids": source.ids, **parts})


def _roles(text: Any, tokens: Any, image: Any, id: str | None, label: str | None) -> Roles:
    from coview.reading.columns import Roles, named_columns

    return Roles(
        named_columns(text, "text"),
        named_columns(tokens, "tokens"),
        named_columns(image, "image"),
        id,
        label,
    )


# -- from other ------------------------------------------------------------------------------------


class FromOther:
    """Constructors of `Views` from what is neither matrices nor texts."""

    __slots__ = ()
    __init__: Any

    @classmethod
    def from_images(
        cls,
        images: Any,
        *,
        captions: Any = None,
        ids: Any = None,
        labels: Any = None,
        name: str = "image",
        caption_name: str = "caption",
        caption_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Count the visual words and the colors of pictures; needs ``coview[images]``.

        Parameters
        ----------
        images : folder, or sequence of path, uint8 array or None
            Of a folder, all pictures in the order of their names, which without the suffix are the
            ids; a text ``<name>.txt`` beside a picture is its caption. Pictures in subfolders have
            these as their classes. In a sequence None is a document without a picture.
        captions : sequence of str or None, default=None
            A text for each picture, None where there is none.
        ids, labels : as in the constructor, default=None
        name, caption_name : str
            Names of the views: visual words; colors as ``<name>_color``; words of the captions.
        caption_options : dict, default=None
            Options of `from_texts` for the captions.
        **options
            Options of `coview.reading.images.image_views`: `n_words`, `color`, `max_side`,
            `max_descriptors`, `sample`, `random_state`, `progress`.

        Examples
        --------
        >>> import numpy as np
        >>> from coview import Views
        >>> gray = np.full((8, 8), 200, dtype=np.uint8)
        >>> Views.from_images([gray, None], ids=["wall", "nothing"], n_words=0)
        Views: 2 documents, 1 view
          image_color  136 terms  1 non-zero (0.4 %)  1 document (1 lacks it)
          labels: no; ids: yes; feature names: all views
        """
        from coview.reading.image_folder import picture_parts

        names = name, caption_name
        return cls(**picture_parts(images, captions, ids, labels, names, caption_options, options))

    @classmethod
    def from_files(
        cls,
        files: Mapping[str, str | os.PathLike[str]],
        *,
        ids: Any = None,
        labels: Any = None,
        features: Mapping[str, Any] | None = None,
        variable: str | Mapping[str, str] | None = None,
    ) -> Self:
        """Read a matrix of counts for each view from a file.

        Parameters
        ----------
        files : dict view -> path
            Matrix Market (``.mtx``, ``.mtx.gz``), svmlight (``.svmlight``, ``.svm``, ``.libsvm``),
            scipy or numpy (``.npz``, ``.npy``) or MATLAB (``.mat``); see
            `coview.reading.matrix_files`. Rows are documents, in the same order in every file.
        ids : path, or sequence of str, default=None
            Names of the documents, or a text file with one a line.
        labels : path, or array-like, default=None
            Classes, as in the constructor; or a file, ``.npy`` or text with one a line. Without
            them those in svmlight files are taken, each number a class.
        features : dict view -> path or sequence of str, default=None
            Names of the terms, or a text file with one a line.
        variable : str, or dict view -> str, default=None
            Which array of an ``.npz`` or ``.mat`` file, where it holds several matrices.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from coview import Views
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/en.npy", [[1, 0], [2, 3]])
        ...     Views.from_files({"en": f"{folder}/en.npy"}, ids=["a", "b"])
        Views: 2 documents, 1 view
          en  2 terms  3 non-zeros (75.0 %)  all documents
          labels: no; ids: yes; feature names: no
        """
        from coview.reading.matrix_files import file_parts

        return cls(**file_parts(files, ids, labels, features, variable))

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        *,
        ids: Any = None,
        name: str = "links",
        both: bool = False,
        unknown: str = "error",
    ) -> Self:
        """Links between documents as a view: a document is the documents it links to.

        A link from a document to itself is dropped, links that occur several times are summed. A
        document without a link lacks the view. To smooth mixtures over links instead, see
        `coview.reading.links.edge_graph`.

        Parameters
        ----------
        graph : matrix of shape (n_docs, n_docs), path, or iterable of links
            An array, sparse matrix or DataFrame with links from rows to columns. Or links, each
            (source, target) or (source, target, weight): from a text file with one a line, parted
            by commas, semicolons, tabs or white space (a header such as ``source,target`` and
            lines that begin with # or % are skipped), or from a list.
        ids : sequence of str, default=None
            Names of the documents, which are also the terms. Without them, documents in a list of
            links come in the order in which they appear.
        name : str, default="links"
        both : bool, default=False
            Whether to make a second view, ``<name>_in``: a document is those that link to it.
        unknown : {"error", "ignore"}, default="error"
            What to do with links from or to documents that `ids` does not list.

        Examples
        --------
        >>> from coview import Views
        >>> views = Views.from_graph([("a", "b"), ("a", "c"), ("c", "b")], both=True)
        >>> views.ids.tolist(), views["links"].toarray().tolist()
        (['a', 'b', 'c'], [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        >>> views["links_in"].toarray().tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """
        from coview.reading.links import link_parts

        return cls(**link_parts(graph, ids, name, both, unknown))

    @classmethod
    def from_mudata(
        cls,
        data: Any,
        *,
        modalities: Sequence[str] | None = None,
        layers: Mapping[str, str] | None = None,
        label: str | None = None,
    ) -> Self:
        """Multi-omics data: cells are documents, modalities views; needs ``coview[scverse]``.

        A cell that a modality does not list lacks the view. `coview.to_mudata` writes the
        results of a model back.

        Parameters
        ----------
        data : MuData, or path of an .h5mu file
        modalities : sequence of str, default=None
            Which to read; None: all.
        layers : dict modality -> layer, default=None
            Where the counts are, if not in ``X``: the models need counts, not their logarithms.
        label : str, default=None
            A column of ``obs`` with the classes of cells. Integers are taken as they are (-1:
            unlabeled), anything else as categories.

        Examples
        --------
        >>> from coview import Views
        >>> Views.from_mudata("cells.h5mu", layers={"rna": "counts"})
        Traceback (most recent call last):
            ...
        FileNotFoundError: There is no file cells.h5mu.
        """
        from coview.reading.mudata import mudata_parts

        return cls(**mudata_parts(data, modalities, layers, label))
