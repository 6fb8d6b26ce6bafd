"""What does the published file look like? One page that needs nothing but itself.

The page is laid out by Jinja templates that escape everything, and its charts are drawn by `columns` and
`bars` as SVG of our own. Libraries were tried on the sixteen charts of seven offices: matplotlib takes
167 MB and six seconds and writes 213 kB, pygal writes 388 kB, and scripts (plotly, vega) weigh megabytes
and would have to be allowed to run. All of them fix their text in the picture, so that it shrinks with the
picture on a phone, and their colours, so that dark needs a second picture. Here a chart is placed in
percent of whatever room there is, its text keeps its size, its colours are those of the page, and it is
some 4 kB. The reading of a chart never depends on it: its table stands behind it.
"""
