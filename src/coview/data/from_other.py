"""The ways from pictures, links, files of matrices and multi-omics data to `Views`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self


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
        """Count the visual words and the colours of pictures; needs ``coview[images]``.

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
            Names of the views: visual words; colours as ``<name>_colour``; words of the captions.
        caption_options : dict, default=None
            Options of `from_texts` for the captions.
        **options
            Options of `coview.data.images.image_views`: `n_words`, `colour`, `max_side`,
            `max_descriptors`, `sample`, `random_state`, `progress`.

        Examples
        --------
        >>> import numpy as np
        >>> from coview.data import Views
        >>> grey = np.full((8, 8), 200, dtype=np.uint8)
        >>> Views.from_images([grey, None], ids=["wall", "nothing"], n_words=0)
        Views: 2 documents, 1 view
          image_colour  136 terms  1 non-zero (0.4 %)  1 document (1 lacks it)
          labels: no; ids: yes; feature names: all views
        """
        from coview.data.picture_folder import picture_parts

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
            scipy or numpy (``.npz``, ``.npy``) or MATLAB (``.mat``); see `coview.data.files`. Rows
            are documents, in the same order in every file.
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
        >>> from coview.data import Views
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/en.npy", [[1, 0], [2, 3]])
        ...     Views.from_files({"en": f"{folder}/en.npy"}, ids=["a", "b"])
        Views: 2 documents, 1 view
          en  2 terms  3 non-zeros (75.0 %)  all documents
          labels: no; ids: yes; feature names: no
        """
        from coview.data.files import file_parts

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
        `coview.data.links.edge_graph`.

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
        >>> from coview.data import Views
        >>> views = Views.from_graph([("a", "b"), ("a", "c"), ("c", "b")], both=True)
        >>> views.ids.tolist(), views["links"].toarray().tolist()
        (['a', 'b', 'c'], [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        >>> views["links_in"].toarray().tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """
        from coview.data.links import link_parts

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

        A cell that a modality does not list lacks the view. `coview.data.mudata.to_mudata` writes
        the results of a model back.

        Parameters
        ----------
        data : MuData, or path of an .h5mu file
        modalities : sequence of str, default=None
            Which to read; None: all.
        layers : dict modality -> layer, default=None
            Where the counts are, if not in ``X``: the models need counts, not their logarithms.
        label : str, default=None
            A column of ``obs`` with the classes of cells. Integers are taken as they are (-1:
            unlabelled), anything else as categories.

        Examples
        --------
        >>> from coview.data import Views
        >>> Views.from_mudata("cells.h5mu", layers={"rna": "counts"})
        Traceback (most recent call last):
            ...
        FileNotFoundError: There is no file cells.h5mu.
        """
        from coview.data.mudata import mudata_parts

        return cls(**mudata_parts(data, modalities, layers, label))
