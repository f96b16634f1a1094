"""Reading turns raw data into counts, and `coview.views` holds them.

The way of a table: `Views.from_table` opens it (`tables`), reads its columns row by row
(`columns`), splits each text into words (`words`, `vectorizers`) and counts them (`text`,
`counting`). Pictures are in `images` and `image_files`, matrices in `matrix_files`, `matlab` and
`plain_files`, links in `links`, multi-omics data in `mudata`; `recipes` keep how a view was made,
so that new documents can be read in the same way.
"""
