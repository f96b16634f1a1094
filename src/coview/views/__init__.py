"""`Views`, named matrices over the same documents: constructors, checks and the views folder."""
