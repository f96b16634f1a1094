"""The constructors of `Views` from pictures and from the vectors of encoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self


class MediaConstructors:
    """The constructors of `Views` from what has no words: pictures, vectors."""

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
            From a folder, all pictures are read, sorted by name; their paths in the folder are the
            ids, a text ``<name>.txt`` beside a picture is its caption, and subfolders are
            classes. In a sequence, None is a document without a picture.
        captions : sequence of str or None, default=None
            A text for each picture, None for a picture without a caption.
        ids, labels : default=None
            As in the constructor.
        name, caption_name : str
            Names of the views: ``<name>`` for visual words, ``<name>_color`` for colors, and
            ``<caption_name>`` for words of the captions.
        caption_options : dict, default=None
            Options of `from_texts` for the captions.
        **options
            Options of `coview.reading.images.image_views`: `n_words`, `color`, `max_side`,
            `max_descriptors`, `sample`, `random_state`, `progress`.

        Returns
        -------
        Views

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
        from coview.reading.images import read_pictures

        names = name, caption_name
        return cls(**read_pictures(images, captions, ids, labels, names, caption_options, options))

    @classmethod
    def from_embeddings(
        cls,
        vectors: Any,
        *,
        views: Any = None,
        name: str = "embedding",
        ids: Any = None,
        labels: Any = None,
        label_names: Any = None,
        **options: Any,
    ) -> Self:
        """Make a view of the vectors of an encoder: counts of the codes nearest to them.

        Dense vectors, negative values among them, become counts of 256 to 1,024 codes, the centers
        of k-means on these vectors. So topics stay readable: where they are shown, a code is called
        by the words of another view that go with it. The model keeps the centers, so new vectors
        are read in the same way: ``model.transform({"embedding": vectors})``. The output of a
        sparse encoder, a sparse matrix of weights >= 0, is taken as it is.

        A dense matrix of real numbers can also be a view without codes, ``Views({"v": vectors})``:
        the models' `scaling` then makes its features non-negative.

        Parameters
        ----------
        vectors : array of shape (documents, dimensions), path, iterable, or dict view -> one
            For each document a vector, several (an array, or a list of vectors), a text with the
            numbers of one, or None. In an array a row of NaN is a document without a vector. A path
            is that of an ``.npy`` file.
        views : Views, default=None
            Other views of the same documents: the result has these first, with their ids and
            labels.
        name : str, default="embedding"
            Name of the view, unless `vectors` is a dict.
        ids, labels, label_names : default=None
            As in the constructor.
        **options
            Options of `coview.reading.embeddings.embedding_views`: `n_codes`, `n_nearest`,
            `n_counts`, `normalize`, `random_state`.

        Returns
        -------
        Views

        Examples
        --------
        >>> from coview import Views
        >>> words = Views.from_texts(["goal coach", "coach", "salt onion"])
        >>> vectors = [[0.9, -0.1], [1.0, 0.1], [-0.2, 0.8]]
        >>> Views.from_embeddings(vectors, views=words, n_codes=2, n_nearest=1)
        Views: 3 documents, 2 views
          text       4 terms  5 non-zeros (41.7 %)  all documents, stop words: none
          embedding  2 terms  3 non-zeros (50.0 %)  all documents
          labels: no; ids: no; feature names: all views
        """
        from coview.reading.embeddings import read_embeddings

        given = vectors if isinstance(vectors, Mapping) else {name: vectors}
        arguments = read_embeddings(given, views, options)
        own = {"ids": ids, "labels": labels, "label_names": label_names}
        return cls(**arguments | {n: value for n, value in own.items() if value is not None})
