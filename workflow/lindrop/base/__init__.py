"""What every other part of the library uses: errors, files, arrays, memory, threads, reports."""
