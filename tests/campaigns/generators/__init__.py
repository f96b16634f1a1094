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
    shards,
    tables,
)

GENERATORS: dict[str, Generator] = {
    "matrices": Generator(
        matrices.make,
        "matrices in memory: every format and type, odd values, damage",
        "a dense array filled entry by entry; the caller's buffers must not change",
        5500,
    ),
    "precision": Generator(
        precision.make,
        "counts far above and below what a float holds, fitted and folded in",
        "the mixtures of the same counts in another unit; of weights, that they are probabilities",
        800,
    ),
    "frames": Generator(
        frames.make,
        "pandas and polars frames",
        "the values of the columns, one by one",
        2500,
    ),
    "tables": Generator(
        tables.make,
        "CSV, TSV, JSON Lines and Parquet files, also gzipped",
        "the words of the cells; of damaged files, a reading by the standard library or pyarrow",
        3000,
    ),
    "matrix_files": Generator(
        matrix_files.make,
        "`.mtx`, `.svmlight`, `.npy`, `.npz` and `.mat` files",
        "the matrix written; of damaged files, a reading entry by entry (`.mat`: by scipy)",
        3000,
    ),
    "omics": Generator(
        omics.make,
        "`.h5mu` files",
        "the counts written; of damaged files, a reading by h5py",
        500,
    ),
    "pictures": Generator(
        pictures.make,
        "pictures in six formats, and folders of them",
        "the colors drawn; of a damaged picture, only that its colors sum to 1,000",
        700,
    ),
    "archives": Generator(
        archives.make,
        "publishers' archives: zip, tar, one in another",
        "the members packed; of damaged ones, a reading by the standard library",
        700,
    ),
    "parameters": Generator(
        parameters.make,
        "one odd value for one parameter of a public class or function",
        "nothing: mixtures must be probabilities",
        3000,
    ),
    "models": Generator(
        sealed.make_model,
        "model files: damaged, and re-sealed after a change",
        "nothing: damage must be refused, and what a changed model gives must be probabilities",
        1200,
    ),
    "indexes": Generator(
        sealed.make_index,
        "index files, the same",
        "nothing: damage must be refused, and scores must be numbers",
        600,
    ),
    "checkpoints": Generator(
        sealed.make_checkpoint,
        "states of fits, the same, then resumed",
        "nothing: damage must be refused, and what is resumed must end in probabilities",
        600,
    ),
    "folders": Generator(
        folders.make,
        "views folders: damaged, changed, sealed anew",
        "the files, read without coview; what a folder seals must be refused if it is damaged",
        1500,
    ),
    "shards": Generator(
        shards.make,
        "sharded folders: damaged, changed, sealed anew",
        "nothing: damage must be refused, and what is read must be in bounds",
        1000,
    ),
    "commands": Generator(
        commands.make,
        "the command line with odd options and files",
        "nothing: exit code 0, 1 or 2, no traceback, no control characters, JSON that is JSON",
        600,
    ),
    "kills": Generator(
        kills.make,
        "fits and saves killed, then resumed or read",
        "the bytes of a fit that nobody disturbs; of the file that was saved",
        110,
        seconds=300.0,
    ),
    "full_disks": Generator(
        full_disks.make,
        "writing where there is no room left",
        "the old file, which must be there unchanged, and nothing beside it",
        300,
    ),
}
ALL = {**GENERATORS, **lethal.LETHAL}
