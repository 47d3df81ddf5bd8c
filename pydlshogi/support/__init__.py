"""What every room needs and no room owns: files, processes, compiled kernels, the command line."""
