"""The report page: the published figures as one self-contained HTML file.

Jinja templates with autoescaping lay out the page; charts are our own SVG (charts.py, templates/parts.html).
Charts are positioned in percent, so their text keeps its size on a phone; they use the page's colours, light
and dark, and take about 4 kB. matplotlib and pygal fix text and colours in the picture; plotly and vega need
scripts. Every chart has a table with its numbers.
"""
