"""The numeric inner loops, in numba: arrays in, arrays out; no classes, no validation.

Importing a kernel module imports numba, so the rest of the package imports them inside functions.
"""
