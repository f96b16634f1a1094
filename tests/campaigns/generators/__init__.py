"""The kinds of input, and how many of each a whole campaign has."""

from tests.campaigns.cases import Generator
from tests.campaigns.generators import (
    archives,
    commands,
    folders,
    frames,
    full_disks,
    kills,
    lethal,
    matrices,
    matrix_files,
    omics,
    parameters,
    pictures,
    precision,
    sealed,
    tables,
)

GENERATORS: dict[str, Generator] = {
    "matrices": Generator(
        matrices.make, "matrices in memory: every format and type, odd values, damage", 5500
    ),
    "precision": Generator(
        precision.make, "counts far above and below what a float holds, fitted and folded in", 800
    ),
    "frames": Generator(frames.make, "pandas and polars frames", 2500),
    "tables": Generator(tables.make, "CSV, TSV, JSON Lines and Parquet files, also gzipped", 3000),
    "matrix_files": Generator(
        matrix_files.make, "`.mtx`, `.svmlight`, `.npy`, `.npz` and `.mat` files", 3000
    ),
    "omics": Generator(omics.make, "`.h5mu` files", 600),
    "pictures": Generator(pictures.make, "pictures in six formats, and folders of them", 700),
    "archives": Generator(archives.make, "publishers' archives: zip, tar, one in another", 700),
    "parameters": Generator(
        parameters.make, "one odd value for one parameter of a public class or function", 3000
    ),
    "models": Generator(
        sealed.make_model, "model files: damaged, and re-sealed after a change", 1200
    ),
    "indexes": Generator(sealed.make_index, "index files, the same", 600),
    "checkpoints": Generator(sealed.make_checkpoint, "states of fits, the same, then resumed", 600),
    "folders": Generator(folders.make, "views folders: damaged, changed, sealed anew", 1500),
    "commands": Generator(commands.make, "the command line with odd options and files", 600),
    "kills": Generator(
        kills.make, "fits and saves killed, then resumed or read", 200, seconds=300.0
    ),
    "full_disks": Generator(full_disks.make, "writing where there is no room left", 300),
}
ALL = {**GENERATORS, **lethal.LETHAL}
