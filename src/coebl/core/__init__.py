"""Shared basics: errors, strings, specs and registries, arrays, files."""
