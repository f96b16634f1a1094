"""Importers: the publishers' own archives become views folders."""
