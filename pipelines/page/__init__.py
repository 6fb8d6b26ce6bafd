"""The report page: the published file as one HTML file that needs nothing but itself.

Jinja templates that escape everything lay the page out, and charts are SVG of our own (charts.py and
templates/parts.html). A chart is placed in percent of the room there is, so its text keeps its size on a
phone, its colours are those of the page, by day and by night, and it weighs some 4 kB; matplotlib and pygal
fix text and colours in the picture, and plotly or vega would have to run scripts. A table is behind every
chart.
"""
