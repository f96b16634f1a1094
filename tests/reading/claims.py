"""Files whose headers claim more than they hold."""

import io
import zipfile

import numpy as np


def write_archive(path, **shapes):
    """An archive of arrays with any shape in their headers; the data of each are one number."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in shapes.items():
            header = io.BytesIO()
            claims = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(header, claims)
            archive.writestr(f"{name}.npy", header.getvalue() + bytes(8))
