"""The container of named matrices over the same documents, and the checks of what goes into it."""

from coview.data.matrices import DataWarning
from coview.data.views import Views

__all__ = ["DataWarning", "Views"]
