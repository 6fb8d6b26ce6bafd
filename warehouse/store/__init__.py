"""The working file: opened, written by one process at a time, copied and checked for what it must hold."""
