"""The container of named matrices over the same documents, its checks, its folder on disk."""
