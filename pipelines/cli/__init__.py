"""Command line: the parser, the output and the commands."""
