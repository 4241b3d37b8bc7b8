"""The basis of everything else: errors, strings, specs and registries, arrays, files."""
