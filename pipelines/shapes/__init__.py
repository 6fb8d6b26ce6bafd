"""Where the rows and columns of a report are in its answers: declared, corrected, proposed."""
