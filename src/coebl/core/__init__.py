"""What everything else stands on: errors, specs, arrays, files."""
