"""Raw things to counts: texts, tables, images, files of matrices, multi-omics data, links."""
