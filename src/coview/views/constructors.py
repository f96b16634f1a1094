"""The constructors of `Views` from other data: texts, tables, pictures, files, links, multi-omics.

The modules of `coview.reading` do the work. They are imported on first use, because scikit-learn
is slow to import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from coview.views.media_constructors import MediaConstructors

ColumnNames = str | Iterable[str] | Mapping[str, str] | None


class Constructors(MediaConstructors):
    """The constructors of `Views` from data that are not matrices in memory."""

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

        Words of any script are found: see `coview.reading.words.split_words`. They are converted to
        lower case; stop words, words in fewer than `min_df` and words in more than `max_df`
        documents are left out. A document without a text (None, NaN, blank) lacks the view; if all
        its words are left out, the view is present and empty.

        Parameters
        ----------
        texts : dict view -> iterable of str or None
            A text for each document. A view may also hold lists of tokens, which are counted
            unchanged. An iterable that is no dict becomes the view ``text``.
        ids, labels, label_names : default=None
            As in the constructor.
        vectorizer : CountVectorizer, TfidfVectorizer, or dict view -> one, default=None
            A vectorizer of scikit-learn for views that need another way of counting. It is copied,
            and its own settings are used instead of those below.
        languages : {"auto"}, str, None, or dict view -> str or None, default="auto"
            The language of each view, by code or name, for its stop words. "auto": found from the
            view's words, or its name ("en", "text_de", "french"); `repr` shows it, and a warning
            tells if none fits. None: no language.
        stop_words : {"auto"}, list of str, None, or dict view -> one of these, default="auto"
            Words to leave out. "auto": those of the view's language.
        min_df : int, float or None, default=None
            Smallest number (int) or share (float) of the documents with the view that a word must
            be in. None: 1 if fewer than 50 documents have the view, and 2 otherwise.
        max_df : int, float or None, default=None
            Largest number or share of these documents that a word may be in. None: 1.0 (no limit)
            if fewer than 10 documents have the view, and 0.5 otherwise.
        max_features : int, default=None
            Keep only this many words, the most frequent ones.
        ngram_range : (int, int), default=(1, 1)
            Shortest and longest runs of words to count as terms.

        Returns
        -------
        Views

        Raises
        ------
        ValueError
            If no word of a view is left, or if a text is mostly in a script without spaces between
            words (Thai, Lao, Khmer, Burmese, Tibetan) and there is no vectorizer for it.

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
        from coview.reading.text_options import TextOptions

        options = TextOptions(
            vectorizer, languages, stop_words, min_df, max_df, max_features, ngram_range
        )
        arguments = read_texts(texts, options)
        return cls(**arguments, ids=ids, labels=labels, label_names=label_names)

    @classmethod
    def from_table(
        cls,
        path: str | os.PathLike[str],
        *,
        text: ColumnNames = None,
        tokens: ColumnNames = None,
        image: ColumnNames = None,
        embedding: ColumnNames = None,
        id: str | None = None,
        label: str | None = None,
        encoding: str = "utf-8",
        delimiter: str | None = None,
        quotechar: str | None = '"',
        separator: str | None = None,
        image_options: Mapping[str, Any] | None = None,
        embedding_options: Mapping[str, Any] | None = None,
        on_bytes: Any = None,
        **options: Any,
    ) -> Self:
        """Count the words of a table in a file: CSV, TSV, JSON Lines or Parquet.

        The file is read row by row. Memory grows with the counts and the vocabulary, not with the
        file.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv``, ``.tab``, ``.jsonl``, ``.ndjson``, ``.json`` (one object per
            line), each also with ``.gz`` after it, or ``.parquet``. The first row of a CSV or TSV
            file names the columns.
        text, tokens, image, embedding : str, list of str, or dict view -> column, default=None
            Columns of texts; of tokens, which are counted unchanged; of paths of pictures,
            relative to the folder of the table; of vectors (lists, lists in JSON, or numbers with
            commas or blanks between them), which become codes: see `from_embeddings`. Each becomes
            a view with the name of its column, unless a dict gives another. A document with an
            empty cell lacks the view.
        id : str, default=None
            The column of ids of the documents.
        label : str, default=None
            The column of classes: integers, or texts, which become positions in their sorted
            names (`label_names`). A document with an empty cell is unlabeled.
        encoding : str, default="utf-8"
        delimiter : str, default=None
            Character between cells; None: a comma, or a tab in ``.tsv`` and ``.tab`` files.
        quotechar : str or None, default='"'
            Quotes around cells that hold a delimiter or a line break; None: quotes are plain
            characters.
        separator : str, default=None
            What separates the tokens of a cell that is no list; None: white space, unless the cell
            is a list in JSON.
        image_options, embedding_options : dict, default=None
            Options of `coview.reading.images.image_views`, and of `from_embeddings`.
        on_bytes : callable, default=None
            Called from time to time as ``on_bytes(bytes_read, bytes_in_all)``.
        **options
            Options of `from_texts`: `vectorizer`, `languages`, `stop_words`, `min_df`, `max_df`,
            `max_features`, `ngram_range`. The limits also apply to tokens.

        Returns
        -------
        Views

        Examples
        --------
        >>> import tempfile
        >>> from coview import Views
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "pets.csv"
        ...     _ = path.write_text("name,en,kind\\na,the cat sleeps,cat\\nb,,dog\\n")
        ...     Views.from_table(path, text="en", id="name", label="kind")
        Views: 2 documents, 1 view
          en  2 terms  2 non-zeros (50.0 %)  1 document (1 lacks it), stop words: en
          labels: 2 classes (cat, dog), 0 unlabeled; ids: yes; feature names: all views
        """
        from coview.reading.columns import ColumnRoles, read_rows
        from coview.reading.tables import open_table
        from coview.reading.text_options import TextOptions

        source = open_table(
            path, encoding=encoding, delimiter=delimiter, quotechar=quotechar, on_bytes=on_bytes
        )
        arguments = read_rows(
            source,
            ColumnRoles.from_options(text, tokens, image, embedding, id, label),
            TextOptions(**options),
            separator=separator,
            folder=Path(path).parent,
            image_options=image_options,
            embedding_options=embedding_options,
        )
        return cls(**arguments)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        text: ColumnNames = None,
        tokens: ColumnNames = None,
        counts: Any = None,
        image: ColumnNames = None,
        embedding: ColumnNames = None,
        id: str | None = None,
        label: str | None = None,
        separator: str | None = None,
        image_options: Mapping[str, Any] | None = None,
        embedding_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Count the words of the columns of a DataFrame: pandas, polars (also lazy) or pyarrow.

        Parameters
        ----------
        frame : DataFrame, LazyFrame or Table
        text, tokens, image, embedding, id, label, separator, image_options, embedding_options
            As in `from_table`; a column of lists holds tokens. Without `id`, the index of a pandas
            frame gives the ids, unless it only numbers the rows.
        counts : list of str, or dict view -> list of str or pattern, default=None
            Columns that are counts already: one view named ``counts``, or views by name. A pattern
            such as ``"gene_*"`` stands for all columns that it matches. A document without any
            number in its row lacks the view.
        **options
            Options of `from_texts`.

        Returns
        -------
        Views

        Examples
        --------
        >>> import pandas as pd
        >>> from coview import Views
        >>> frame = pd.DataFrame({"en": ["a red cat", "a dog"], "n_red": [1, 0], "n_blue": [0, 2]})
        >>> views = Views.from_dataframe(frame, text="en", counts={"colors": "n_*"})
        >>> views.names, views["colors"].toarray().tolist()
        (('en', 'colors'), [[1.0, 0.0], [0.0, 2.0]])
        """
        from coview.reading.columns import ColumnRoles, read_count_columns, read_rows
        from coview.reading.tables import FrameRows
        from coview.reading.text_options import TextOptions

        source = FrameRows(frame)
        arguments = read_rows(
            source,
            ColumnRoles.from_options(text, tokens, image, embedding, id, label),
            TextOptions(**options),
            separator=separator,
            image_options=image_options,
            embedding_options=embedding_options,
            counted=read_count_columns(source, counts),
        )
        return cls(**{"ids": source.ids, **arguments})

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
            Names of the documents, or a text file with one name per line.
        labels : path, or array-like, default=None
            Classes as in the constructor, or an ``.npy`` file, or a text file with one class per
            line. Without them, the labels in svmlight files are used, each number as a class.
        features : dict view -> path or sequence of str, default=None
            Names of the terms, or a text file with one name per line.
        variable : str, or dict view -> str, default=None
            Which array of an ``.npz`` or ``.mat`` file that holds several matrices.

        Returns
        -------
        Views

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
        from coview.reading.matrix_files import read_matrix_files

        return cls(**read_matrix_files(files, ids, labels, features, variable))

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
        """Make a view of the links between documents: a document counts those it links to.

        A link from a document to itself is dropped, and repeated links are summed. A document
        without a link lacks the view. To smooth mixtures over links instead, see
        `coview.edge_graph`.

        Parameters
        ----------
        graph : matrix of shape (n_docs, n_docs), path, or iterable of links
            An array, sparse matrix or DataFrame with links from rows to columns; or links, each
            (source, target) or (source, target, weight), as a list or in a text file with one link
            per line. The fields of a line are separated by commas, semicolons, tabs or white space;
            a header such as ``source,target`` and lines that begin with # or % are skipped.
        ids : sequence of str, default=None
            Names of the documents, which are also the terms. Without them, the documents of a list
            of links are in order of first appearance.
        name : str, default="links"
            Name of the view.
        both : bool, default=False
            Whether to make a second view, ``<name>_in``, that counts the links to a document.
        unknown : {"error", "ignore"}, default="error"
            What to do with links from or to documents that `ids` does not list.

        Returns
        -------
        Views

        Examples
        --------
        >>> from coview import Views
        >>> views = Views.from_graph([("a", "b"), ("a", "c"), ("c", "b")], both=True)
        >>> views.ids.tolist(), views["links"].toarray().tolist()
        (['a', 'b', 'c'], [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        >>> views["links_in"].toarray().tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """
        from coview.reading.links import read_links

        return cls(**read_links(graph, ids, name, both, unknown))

    @classmethod
    def from_mudata(
        cls,
        data: Any,
        *,
        modalities: Sequence[str] | None = None,
        layers: Mapping[str, str] | None = None,
        label: str | None = None,
    ) -> Self:
        """Read multi-omics data: cells become documents, modalities views.

        A cell that a modality does not list lacks the view. `coview.to_mudata` writes the results
        of a model back. Needs ``coview[scverse]``.

        Parameters
        ----------
        data : MuData, or path of an .h5mu file
        modalities : sequence of str, default=None
            Modalities to read; None: all.
        layers : dict modality -> layer, default=None
            Layers that hold the counts; "X" is ``X``. Without it ``X`` is read, or, if that is not
            whole numbers, a layer of counts with a usual name such as "counts", with a warning.
            Models need counts, not logarithms: what is left of such values is warned of, too.
        label : str, default=None
            A column of ``obs`` with the classes of cells. Integers are taken unchanged (-1:
            unlabeled), anything else as categories.

        Returns
        -------
        Views

        Examples
        --------
        >>> from coview import PLSA, Views, to_mudata
        >>> cells = Views({"rna": [[3, 0], [0, 2]]}, ids=["c1", "c2"])
        >>> mdata = to_mudata(PLSA(2, random_state=0).fit(cells), cells)
        >>> Views.from_mudata(mdata, label="coview")
        Views: 2 documents, 1 view
          rna  2 terms  2 non-zeros (50.0 %)  all documents
          labels: 2 classes (0, 1), 0 unlabeled; ids: yes; feature names: all views
        """
        from coview.reading.mudata import read_mudata

        return cls(**read_mudata(data, modalities, layers, label))
